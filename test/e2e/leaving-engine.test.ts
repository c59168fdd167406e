// An engine that stops answering our questions, whichever of them it is: the request is forwarded, what can't be known is
// said, and nothing is left that would end the process (the runner fails a test that leaves a rejection behind).
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { command as doctor } from '../../src/commands/doctor.ts';
import type { Diagnosis } from '../../src/doctor/diagnosis.ts';
import { withBos } from '../support/byte-models.ts';
import { openCheckFolder } from '../support/check-folder.ts';
import { runCommand } from '../support/command-run.ts';
import { chat } from '../support/exchanges.ts';
import { gatedEngine } from '../support/gated-engine.ts';
import { openGated } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';
import { standIn } from '../support/vllm/stand-in.ts';

const chatPath = '/v1/chat/completions';
const engine = await realEngine(withBos.file);

const body = {
  messages: [
    { role: 'system', content: 'You know the weather of every town.' },
    { role: 'user', content: 'How is the weather in Paris?' },
  ],
};

/** How many questions the first chat takes, and what the proxy says of it if the engine leaves after that many. */
async function leaving(t: TestContext, url: string, questions: number) {
  const { gated, proxied } = await openGated(t, url, { LOG_LEVEL: 'error' });
  gated.leaveAfter(questions, chatPath);
  const { status, said } = await chat(proxied, body);
  await proxied.close();
  const asked = gated.seen.filter(({ path }) => path !== chatPath).length;
  return { status, inspection: said.inspection ?? '', asked, errors: proxied.lines };
}

/** @param step 1 for each of the questions */
async function leavesAtEach(t: TestContext, url: string, status: number, step: number): Promise<void> {
  const { asked, ...undisturbed } = await leaving(t, url, Infinity);
  assert.deepEqual(undisturbed, { status, inspection: 'ok', errors: [] });
  assert.ok(asked > 10, `facts take many questions, not ${asked}`);
  for (let questions = 0; questions < asked; questions += step) {
    const left = await leaving(t, url, questions);
    assert.equal(left.status, status, `after ${questions}`);
    assert.match(left.inspection, /^(ok|unknown;[a-z-]+)$/, `after ${questions}`);
    assert.deepEqual(left.errors, [], `after ${questions}`);
  }
}

describe('an engine that leaves at any question', { timeout: 240_000 }, () => {
  it('of those about a llama-server', { skip: engine.skip }, async (t) => {
    await leavesAtEach(t, (await engine.server()).url, 200, 1);
  });

  it('of those about a vLLM', async (t) => {
    const server = await standIn('qwen3');
    t.after(() => server.close());
    // It generates nothing. Its questions are many, and most are asked by the same lines.
    await leavesAtEach(t, server.url, 404, 4);
  });
});

describe('a command whose engine leaves', { skip: engine.skip, timeout: 240_000 }, () => {
  it('says so with exit code 3, whatever it has learnt by then', async (t) => {
    const gated = await gatedEngine((await engine.server()).url);
    t.after(() => gated.close());
    const { check, file } = openCheckFolder();
    const name = file('chat.json', body);
    const asking = { upstream: gated.url, json: true };
    const runs = {
      doctor: () => runCommand(doctor, asking),
      check: () => check([name], asking),
    };
    for (const [what, run] of Object.entries(runs)) {
      const before = gated.seen.length;
      assert.equal((await run()).code, 0, what);
      const asked = gated.seen.length - before;
      for (const questions of [0, 12, 29, 30, 31]) {
        gated.leaveAfter(questions, chatPath);
        const { code, stdout, stderr } = await run();
        assert.equal(code, 3, `${what} after ${questions} of ${asked}`);
        assert.doesNotMatch(stdout + stderr, /\n {4}at /, `${what} after ${questions}`);
      }
      gated.leaveAfter(Infinity, chatPath);
    }
  });

  it('says of what it is not known', async (t) => {
    const gated = await gatedEngine((await engine.server()).url);
    t.after(() => gated.close());
    gated.leaveAfter(34, chatPath);
    const { stdout } = await runCommand(doctor, { upstream: gated.url, json: true });
    const diagnosis = JSON.parse(stdout) as Diagnosis;
    assert.ok(diagnosis.known && diagnosis.untold !== undefined);
    const { requests, of, silence } = diagnosis.untold;
    assert.equal(silence.reason, 'engine-unreachable');
    assert.ok(requests > 0 && requests < of, `${requests} of ${of}`);
    assert.equal(diagnosis.observed.filter(({ id }) => id === 'refused').length, 0);
  });
});
