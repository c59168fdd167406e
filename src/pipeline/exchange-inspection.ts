/**
 * One exchange on its way: waits as long as it may for what is known, has it judged, says what the transport is to do,
 * and watches the reply. States: asking → decided (the verdict is out; stages may still run) → settled. It never
 * touches a socket and never keeps a request waiting beyond its deadlines.
 */
import type { Config } from '../config/schema.ts';
import { applyEdits } from '../exchange/edits.ts';
import type { Exchange, InspectionResult } from '../exchange/exchange.ts';
import type { Asking, Inspection, ReplySink, Verdict } from '../exchange/inspection.ts';
import type { Outcome, ReplyReader } from '../exchange/reply/reply.ts';
import { turnMarksOf } from '../exchange/written/turn-marks.ts';
import { deadline } from './deadline.ts';
import type { Judge, Judgement, Reach } from './judge.ts';
import { responseHeaders } from './response-headers.ts';
import { settle, type SettleDependencies } from './settle.ts';
import { stopwatch, type Stages } from './stages.ts';

export interface InspectionParts extends SettleDependencies {
  readonly exchange: Exchange;
  readonly config: Config;
  readonly stages: Stages;
  readonly judge: Judge;
  /** Ends questions to the engine that nobody needs an answer to any more. */
  readonly stopAsking: () => void;
}

export class ExchangeInspection implements Inspection {
  readonly verdict: Promise<Verdict>;
  readonly reply: ReplySink;
  readonly #parts: InspectionParts;
  #reader: ReplyReader | undefined;
  #decided = false;
  /** True once the engine's own status has come; an answer of the transport's is not one. */
  #answered = false;
  /** When the ids of what is really sent are known: another promise after a repair. */
  #whole: Promise<InspectionResult>;

