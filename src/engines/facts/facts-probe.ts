/**
 * Model facts by probing: conversations with known texts are rendered by the served template, and what stands between
 * those texts is read off. Nothing is taken from a family's name. Engine-neutral: the adapter brings the questions.
 */
import type { AbsentMarker, Marker, RoleMarker, Tail, TemplateReading } from '../../exchange/model-facts.ts';
import { proveBoundaries, withKinds, type TokenizeMany } from '../../tokens/boundary-proof.ts';
import { fillInSpellings } from '../../tokens/fill-in-markers.ts';
import { familyMarkers } from '../../tokens/marker-families.ts';
import { compileMarkers, markerCandidates } from '../../tokens/markers.ts';

import { bosFactsOf, type BosFacts } from './bos-facts.ts';
import { readTemplate } from './template-reading.ts';
import { probeTexts, turnShapeOf, type TurnRenderings } from './turn-shape.ts';
import { holdsToday } from './written-date.ts';

export interface ProbeQuestions {
  readonly tokenizeMany: TokenizeMany;
  /** The same with control tokens read as text; absent where the engine can't do that. */
  readonly tokenizeOrdinary?: TokenizeMany;
  /** Ids of a text as the raw route makes them, with whatever the engine adds. */
  readonly tokenizePrompt: (text: string) => Promise<Uint32Array>;
  /** Renders a chat body; undefined if the template refuses it. */
  readonly render: (body: object) => Promise<string | undefined>;
  /**
   * The texts that are control tokens where they stand in a text, whatever they look like; absent if the engine can't
   * tell them from ordinary tokens.
   */
  readonly controlTexts?: (text: string) => Promise<readonly string[]>;
}

export interface ProbeInput {
  /** '' if the model has none; undefined if the engine does not show it. */
  readonly template: string | undefined;
  /** Token texts that the engine lists; candidates for markers beside those that are rendered. */
  readonly tokenTexts?: readonly string[];
  readonly bosText: string;
  readonly eosText: string;
  /** True if the engine takes BOS off a rendered text wherever it adds one itself. */
  readonly hidesBos: boolean;
}

export interface ProbedFacts extends BosFacts {
  readonly markers: readonly Marker[];
  readonly absentMarkers?: readonly AbsentMarker[];
  readonly eos?: Marker;
  readonly addedPrefix: readonly number[];
  readonly addedSuffix: readonly number[];
  readonly generationPrompt?: Tail;
  readonly thinkTail?: Tail;
  readonly roleMarkers: readonly RoleMarker[];
  readonly turnEnds: readonly string[];
  readonly userTurnEnd?: string;
  readonly templateWritesDate: boolean;
  readonly reading?: TemplateReading;
}

/** Bounds the proof for templates that hold very many marker-like texts. */
const mostCandidates = 256;

/** Of the end of each rendering, where the tokens that only the engine knows are looked for. */
const controlCharacters = 4096;

/** Nine letters and digits: some templates refuse other ids. */
const callId = 'callWeir1';
const toolResult = 'Weirresult';

const turns = [
  { role: 'user', content: probeTexts.firstUser },
  { role: 'assistant', content: probeTexts.assistant },
  { role: 'user', content: probeTexts.lastUser },
];
const conversation = [{ role: 'system', content: probeTexts.system }, ...turns];

const probeTool = {
  type: 'function',
  function: {
    name: 'weir_probe',
    description: 'Probe.',
    parameters: { type: 'object', properties: { value: { type: 'string' } }, required: ['value'] },
  },
};
const toolConversation = [
  ...conversation,
  {
    role: 'assistant',
    content: '',
    tool_calls: [
      { id: callId, type: 'function', function: { name: 'weir_probe', arguments: '{"value":"x"}' } },
    ],
  },
  { role: 'tool', tool_call_id: callId, content: toolResult },
];

export async function probeFacts(input: ProbeInput, questions: ProbeQuestions): Promise<ProbedFacts> {
  const { bosText, eosText } = input;
  const renderings = await renderConversations(input, questions);
  const { markers, absentMarkers } = await findMarkers(input, renderings, questions);
  const added = await addedIds(questions);
  const reading = input.template === '' ? undefined : await readTemplate(questions.render);
  const eos = markers.find((marker) => marker.text === eosText);
  const shape = turnShapeOf(renderings, { bosText, eosText, markers: compileMarkers(markers) });
  const generationPrompt = await tailOf(shape.generationPrompt, questions.tokenizeMany);
  const thinkTail = await tailOf(shape.thinkTail, questions.tokenizeMany);
  return {
    markers,
    ...(absentMarkers === undefined ? {} : { absentMarkers }),
    ...bosFactsOf({ ...input, rendered: renderings.whole, markers, addedPrefix: added.prefix }),
    ...(eos === undefined ? {} : { eos }),
    addedPrefix: added.prefix,
    addedSuffix: added.suffix,
    ...(generationPrompt === undefined ? {} : { generationPrompt }),
    ...(thinkTail === undefined ? {} : { thinkTail }),
    ...(reading === undefined ? {} : { reading }),
    roleMarkers: [...shape.roleMarkers, ...toolMarker(renderings.withTools, shape.turnEnds)],
    turnEnds: shape.turnEnds,
    ...(shape.userTurnEnd === undefined ? {} : { userTurnEnd: shape.userTurnEnd }),
    templateWritesDate: allOf(renderings).some((text) => holdsToday(text, new Date())),
  };
}

interface Renderings extends TurnRenderings {
  readonly withTools: string;
}

