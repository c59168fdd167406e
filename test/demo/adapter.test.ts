// The adapter for llama-server, unmodified, in front of the demo engine: what the first look rests on.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startDemoEngine, type DemoEngine } from '../../src/demo/engine.ts';
import { demoScript } from '../../src/demo/script.ts';
import { context, idsOf, openAdapter, typed } from '../engines/engine-under-test.ts';

describe('the adapter in front of the demo engine', () => {
  let demo: DemoEngine;
  let adapter: ReturnType<typeof openAdapter>;
  before(async () => {
    demo = await startDemoEngine({ tokenIntervalMs: 0, prefillTokensPerSecond: Infinity });
    adapter = openAdapter(demo.url);
  });
  after(async () => {
    await adapter.engine.close();
    await demo.close();
  });

  it('learns its facts', async () => {
    const read = await adapter.engine.facts(undefined, context);
    assert.ok(read.known);
    const { facts } = read;
    assert.equal(facts.modelName, 'tokenweir-demo');
    assert.match(facts.build, /^demo-/);
    assert.equal(facts.bos?.text, '<bos>');
    assert.deepEqual(facts.addedPrefix, { chat: [facts.bos.id], completion: [facts.bos.id] });
    assert.equal(facts.generationPrompt?.text, '<|turn|>assistant\n');
    assert.equal(facts.thinkTail?.text, '<think>\n\n</think>\n\n');
    assert.equal(facts.roleMarkers.find(({ role }) => role === 'user')?.opening, '<|turn|>user\n');
    assert.equal(facts.contextTokens, 8192);
    assert.equal(facts.slots, 4);
    const markers = facts.markers.map(({ text }) => text);
    for (const marker of ['<bos>', '<|turn|>', '<|end|>', '<think>', '</think>', '<tool_call>']) {
      assert.ok(markers.includes(marker), marker);
    }
  });

  it('reads the ids of each scripted step, as many as the engine counts', async () => {
    for (const { path, body, title } of demoScript) {
      const ids = await idsOf(adapter.engine, typed(path === '/completion' ? 'completion' : 'chat', body));
      const response = await fetch(demo.url + path, { method: 'POST', body: JSON.stringify(body) });
      const reply = (await response.json()) as {
        tokens_evaluated?: number;
        usage?: { prompt_tokens: number };
      };
      assert.equal(ids.length, reply.tokens_evaluated ?? reply.usage?.prompt_tokens, title);
    }
  });
});
