// The engine's own prompt count against the ids that were read: each completed exchange is one check, whatever the
// route and the form of the reply.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Q } from '../support/conversations.ts';
import { send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { expected, testedEngine } from '../support/tested-engine.ts';

const engine = await testedEngine('qwen3');

const chat = { messages: Q, max_tokens: 2 };
const text = { prompt: '<|im_start|>user\nHi<|im_end|>\n', n_predict: 2, max_tokens: 2 };
const batch = { ...text, prompt: ['<|im_start|>user\nHi', '<|im_start|>user\nHi there, you'] };
const stream = { stream: true };
const usage = { stream: true, stream_options: { include_usage: true } };

const rows: readonly (readonly [name: string, path: string, body: object, result: string])[] = [
  ['a chat', '/v1/chat/completions', chat, 'match'],
  ['a streamed chat', '/v1/chat/completions', { ...chat, ...stream }, 'match'],
  ['a streamed chat with usage', '/v1/chat/completions', { ...chat, ...usage }, 'match'],
  ['two choices of one chat', '/v1/chat/completions', { ...chat, n: 2 }, 'match'],
  ['two streamed choices of one chat', '/v1/chat/completions', { ...chat, n: 2, ...stream }, 'match'],
  ['two streamed choices with usage', '/v1/chat/completions', { ...chat, n: 2, ...usage }, 'match'],
  ['a native prompt', '/completion', text, 'match'],
  ['a streamed native prompt', '/completions', { ...text, ...stream }, 'match'],
  ['two native prompts', '/completion', batch, 'match'],
  ['two streamed native prompts', '/completion', { ...batch, ...stream }, 'match'],
  ['a text', '/v1/completions', text, 'match'],
  ['a streamed text', '/v1/completions', { ...text, ...stream }, 'match'],
  ['two streamed texts', '/v1/completions', { ...batch, ...stream }, 'match'],
  // The reply tells the count of prompt 0 only.
  ['two texts', '/v1/completions', batch, 'partial'],
];

describe("the engine's own count", { skip: engine.skip }, () => {
  for (const [name, path, body, result] of rows) {
    const wanted = expected.countsOtherwise[name] ?? result;
    if (wanted === 'no-route') continue;
    it(`of ${name}: ${wanted}`, async (t) => {
      const proxied = await openProxy(t, (await engine.server()).url);
      const answer = await send(`${proxied.url}${path}`, body);
      assert.equal(answer.status, 200);
      assert.equal(answer.said.inspection, 'ok');
      await settled(proxied, 1);
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: wanted }), 1);
      assert.equal(await proxied.metric('tokenweir_count_checks_total'), 1);
      assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'count-mismatch' }), 0);
      assert.equal(await proxied.metric('tokenweir_replies_total', { outcome: 'completed' }), 1);
    });
  }
});
