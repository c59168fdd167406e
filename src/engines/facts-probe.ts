/**
 * Model facts by probing: conversations with known texts are rendered by the served template, and what stands between
 * those texts is read off. Nothing is taken from a family's name. Engine-neutral: the adapter brings the questions.
 */
import type { Marker, RoleMarker, Tail } from '../exchange/model-facts.ts';
import { proveBoundaries, type TokenizeMany } from '../tokens/boundary-proof.ts';
import { markerCandidates } from '../tokens/markers.ts';

export interface ProbeQuestions {
  readonly tokenizeMany: TokenizeMany;
  /** Ids of a text as the raw route makes them, with whatever the engine adds. */
  readonly tokenizePrompt: (text: string) => Promise<Uint32Array>;
  /** Renders a chat body; undefined if the template refuses it. */
  readonly render: (body: object) => Promise<string | undefined>;
}

export interface ProbeInput {
  /** '' if the model has none; undefined if the engine does not show it. */
  readonly template: string | undefined;
  /** Token texts that the engine lists; candidates for markers beside those that are rendered. */
  readonly tokenTexts?: readonly string[];
  readonly bosText: string;
  readonly eosText: string;
}

export interface ProbedFacts {
  readonly markers: readonly Marker[];
  readonly bos?: Marker;
  readonly eos?: Marker;
  readonly addedPrefix: readonly number[];
  readonly addedSuffix: readonly number[];
  readonly generationPrompt?: Tail;
  readonly thinkTail?: Tail;
  readonly roleMarkers: readonly RoleMarker[];
  readonly templateWritesDate: boolean;
}

/** Bounds the proof for templates that hold very many marker-like texts. */
const mostCandidates = 256;

const systemText = 'Weirsystem';
const firstUserText = 'Weirquestion';
const assistantText = 'Weiranswer';
const lastUserText = 'Weirfollowup';

const turns = [
  { role: 'user', content: firstUserText },
  { role: 'assistant', content: assistantText },
  { role: 'user', content: lastUserText },
];
const conversation = [{ role: 'system', content: systemText }, ...turns];

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
      { id: 'call_weir1', type: 'function', function: { name: 'weir_probe', arguments: '{"value":"x"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_weir1', content: 'Weirresult' },
];

export async function probeFacts(input: ProbeInput, questions: ProbeQuestions): Promise<ProbedFacts> {
  const renderings = await renderConversations(input, questions);
  const candidates = new Set([input.bosText, input.eosText].filter((text) => text !== ''));
  for (const text of [input.template ?? '', ...renderings.all, ...(input.tokenTexts ?? [])]) {
    for (const candidate of markerCandidates(text, mostCandidates)) candidates.add(candidate);
    if (candidates.size >= mostCandidates) break;
  }
  const markers = await proveBoundaries([...candidates].slice(0, mostCandidates), questions.tokenizeMany);
  const added = await addedIds(questions);
  // Metadata may name a BOS that neither the tokenizer adds nor the template writes (Qwen3: <|endoftext|>). To such a
  // model it is no BOS, and two of them are nobody's mistake.
  const named = markers.find((marker) => marker.text === input.bosText);
  const bos =
    named !== undefined && (added.prefix.includes(named.id) || /\bbos_token\b/.test(input.template ?? ''))
      ? named
      : undefined;
  const eos = markers.find((marker) => marker.text === input.eosText);
  const generationPrompt = await tailOf(renderings.generationPrompt, questions.tokenizeMany);
  const withThinkTail = await tailOf(
    renderings.generationPrompt + renderings.thinkTail,
    questions.tokenizeMany,
  );
  return {
    markers,
    ...(bos === undefined ? {} : { bos }),
    ...(eos === undefined ? {} : { eos }),
    addedPrefix: added.prefix,
    addedSuffix: added.suffix,
    ...(generationPrompt === undefined ? {} : { generationPrompt }),
    ...(renderings.thinkTail === '' || withThinkTail === undefined
      ? {}
      : {
          thinkTail: {
            text: renderings.thinkTail,
            ids: withThinkTail.ids.slice(generationPrompt?.ids.length ?? 0),
          },
        }),
    roleMarkers: renderings.roleMarkers,
    templateWritesDate: renderings.all.some((text) => holdsToday(text, new Date())),
  };
}