async function renderConversations(input: ProbeInput, questions: ProbeQuestions): Promise<Renderings> {
  if (input.template === '')
    return { whole: '', withoutSystem: '', open: '', thinkingOff: '', withTools: '' };
  const render = async (body: object): Promise<string> => (await questions.render(body)) ?? '';
  const [withSystem, withoutSystem] = await Promise.all([
    render({ messages: conversation }),
    render({ messages: turns }),
  ]);
  const messages = withSystem === '' ? turns : conversation;
  const [open, thinkingOff, withTools] = await Promise.all([
    render({ messages, add_generation_prompt: false }),
    render({ messages, chat_template_kwargs: { enable_thinking: false } }),
    render({ messages: toolConversation, tools: [probeTool] }),
  ]);
  return {
    whole: withSystem === '' ? withoutSystem : withSystem,
    withoutSystem,
    open,
    thinkingOff,
    withTools,
  };
}

function allOf({ whole, withoutSystem, open, thinkingOff, withTools }: Renderings): string[] {
  return [whole, withoutSystem, open, thinkingOff, withTools];
}

/** Candidates by their form, and those that the engine itself tells; each is proven. */
async function findMarkers(
  { bosText, eosText, template = '', tokenTexts = [] }: ProbeInput,
  renderings: Renderings,
  { tokenizeMany, tokenizeOrdinary, controlTexts }: ProbeQuestions,
): Promise<Pick<ProbedFacts, 'markers' | 'absentMarkers'>> {
  const fillIn = await spelledAs(fillInSpellings, tokenizeMany);
  const candidates = new Set([bosText, eosText, ...fillIn].filter((text) => text !== ''));
  for (const text of (await controlTexts?.(turnsOf(renderings))) ?? []) candidates.add(text);
  for (const text of [template, ...allOf(renderings), ...tokenTexts]) {
    for (const candidate of markerCandidates(text, mostCandidates)) candidates.add(candidate);
    if (candidates.size >= mostCandidates) break;
  }
  // Those of other families too: that one is not in this vocabulary is then known, not assumed.
  const foreign = new Set(renderings.whole === '' ? [] : familyMarkers);
  const tried = new Set([...[...candidates].slice(0, mostCandidates), ...foreign]);
  const absent = new Map<string, number>();
  const proven = await proveBoundaries([...tried], async (texts) => {
    const answers = await tokenizeMany(texts);
    for (const [index, text] of texts.entries()) {
      const tokens = answers[index]?.length ?? 0;
      if (foreign.has(text) && tokens > 1) absent.set(text, tokens);
    }
    return answers;
  });
  return {
    markers: tokenizeOrdinary === undefined ? proven : await withKinds(proven, tokenizeOrdinary),
    ...(foreign.size > 0 && { absentMarkers: [...absent].map(([text, tokens]) => ({ text, tokens })) }),
  };
}

/** Of spellings that a vocabulary has whole or not at all, those whose first text is a token of its own. */
async function spelledAs(
  spellings: readonly (readonly string[])[],
  tokenizeMany: TokenizeMany,
): Promise<string[]> {
  const firsts = await tokenizeMany(spellings.map(([first = '']) => first));
  return spellings.filter((_, index) => firsts[index]?.length === 1).flat();
}

/**
 * The lines in which a control token of any form may stand, each once. What is said before the first question of the
 * rendering with tools is the definition of the tool, in sentences of the template's.
 */
function turnsOf({ whole, withTools }: Renderings): string {
  const turns = withTools.slice(Math.max(0, withTools.indexOf(probeTexts.firstUser)));
  const text = [whole, turns].map((part) => part.slice(-controlCharacters)).join('');
  return [...new Set(text.split(/(?<=\n)/))].join('');
}

/**
 * What stands between the end of the turn that calls a tool and the tool's result, without what the template puts around
 * the result itself (a quote, the beginning of an object); [] where no end of a turn can be told.
 */
function toolMarker(withTools: string, turnEnds: readonly string[]): RoleMarker[] {
  const result = withTools.indexOf(toolResult);
  const ends = turnEnds.flatMap((end) => {
    const at = result < 0 ? -1 : withTools.lastIndexOf(end, result);
    return at < 0 ? [] : [at + end.length];
  });
  if (ends.length === 0) return [];
  const opening = withTools
    .slice(Math.max(...ends), result)
    .replace(/[^\s>\]]*$/, '')
    .trimStart();
  // What holds the call's own name or id is written anew for each call, and opens nothing else.
  const ofThisCall = [probeTool.function.name, callId].some((text) => opening.includes(text));
  return opening === '' || opening.length > 200 || ofThisCall ? [] : [{ role: 'tool', opening }];
}

async function addedIds({ tokenizeMany, tokenizePrompt }: ProbeQuestions): Promise<{
  prefix: number[];
  suffix: number[];
}> {
  const probe = 'weir';
  const [plain = new Uint32Array()] = await tokenizeMany([probe]);
  const whole = await tokenizePrompt(probe);
  for (let at = 0; at + plain.length <= whole.length; at += 1) {
    if (plain.every((id, index) => whole[at + index] === id)) {
      return { prefix: [...whole.subarray(0, at)], suffix: [...whole.subarray(at + plain.length)] };
    }
  }
  return { prefix: [], suffix: [] };
}

async function tailOf(text: string, tokenizeMany: TokenizeMany): Promise<Tail | undefined> {
  if (text === '') return undefined;
  const [ids = new Uint32Array()] = await tokenizeMany([text]);
  return { text, ids: [...ids] };
}
