// One bad answer among those that facts are learnt from: what it would teach is not kept. The facts are then not known, and
// are learnt as they are the next time.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Engine, EngineDependencies } from '../../../src/engines/engine.ts';
import { LlamaServerEngine } from '../../../src/engines/llama-server.ts';
import { VllmEngine } from '../../../src/engines/vllm.ts';
import { withBos } from '../../support/byte-models.ts';
import { gatedEngine, type GatedEngine } from '../../support/gated-engine.ts';
import { realEngine } from '../../support/real-engine.ts';
import { standIn } from '../../support/vllm/stand-in.ts';
import { context, openAdapter } from '../engine-under-test.ts';

type Adapter = new (dependencies: EngineDependencies) => Engine;

const moments = [
  // A limit on requests.
  { status: 429, text: '{"error":"slow down"}' },
  // A gateway's page for a server that is away.
  { status: 502, text: '<html>Bad Gateway</html>' },
  // A page to log in at.
  { status: 200, text: '<html>Log in</html>' },
  // A key that is not taken yet.
  { status: 401, text: '{"error":{"code":401,"message":"Invalid API Key"}}' },
] as const;

const engine = await realEngine(withBos.file);

async function learn(gated: GatedEngine, adapter: Adapter, times: number) {
  const opened = openAdapter(gated.url, { adapter, timeoutMs: 60_000 });
  try {
    const reads = [];
    for (let time = 0; time < times; time += 1) reads.push(await opened.engine.facts(undefined, context));
    return reads;
  } finally {
    await opened.engine.close();
  }
}

/** With such an answer to one question in `step`, each in its turn, the facts are in the end the undisturbed ones. */
async function isNotKept(
  gated: GatedEngine,
  adapter: Adapter,
  answers: readonly { readonly status: number; readonly text: string }[],
  step = 1,
): Promise<void> {
  const [undisturbed] = await learn(gated, adapter, 1);
  assert.ok(undisturbed?.known === true);
  const asked = gated.seen.length;
  assert.ok(asked > 20, `facts take many questions, not ${asked}`);
  for (let question = step - 1; question < asked; question += step) {
    const answer = answers[question % answers.length] ?? moments[0];
    gated.answerOnceAfter(question, answer);
    const [, again] = await learn(gated, adapter, 2);
    assert.deepEqual(again, undisturbed, `${answer.status} to question ${question}`);
  }
}

describe('facts that are learnt in a bad moment', { timeout: 120_000 }, () => {
  it('of a llama-server are not kept', { skip: engine.skip }, async (t) => {
    const gated = await gatedEngine((await engine.server()).url);
    t.after(() => gated.close());
    await isNotKept(gated, LlamaServerEngine, moments);
  });

  it('of a vLLM are not kept', async (t) => {
    const server = await standIn('qwen3');
    t.after(() => server.close());
    const gated = await gatedEngine(server.url);
    t.after(() => gated.close());
    // It may lack endpoints, and a gateway have a page for them: that alone is of no moment.
    await isNotKept(gated, VllmEngine, moments.slice(0, 1), 12);
  });
});
