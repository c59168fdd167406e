// What is tried on one template: clean conversations, and faults put into them. What must be found is worked out here from
// the engine's own renderings and ids, never from what the product has learnt.
import assert from 'node:assert/strict';
import type { FindingRecord } from '../../src/exchange/finding-record.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import type { ByteModel } from '../support/gguf/byte-model.ts';
import type { PublishedTemplate } from '../support/templates/published.ts';
import { threeTurns, toolTurns, type ChatBody } from './conversations.ts';
import { served, type Asked, type Served } from './examine.ts';
import { faultNames, faults, type FaultName, type InjectedFault } from './faults.ts';
import { lossesOf } from './losses.ts';
import { modelOf } from './vocabulary.ts';

export interface CleanResult {
  /** True if the template refuses the conversation; then nothing can be found in it. */
  readonly refused: boolean;
  /** `<kind>` of what is above info, by what the product said and by what the renderings show. */
  readonly found: readonly string[];
  readonly expected: readonly string[];
}

export type FaultResult = 'found' | 'missed' | 'not-applicable' | 'accused';

export interface Judgement {
  readonly name: string;
  readonly model: ByteModel;
  readonly facts: ModelFacts;
  /** How many BOS ids a chat and a raw text begin with, as the engine tokenizes them. */
  readonly bosTokens: { readonly chat: number; readonly text: number };
  /** Renderings of the whole clean conversation, and of the one with tools where the template takes it. */
  readonly rendered: string;
  readonly renderedWithTools: string | undefined;
  readonly ids: readonly number[];
  readonly chat: CleanResult;
  readonly tools: CleanResult;
  /** The rendered conversation on the raw route, with its instructions and without: a client that templates by itself. */
  readonly raw: CleanResult;
  readonly faults: Readonly<Record<FaultName, FaultResult>>;
}

interface Tried {
  readonly name: FaultName;
  readonly fault: InjectedFault;
  readonly asked: Asked;
}

/** The same each time: whether the engine can read its own random answer decides whether it gives one. */
const shortReply = { n_predict: 2, max_tokens: 2, temperature: 0, seed: 1 };

const chatRoute = '/v1/chat/completions';
const rawRoute = '/completion';

export async function judge(template: PublishedTemplate): Promise<Judgement> {
  const model = modelOf(template);
  const answers = await served(model, async (engine) => {
    const chat = await converse(engine, threeTurns);
    const tools = await converse(engine, toolTurns);
    const rendered = chat.renderings.at(-1) ?? '';
    const ids = await engine.tokenize(rendered);
    const [{ role }, ...turns] = threeTurns.at(-1)!.messages as [{ readonly role: string }, ...object[]];
    assert.equal(role, 'system');
    const bare = await engine.render({ messages: turns });
    const raw: Asked[] = [];
    for (const prompt of [rendered, ...(bare === undefined ? [] : [bare])]) {
      raw.push(await engine.ask(rawRoute, { prompt, ...shortReply }));
    }
    const text = await engine.tokenize('weir');
    const tried: Tried[] = [];
    for (const name of faultNames) {
      const render = (body: object): Promise<string | undefined> => engine.render(body);
      const fault = await faults[name].inject({ model, facts: engine.facts, rendered, tokens: ids, render });
      const asked = await engine.ask(fault.path, { ...fault.body, ...shortReply });
      tried.push({ name, fault, asked });
    }
    return { facts: engine.facts, chat, tools, rendered, ids, raw, text, tried };
  });
  const { facts, chat, tools, rendered, ids, raw, text, tried } = answers;
  const bos = idOf(model, model.bos ?? '');
  const leading = (all: readonly number[]): number => all.findIndex((id) => id !== bos);
  return {
    name: template.name,
    model,
    facts,
    bosTokens: { chat: leading(ids), text: leading(text) },
    rendered,
    renderedWithTools: tools.renderings.at(-1),
    ids,
    chat: resultOf(chat),
    tools: resultOf(tools),
    raw: { refused: false, found: aboveInfo(raw), expected: [] },
    faults: Object.fromEntries(
      faultNames.map((name) => {
        const one = tried.find((candidate) => candidate.name === name);
        return [name, one === undefined ? 'not-applicable' : resultOfFault(one.fault, one.asked)];
      }),
    ) as Record<FaultName, FaultResult>,
  };
}

