// Sends the scripted traffic through a proxy, as any client would, and gathers what came back: the reply's verdict, its
// counts and the findings. Knows the proxy and its admin port by their URLs only; prints nothing.
import { setTimeout as delay } from 'node:timers/promises';
import type { FindingRecord } from '../exchange/finding-record.ts';
import { isObject } from './body.ts';
import type { FindingInbox } from './finding-inbox.ts';
import type { DemoStep } from './script.ts';

export interface StepResult {
  readonly step: DemoStep;
  readonly requestId: string;
  readonly status: number;
  /** The headers that the proxy added, but for the request's id. */
  readonly verdict: Readonly<Record<string, string>>;
  /** As the reply counts them; absent where there is no reply of the engine. */
  readonly counts?: ReplyCounts;
  readonly findings: readonly FindingRecord[];
  /** The finding that the step is there to show came, and where none is expected none came. */
  readonly asExpected: boolean;
}

export interface ReplyCounts {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** Of the tokens that were not cached; simulated by the demo engine. */
  readonly prefillTokensPerSecond: number;
}

/** Findings follow within milliseconds; a machine under load may take its time. */
const findingsDueMs = 5000;

/**
 * @param proxyUrl without a slash at the end
 * @throws the error of `fetch` if the proxy does not answer, and its AbortError if the signal ends the step
 */
export async function sendStep(
  step: DemoStep,
  requestId: string,
  proxyUrl: string,
  inbox: FindingInbox,
  signal: AbortSignal,
): Promise<StepResult> {
  const response = await fetch(proxyUrl + step.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': requestId },
    body: JSON.stringify(step.body),
    signal,
  });
  const reply: unknown = await response.json();
  const verdict = Object.fromEntries(
    ['tokenweir-action', 'tokenweir-inspection', 'tokenweir-findings'].flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  const announced = verdict['tokenweir-findings']?.split(', ').length ?? 0;
  const giveUp = AbortSignal.any([signal, AbortSignal.timeout(findingsDueMs)]);
  const findings = await inbox.take(requestId, Math.max(announced, step.expects ? 1 : 0), giveUp);
  const counts = countsOf(reply);
  return {
    step,
    requestId,
    status: response.status,
    verdict,
    ...(counts && { counts }),
    findings,
    asExpected: meets(step, findings),
  };
}

function meets({ expects }: DemoStep, findings: readonly FindingRecord[]): boolean {
  if (expects === undefined) return findings.length === 0;
  const { kind, cause } = expects;
  return findings.some((found) => found.kind === kind && (cause === undefined || found.cause === cause));
}

function countsOf(reply: unknown): ReplyCounts | undefined {
  const timings = isObject(reply) ? reply['timings'] : undefined;
  if (!isObject(timings)) return undefined;
  const { cache_n: cached, prompt_n: evaluated, prompt_per_second: rate } = timings;
  if (typeof cached !== 'number' || typeof evaluated !== 'number' || typeof rate !== 'number')
    return undefined;
  return { promptTokens: cached + evaluated, cachedTokens: cached, prefillTokensPerSecond: rate };
}

const settledMs = 50;
const settledTries = 40;

/**
 * How the proxy's own token counts compared with the engine's, by result, read off its metrics. Replies are counted
 * after their last byte, so that this asks again until all of them are.
 */
export async function readCountChecks(
  adminUrl: string,
  replies: number,
  signal: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  for (let tries = 1; ; tries += 1) {
    const metrics = await (await fetch(`${adminUrl}/metrics`, { signal })).text();
    const series = metrics.matchAll(/^tokenweir_count_checks_total\{.*\bresult="(\w+)".*\} (\d+)$/gm);
    const checks: Record<string, number> = {};
    for (const [, result = '', value] of series) checks[result] = (checks[result] ?? 0) + Number(value);
    const counted = Object.values(checks).reduce((sum, value) => sum + value, 0);
    if (counted >= replies || tries === settledTries) return checks;
    await delay(settledMs, undefined, { signal });
  }
}