  constructor(parts: InspectionParts) {
    this.#parts = parts;
    this.#whole = parts.stages.whole;
    this.verdict = this.#decide().catch((error: unknown) => this.#failOpen(error));
    this.reply = {
      headers: (status, contentType, contentEncoding) => {
        this.#guard(() => {
          this.#answered = true;
          parts.engine.noteReply(status);
          const { route, request, facts } = parts.exchange;
          if (request === undefined) return;
          this.#reader = parts.engine.replyReader(route, request, {
            retainedBytes: parts.config.limits.retainedBytes,
            ...(facts !== undefined && { turnMarks: turnMarksOf(request, facts) }),
          });
          this.#reader.start(status, contentType, contentEncoding);
        });
      },
      chunk: (bytes) => {
        this.#guard(() => {
          const reader = this.#reader;
          if (reader === undefined) return;
          const startedBefore = hasStarted(reader);
          reader.push(bytes);
          // From the first generated piece on the engine has the prompt in its cache, also if the client leaves now.
          if (!startedBefore && hasStarted(reader)) this.#rememberOnceKnown();
        });
      },
      end: (outcome) => {
        this.#guard(() => {
          this.#end(outcome);
        });
      },
    };
  }

  async #decide(): Promise<Verdict> {
    const { exchange, config, stages, judge, memory, meter } = this.#parts;
    const sinceStart = stopwatch();
    const known = await this.#wait();
    exchange.inspection = known.inspection;
    const judged = stopwatch();
    const judgement = await judge.before(exchange, known.reach, stages, config);
    exchange.action = judgement.action;
    if (judgement.action === 'rewrite') this.#whole = judgement.whole;
    meter.inspectionDuration('decide', judged(), exchange);
    meter.inspectionDuration('whole', sinceStart(), exchange);
    meter.beforeForwarding(exchange);
    memory.noteFound(exchange);
    this.#decided = true;
    if (exchange.inspection.result === 'late') {
      // What settles or is remembered waits for what is found late.
      this.#whole = this.#whole.then((result) => this.#finishLate(result));
    }
    return this.#verdictOf(judgement);
  }

  /** How far the inspection comes within the time that this request may wait. */
  async #wait(): Promise<{
    readonly reach: Reach;
    readonly inspection: InspectionResult;
  }> {
    const { config, stages, judge } = this.#parts;
    const { timing, budgetMs, blockingMs } = config.inspection;
    const started = performance.now();
    const late: InspectionResult = { result: 'late' };
    const budget = timing === 'before' ? budgetMs : 0;
    const whole = await deadline(stages.whole, budget);
    if (whole !== undefined) return { reach: 'whole', inspection: whole };
    if (!judge.mayBlock(config)) return { reach: 'nothing', inspection: late };
    // A blocking detector has a deadline of its own, or a long prompt would talk strict mode past its check.
    const left = blockingMs - (performance.now() - started);
    const head = await deadline(stages.head, left);
    if (head === undefined) return { reach: 'nothing', inspection: late };
    return head.result === 'ok' ? { reach: 'head', inspection: late } : { reach: 'whole', inspection: head };
  }

  #verdictOf(judgement: Judgement): Verdict {
    const headers = responseHeaders(this.#parts.exchange, this.#parts.config);
    switch (judgement.action) {
      case 'pass':
        return { action: 'pass', responseHeaders: headers, ...this.#asking() };
      case 'rewrite':
        return { action: 'rewrite', body: judgement.body, responseHeaders: headers, ...this.#asking() };
      case 'reject':
        return {
          action: 'reject',
          status: judgement.rejection.status,
          body: judgement.rejection.body,
          responseHeaders: headers,
        };
    }
  }

  /** Only if the operator wants it, for it changes what the engine gets. A repaired request has taken the client's place. */
  #asking(): { readonly asking?: Asking } {
    const { exchange, config, engine } = this.#parts;
    const { request } = exchange;
    if (!config.engine.requestIds || request === undefined) return {};
    const asked = engine.askingForIds(request);
    if (asked === undefined) return {};
    return { asking: { body: applyEdits(request.body, asked.edits), mend: asked.mend } };
  }

  /** The request has gone on; what is found now is counted and logged, but changes nothing for the client. */
  async #finishLate(result: InspectionResult): Promise<InspectionResult> {
    const { exchange, config, judge, memory, meter } = this.#parts;
    if (result.result === 'unknown') exchange.inspection = result;
    try {
      await judge.late(exchange, config);
      meter.lateInspection(exchange);
      memory.noteFound(exchange);
      if (this.#reader?.started === true) this.#rememberOnceKnown();
    } catch (error) {
      this.#parts.onFailure(error, exchange);
    }
    return result;
  }

  #rememberOnceKnown(): void {
    const { exchange, memory, onFailure } = this.#parts;
    void this.#whole
      .then(() => memory.remember(exchange))
      .catch((error: unknown) => {
        onFailure(error, exchange);
      });
  }

  #end(outcome: Outcome): void {
    const { exchange, engine, stopAsking, meter, onFailure } = this.#parts;
    exchange.outcome = outcome;
    if (outcome === 'upstream-failed') engine.noteReply(undefined);
    if (this.#answered || outcome === 'upstream-failed') meter.upstreamUp(outcome !== 'upstream-failed');
    const reply = this.#reader?.end(outcome !== 'completed');
    if (reply !== undefined) exchange.reply = reply;
    // Nobody is served and nothing was generated: the engine need not be asked any further.
    if (reply?.started !== true && outcome === 'client-aborted') stopAsking();
    // A client may leave while the detectors are being asked.
    void this.verdict
      .then(() => this.#whole)
      .then(() => settle(this.#parts, exchange))
      .catch((error: unknown) => {
        onFailure(error, exchange);
      });
  }

  /** Inspection that breaks must not break traffic. */
  #failOpen(error: unknown): Verdict {
    const { exchange, config, meter, onFailure } = this.#parts;
    onFailure(error, exchange);
    exchange.inspection = { result: 'unknown', reason: 'inspection-failed' };
    exchange.action = 'pass';
    if (!this.#decided) meter.beforeForwarding(exchange);
    return { action: 'pass', responseHeaders: responseHeaders(exchange, config) };
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#reader = undefined;
      this.#parts.onFailure(error, this.#parts.exchange);
    }
  }
}

/** A function, because the compiler takes a property that it has just read to stay as it was. */
function hasStarted(reader: ReplyReader): boolean {
  return reader.started;
}
