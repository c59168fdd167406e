/**
 * Checks inputs one after the other: on what they hold of their own time, on what the engine makes of them today, and
 * how far the two differ. Judges by the pipeline of `serve` and has no rules of its own.
 */
import type { ServedModel } from '../engines/engine.ts';
import type { IncomingRequest } from '../exchange/inspection.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { RecordedReply } from '../exchange/recording/recorded-reply.ts';
import type { RecordingEntry } from '../exchange/recording/recording.ts';
import { recordExchange } from '../exchange/recording/recording-writer.ts';
import type { RequestKind } from '../exchange/request/request-reader.ts';
import type { Route } from '../exchange/request/route.ts';
import { engineSaysIn, type Unknown } from '../exchange/token-read.ts';
import { freezeTrace, type FrozenTrace } from './frozen.ts';
import type { CheckInput } from './input.ts';
import { compareReadings } from './moved.ts';
import type { AskedEngine, CheckOptions } from './options.ts';
import { RecordedEngine } from './recorded-engine.ts';
import type { CheckResult, LackingReply, Reading } from './result.ts';
import { UnforwardedPipeline, type Judged } from './unforwarded.ts';

export interface CheckRun {
  readonly results: readonly CheckResult[];
  /** Today's exchanges, frozen, in order; those of which the engine told nothing are left out. */
  readonly recorded: readonly Omit<RecordingEntry, 'line'>[];
  /** The engine can't be asked at all, and the check ended there; absent if it was asked or nobody had to ask it. */
  readonly silence?: Silence;
}

/** Why the engine can't be asked about a request's model, and what models it says it has. */
interface Silence extends Unknown {
  /** As the request names it; absent if it names none. */
  readonly model?: string;
  readonly models: readonly ServedModel[];
}

/** One path for each kind of route, known to every engine that has the route at all. */
const paths: Readonly<Record<RequestKind, string>> = {
  chat: '/v1/chat/completions',
  completion: '/v1/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

export async function runCheck(inputs: readonly CheckInput[], options: CheckOptions): Promise<CheckRun> {
  const then = new UnforwardedPipeline(options);
  const now = new UnforwardedPipeline(options);
  const past = new PastEngines(options.digestKey);
  const results: CheckResult[] = [];
  const recorded: Omit<RecordingEntry, 'line'>[] = [];
  for (const input of inputs) {
    const { asked } = options;
    const today = asked === undefined ? undefined : await judgeToday(input, asked, now, options.session);
    if (today !== undefined && 'reason' in today) return { results, recorded, silence: today };
    const entry = today && recordExchange(today.exchange, new Date(), sessionOf(input, options.session));
    if (entry !== undefined) recorded.push(entry);
    const frozen = await freeze(input, today, asked);
    const judged = frozen && (await judgeThen(input, frozen, past, then));
    results.push(await resultOf(input, judged, today, options));
  }
  return { results, recorded };
}

async function judgeToday(
  input: CheckInput,
  { engine, context }: AskedEngine,
  pipeline: UnforwardedPipeline,
  session: string | undefined,
): Promise<Judged | Silence> {
  const { model } = input.request;
  // Asked before the route is: an engine that is not recognised yet does not know its routes.
  const read = await engine.facts(model, context);
  if (!read.known) {
    const listed = await engine.models(context);
    return {
      ...read,
      models: 'known' in listed ? [] : listed,
      ...(model !== undefined && { model }),
    };
  }
  const route = engine.routeOf('POST', paths[input.kind]);
  return pipeline.judge(incomingOf(input, route, sessionOf(input, session)), engine);
}

/** What is held of the prompts' own time, and the facts of that time; undefined for a request, which has no past. */
interface Frozen extends FrozenTrace {
  readonly route: Route;
  /** What was recorded of the engine's answer. */
  readonly reply?: RecordedReply;
}

async function freeze(
  input: CheckInput,
  today: Judged | undefined,
  asked: AskedEngine | undefined,
): Promise<Frozen | undefined> {
  if (input.form === 'recorded') {
    const { exchange, facts } = input.entry;
    const { prompts, route, reply } = exchange;
    return { prompts, facts, route, ...(reply && { reply }) };
  }
  const facts = today?.exchange.facts;
  if (input.form === 'request' || today === undefined || asked === undefined || facts === undefined) {
    return undefined;
  }
  return { ...(await freezeTrace(input, asked.engine, facts, asked.context)), route: today.exchange.route };
}

async function judgeThen(
  input: CheckInput,
  { prompts, facts, route, reply }: Frozen,
  past: PastEngines,
  pipeline: UnforwardedPipeline,
): Promise<Judged> {
  const engine = past.of(facts);
  engine.hold(input.request.body, prompts);
  return pipeline.judge(incomingOf(input, route, sessionOf(input, undefined)), engine, reply);
}

/** One engine per set of facts: what an engine was at one time. */
class PastEngines {
  readonly #digestKey: Uint8Array;
  readonly #engines = new Map<string, RecordedEngine>();

  constructor(digestKey: Uint8Array) {
    this.#digestKey = digestKey;
  }

  of(facts: ModelFacts): RecordedEngine {
    const key = JSON.stringify(facts);
    const engine = this.#engines.get(key) ?? new RecordedEngine(facts, this.#digestKey);
    this.#engines.set(key, engine);
    return engine;
  }
}

function sessionOf(input: CheckInput, session: string | undefined): string | undefined {
  return input.form === 'recorded' ? input.entry.exchange.session : session;
}

function incomingOf(input: CheckInput, route: Route, session: string | undefined): IncomingRequest {
  const path = paths[input.kind];
  return {
    id: input.form === 'recorded' ? input.entry.exchange.id : input.source,
    receivedAtMs: Date.now(),
    method: 'POST',
    path,
    url: path,
    headers: { ...(session !== undefined && { 'tokenweir-session': session }) },
    // Stands for who sent it: turns of different clients are never compared, files that stand alone neither.
    remoteAddress: input.form === 'recorded' ? input.entry.exchange.client : (session ?? input.source),
    route,
    body: input.request.body,
    ...(input.reference && { reference: input.reference }),
  };
}

async function resultOf(
  { source, form, kind, ...input }: CheckInput,
  then: Judged | undefined,
  now: Judged | undefined,
  options: CheckOptions,
): Promise<CheckResult> {
  const isRecorded = 'entry' in input;
  const day = isRecorded ? input.entry.exchange.date.slice(0, 'yyyy-mm-dd'.length) : undefined;
  const compared = then && now && (await compareReadings(then.exchange, now.exchange, day, options));
  return {
    source,
    form,
    route: kind,
    ...(isRecorded && { recordedAt: input.entry.exchange.date }),
    ...(then && { then: readingOf(then, 'not-recorded') }),
    ...(now && { now: readingOf(now, 'not-generated') }),
    ...(compared && { moved: compared.moved }),
    // A trace holds no facts of its own that could have changed.
    ...(isRecorded && compared && { factsChanged: compared.factsChanged }),
  };
}

/** @param lacking why there is no reply, if there is none */
function readingOf({ exchange, findings, skipped, reply }: Judged, lacking: LackingReply): Reading {
  const { modelName, facts, prompts, inspection } = exchange;
  return {
    model: modelName,
    build: facts?.build ?? '',
    templateHash: facts?.templateHash ?? '',
    promptTokens: prompts.map((read) => (read.known ? read.ids.length : read.reason)),
    ...(inspection.result === 'unknown' && { unknown: inspection.reason, ...engineSaysIn(prompts) }),
    findings,
    skipped,
    reply: reply ?? { unknown: lacking },
  };
}
