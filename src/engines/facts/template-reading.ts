/**
 * What the served template leaves out or writes as something else, by renderings of a conversation that has one of
 * everything. What is lost is found as it is for any request. Pure but for the questions; knows no family.
 */
import { lostParts, type LostParts } from '../../exchange/written/lost-parts.ts';
import type { TemplateReading } from '../../exchange/model-facts.ts';
import { findWritten } from '../../exchange/written/written-forms.ts';
import { seenWriting, type FormWriting } from '../../exchange/written/form-writing.ts';
import { reasoningMembers } from '../../exchange/written/prompt-parts.ts';
import type { ProbeBody } from './form-probe.ts';
import { readForms, type ReadForms, type Render } from './form-reading.ts';
import { readRequest } from '../../exchange/request/request-reader.ts';

const instructions = 'Weirinstructions are these.';
const laterInstructions = 'Weirmore of them follows.';
const question = { role: 'user', content: 'Weirquestion, asked with a tool in mind?' };
const speaker = 'Weirspeaker';
const namedQuestion = { ...question, name: speaker };
const lastQuestion = { role: 'user', content: 'Weirfollowup, asked after all that?' };
const system = { role: 'system', content: instructions };
const reasoning = 'Weirthought that came before.';

/** Every value is a word of its own, so that one that is there is not there by chance. */
const tool = {
  type: 'function',
  function: {
    name: 'weir_probe',
    description: 'Weirdescription of the tool.',
    parameters: {
      type: 'object',
      title: 'Weirheading',
      properties: {
        weirvalue: {
          type: 'string',
          title: 'Weirtitle',
          description: 'Weirdescription of the value.',
          default: 'weirdefault',
          enum: ['weirfirst', 'weirsecond'],
          examples: ['weirexample'],
          format: 'weirformat',
          pattern: '^weirpattern$',
          minLength: 171,
          maxLength: 1717,
        },
        weirnumber: { type: 'integer', minimum: 181, maximum: 1818 },
        weirlist: { type: 'array', items: { type: 'object', properties: { weiritem: { type: 'string' } } } },
        weirunion: { anyOf: [{ const: 'weirunited' }, { $ref: '#/$defs/Weirdefinition' }] },
      },
      required: ['weirvalue'],
      $defs: { Weirdefinition: { type: 'object', properties: { weirdefined: { type: 'string' } } } },
    },
    return: { type: 'string', description: 'Weirdescription of what it returns.' },
  },
};

/** Nine letters and digits: some templates refuse other ids. */
const callId = 'callWeir1';
const call = {
  id: callId,
  type: 'function',
  function: { name: 'weir_probe', arguments: '{"weirvalue":"weirargument"}' },
};
const result = { role: 'tool', tool_call_id: callId, content: 'Weirresult of the tool.' };

const looped = (thought: object): object[] => [
  system,
  question,
  { role: 'assistant', content: '', tool_calls: [call], ...thought },
  result,
];
const whole = [
  system,
  question,
  {
    role: 'assistant',
    content: 'Weirpreface to the call.',
    reasoning_content: reasoning,
    tool_calls: [call],
  },
  result,
  { role: 'assistant', content: 'Weiranswer to the question.', reasoning_content: reasoning },
  lastQuestion,
];

/** @returns undefined if the template refuses the plainest conversation, also without instructions */
export async function readTemplate(render: Render): Promise<TemplateReading | undefined> {
  const plain = await render({ messages: [system, namedQuestion] });
  const bare = plain ?? (await render({ messages: [namedQuestion] }));
  if (bare === undefined) return undefined;
  const takesInstructions = plain !== undefined;
  const taken = (body: ProbeBody): ProbeBody => (takesInstructions ? body : withoutInstructions(body));
  const ask = (body: ProbeBody): Promise<string | undefined> => render(taken(body));
  const instructed: Render = async (body) => (takesInstructions ? render(body) : undefined);
  const seen = await readForms(ask);
  const lostOf = (body: ProbeBody): Promise<LostParts | undefined> => lostIn(render, taken(body), seen);
  const [all, loop, asDeveloper, twice, ...thoughts] = await Promise.all([
    lostOf({ messages: whole, tools: [tool] }),
    lostOf({ messages: looped({}), tools: [tool] }),
    instructed({ messages: [{ role: 'developer', content: instructions }, namedQuestion] }),
    instructed({ messages: [system, { role: 'system', content: laterInstructions }, question] }),
    ...reasoningMembers.map((member) => lostOf({ messages: looped({ [member]: reasoning }), tools: [tool] })),
  ]);
  const dropped = [all, loop].flatMap((lost) => (lost === undefined ? [] : droppedParts(lost)));
  const between = betweenInstructions(twice, seenWriting(seen).at('instructions'));
  const read = reasoningMembers.filter((_, index) => isKept(thoughts[index]));
  if (twice !== undefined && between === undefined) dropped.push('later-instructions');
  if (thoughts.some((lost) => lost !== undefined) && read.length === 0) dropped.push('loop-reasoning');
  return {
    dropped: [...new Set(dropped)].toSorted(),
    droppedFields: [...new Set((loop ?? all)?.toolParts.map(({ what }) => what) ?? [])].toSorted(),
    mergesInstructions: between?.trim() === '',
    developerAsSystem: asDeveloper !== undefined && asDeveloper === plain,
    reasoningMembers: read,
    writesNames: bare.includes(speaker),
    ...(seen.forms.length > 0 && { forms: seen.forms }),
    ...(seen.json.length > 0 && { json: seen.json }),
  };
}

function withoutInstructions({ messages, ...more }: ProbeBody): ProbeBody {
  return {
    messages: messages.filter((message) => !('role' in message) || message.role !== 'system'),
    ...more,
  };
}

async function lostIn(render: Render, body: object, seen: ReadForms): Promise<LostParts | undefined> {
  const rendered = await render(body);
  const reading = readRequest(Buffer.from(JSON.stringify(body)), 'chat');
  if (rendered === undefined || !reading.readable || reading.request.kind !== 'chat') return undefined;
  return lostParts(reading.request, rendered, seen);
}

function droppedParts({ texts, calls, tools }: LostParts): string[] {
  return [
    ...texts.map(({ sort }) => sort),
    ...calls.map(({ what }) => what),
    ...(tools.length > 0 ? ['tools'] : []),
  ];
}

function isKept(lost: LostParts | undefined): boolean {
  return lost?.texts.every(({ sort }) => sort !== 'loop-reasoning') ?? false;
}

/** What the template writes between two sets of instructions; undefined if it does not write both. */
function betweenInstructions(rendered: string | undefined, seen: readonly FormWriting[]): string | undefined {
  const first = findWritten(instructions, rendered ?? '', seen);
  const after = first && rendered?.slice(first.end);
  const second = after === undefined ? undefined : findWritten(laterInstructions, after, seen);
  return second && after?.slice(0, second.start);
}