/** The id of a token of a byte model: 256 bytes, 7 merges, `<|endoftext|>`, then the others in their order. */
export function idOf({ markers, userDefined = [] }: ByteModel, text: string): number | undefined {
  const listed = [...new Set(['<|endoftext|>', ...markers]), ...userDefined];
  const at = listed.indexOf(text);
  return at < 0 ? undefined : 263 + at;
}

interface Conversed {
  readonly asked: readonly Asked[];
  /** Up to the first body that the template refuses. */
  readonly renderings: readonly string[];
  /** The same with `add_generation_prompt: false`. */
  readonly closed: readonly string[];
  readonly bodies: readonly ChatBody[];
  /** Kinds of what the template leaves out of them. */
  readonly losses: readonly string[];
}

async function converse(engine: Served, bodies: readonly ChatBody[]): Promise<Conversed> {
  const asked: Asked[] = [];
  const renderings: string[] = [];
  const closed: string[] = [];
  const losses: string[] = [];
  for (const body of bodies) {
    const rendered = await engine.render(body);
    if (rendered === undefined) break;
    renderings.push(rendered);
    closed.push((await engine.render({ ...body, add_generation_prompt: false })) ?? '');
    losses.push(...(await lossesOf((one) => engine.render(one), body)));
    asked.push(await engine.ask(chatRoute, { ...body, ...shortReply }));
  }
  return { asked, renderings, closed, bodies, losses };
}

function resultOf(conversed: Conversed): CleanResult {
  const { asked, renderings, bodies, losses } = conversed;
  return {
    refused: renderings.length < bodies.length,
    found: aboveInfo(asked),
    expected: [...new Set([...losses, ...(rewritesHistory(conversed) ? ['prefix-break'] : [])])].toSorted(),
  };
}

/** True if a rendering does not begin with that of the last answered turn before it, up to where the answer is asked for. */
function rewritesHistory({ asked, renderings, closed, bodies }: Conversed): boolean {
  return renderings.some((later, index) => {
    const before = asked.slice(0, index).findLastIndex(({ status }) => status === 200);
    if (before < 0) return false;
    const earlier = renderings[before] ?? '';
    const last = bodies[before]?.messages.at(-1) as { readonly content: string };
    const end = earlier.lastIndexOf(last.content) + last.content.length;
    const open = closed[before] ?? '';
    // A template that asks in any case shows no more than where its last message ends; one may end an open one in its own way.
    const shared = open === earlier ? end : Math.max(end, commonLength(open, earlier));
    return !later.startsWith(earlier.slice(0, shared)) && !leavesOutThinking(earlier, later);
  });
}

/** A think block that is gone once the user asks again is the template's rule. */
function leavesOutThinking(earlier: string, later: string): boolean {
  const at = commonLength(earlier, later);
  const start = earlier.lastIndexOf('<', at);
  return /^<think>\s*<\/think>/.test(earlier.slice(start));
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

function aboveInfo(asked: readonly Asked[]): string[] {
  const kinds = asked.flatMap(({ findings }) => findings.filter(isAboveInfo).map(({ kind }) => kind));
  return [...new Set(kinds)].toSorted();
}

/** Random weights answer, with two tokens: what is said of such an answer is no matter of the template. */
const aboutReplies: readonly string[] = ['output-truncated', 'runaway-reply'];

function isAboveInfo({ kind, severity }: FindingRecord): boolean {
  return severity !== 'info' && !aboutReplies.includes(kind);
}

function resultOfFault({ expected, besides = [] }: InjectedFault, { findings }: Asked): FaultResult {
  const above = findings.filter(isAboveInfo);
  if (expected === undefined) return above.length === 0 ? 'not-applicable' : 'accused';
  const isIt = (finding: FindingRecord): boolean =>
    Object.entries(expected).every(
      ([key, value]) => JSON.stringify(finding[key as keyof FindingRecord]) === JSON.stringify(value),
    );
  if (!above.some(isIt)) return 'missed';
  return above.every(({ kind }) => kind === expected.kind || besides.includes(kind)) ? 'found' : 'accused';
}