interface Renderings {
  readonly all: readonly string[];
  readonly generationPrompt: string;
  readonly thinkTail: string;
  readonly roleMarkers: readonly RoleMarker[];
}

async function renderConversations(input: ProbeInput, { render }: ProbeQuestions): Promise<Renderings> {
  if (input.template === '') return { all: [], generationPrompt: '', thinkTail: '', roleMarkers: [] };
  const withSystem = await render({ messages: conversation });
  const messages = withSystem === undefined ? turns : conversation;
  const [whole, open, thinkingOff, withTools] = await Promise.all([
    withSystem ?? render({ messages }),
    render({ messages, add_generation_prompt: false }),
    render({ messages, chat_template_kwargs: { enable_thinking: false } }),
    render({ messages: toolConversation, tools: [probeTool] }),
  ]);
  const tail = after(whole, lastUserText);
  const turnEnd = after(open, lastUserText);
  const tailThinkingOff = after(thinkingOff, lastUserText);
  const generationPrompt = tail.startsWith(turnEnd) ? tail.slice(turnEnd.length) : '';
  return {
    all: [whole, open, thinkingOff, withTools].filter((text) => text !== undefined),
    generationPrompt,
    thinkTail: tailThinkingOff.startsWith(tail) ? tailThinkingOff.slice(tail.length) : '',
    roleMarkers: roleMarkersOf(whole ?? '', turnEnd, input),
  };
}

/** Reads what the template writes in front of each role's text, without the end of the turn before it. */
function roleMarkersOf(whole: string, turnEnd: string, { bosText, eosText }: ProbeInput): RoleMarker[] {
  const withoutEnd = (text: string): string => {
    for (const end of [turnEnd, eosText]) {
      if (end !== '' && text.startsWith(end) && text.length > end.length) return text.slice(end.length);
    }
    return text;
  };
  const start = before(whole, systemText);
  const openings: [string, string][] = [
    ['system', bosText !== '' && start.startsWith(bosText) ? start.slice(bosText.length) : start],
    ['user', withoutEnd(between(whole, assistantText, lastUserText))],
    ['assistant', withoutEnd(between(whole, firstUserText, assistantText))],
  ];
  return openings
    .filter(([, opening]) => opening.trim() !== '' && opening.length < 200)
    .map(([role, opening]) => ({ role, opening }));
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

/** True if today's date stands in the text in one of the usual ways (the engine's clock may be a day off). */
function holdsToday(text: string, now: Date): boolean {
  return [-1, 0, 1].some((days) => {
    const date = new Date(now.getTime() + days * 86_400_000);
    const iso = date.toISOString().slice(0, 10);
    const day = date.getUTCDate();
    const year = date.getUTCFullYear();
    const month = date.toLocaleString('en-US', { month: 'long', timeZone: 'UTC' });
    const short = month.slice(0, 3);
    const padded = String(day).padStart(2, '0');
    return [iso, `${padded} ${short} ${year}`, `${short} ${padded} ${year}`, `${month} ${day}, ${year}`].some(
      (written) => text.includes(written),
    );
  });
}

function after(whole: string | undefined, mark: string): string {
  const at = whole?.lastIndexOf(mark) ?? -1;
  return whole === undefined || at < 0 ? '' : whole.slice(at + mark.length);
}

function before(whole: string, mark: string): string {
  const at = whole.indexOf(mark);
  return at < 0 ? '' : whole.slice(0, at);
}

function between(whole: string, left: string, right: string): string {
  const from = whole.indexOf(left);
  const to = whole.indexOf(right);
  return from < 0 || to < from ? '' : whole.slice(from + left.length, to);
}
