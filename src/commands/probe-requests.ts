/** Puts the doctor's probe requests to the pipeline that judges traffic, without sending them. */
import { randomBytes } from 'node:crypto';

import { UnforwardedPipeline } from '../check/unforwarded.ts';
import type { Config } from '../config/load.ts';
import type { ProbeOutcome } from '../doctor/probed.ts';
import { probesFor, type Probe } from '../doctor/probes.ts';
import type { Engine } from '../engines/engine.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import { engineSaysIn } from '../exchange/token-read.ts';

const paths = {
  chat: '/v1/chat/completions',
  completion: '/v1/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
} as const;

/** @param model as requests must name it; undefined where the engine serves one */
export async function probeRequests(
  engine: Engine,
  facts: ModelFacts,
  model: string | undefined,
  config: Config,
  onFailure: (error: unknown) => void,
): Promise<readonly ProbeOutcome[]> {
  const pipeline = new UnforwardedPipeline({ config, digestKey: randomBytes(32), onFailure });
  const outcomes: ProbeOutcome[] = [];
  for (const [index, probe] of probesFor(facts).entries()) {
    const { exchange, findings } = await pipeline.judge(incomingOf(probe, index, model, engine), engine);
    const { inspection, prompts } = exchange;
    outcomes.push({
      probe,
      findings,
      ...(inspection.result === 'unknown' && { unknown: inspection.reason, ...engineSaysIn(prompts) }),
    });
  }
  return outcomes;
}

function incomingOf(
  { kind, body }: Probe,
  index: number,
  model: string | undefined,
  engine: Engine,
): Parameters<UnforwardedPipeline['judge']>[0] {
  const path = paths[kind];
  const named = model === undefined ? body : { ...body, model };
  return {
    id: `probe-${index}`,
    receivedAtMs: Date.now(),
    method: 'POST',
    path,
    url: path,
    headers: {},
    // Each a client of its own: they are no turns of one conversation.
    remoteAddress: `probe-${index}`,
    route: engine.routeOf('POST', path),
    body: Buffer.from(JSON.stringify(named)),
  };
}
