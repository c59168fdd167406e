// Requests that do not fit into the context of a real engine, that only just fit, and that somebody behind us cuts.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { assertHas, requestFindings, send, settled } from '../support/exchanges.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { realEngine } from '../support/real-engine.ts';
import { shorteningEngine } from '../support/shortening-engine.ts';

const context = 512;
const engine = await realEngine(
  () =>
    byteModelFile({
      name: 'small-context',
      markers: ['<s>', '<|user|>', '<|assistant|>', '<|end|>'],
      bos: '<s>',
      addBos: true,
      chatTemplate:
        '{{ bos_token }}{% for m in messages %}{{ "<|" + m.role + "|>" + m.content + "<|end|>" }}{% endfor %}{{ "<|assistant|>" }}',
    }),
  { args: ['--ctx-size', String(context), '--parallel', '1'] },
);

async function serve(t: TestContext, upstream?: string): Promise<ProxiedEngine> {
  return openProxy(t, upstream ?? (await engine.server()).url);
}

const say = (length: number): object => ({ messages: [{ role: 'user', content: 'b'.repeat(length) }] });
/** Tokens of `say(length)`: BOS, the two role markers and the end of the turn besides the text. */
const promptOf = (length: number): number => length + 4;

describe('a request that does not fit', { skip: engine.skip }, () => {
  const long = 'b'.repeat(600);
  for (const [name, path, body, field, prompt] of [
    ['a chat', '/v1/chat/completions', say(600), 'messages', 604],
    ['a streamed chat', '/v1/chat/completions', { ...say(600), stream: true }, 'messages', 604],
    ['a native prompt', '/completion', { prompt: `<|user|>${long}` }, 'prompt', 602],
    ['a streamed text', '/v1/completions', { prompt: `<|user|>${long}`, stream: true }, 'prompt', 602],
    ['messages', '/v1/messages', { ...say(600), max_tokens: 5 }, 'messages', 604],
    ['responses', '/v1/responses', { input: long }, 'input', 604],
  ] as const) {
    it(`is refused and told in the engine's numbers: ${name}`, async (t) => {
      const proxied = await serve(t);
      const answer = await send(`${proxied.url}${path}`, body);
      assert.equal(answer.status, 400);
      assert.equal(answer.text, (await send(`${(await engine.server()).url}${path}`, body)).text);
      await settled(proxied, 1);
      const [finding, ...more] = await requestFindings(proxied);
      assert.deepEqual(more, []);
      assertHas(finding, {
        kind: 'context-overflow',
        cause: 'prompt-too-long',
        severity: 'error',
        culprit: 'client',
        field,
        message: `The engine refused the request: its prompt of ${prompt} tokens does not fit into the engine's context of 512 tokens.`,
        advice:
          'Shorten or compact the conversation, or give each request a larger context in the engine (--ctx-size N); tell the client the context that one request has, which may be a part of what the engine has in all.',
      });
    });
  }
});

describe('a request that fits', { skip: engine.skip }, () => {
  it('is told of if it only just does, and not if there is room', async (t) => {
    const proxied = await serve(t);
    const chat = async (length: number, more: object = {}): Promise<void> => {
      const answer = await send(`${proxied.url}/v1/chat/completions`, {
        ...say(length),
        max_tokens: 2,
        ...more,
      });
      assert.equal(answer.status, 200);
    };
    await chat(context - 65 - 4);
    // The limit on the answer is far beyond the context, and this engine does not mind.
    await chat(20, { max_tokens: 1000, stop: ['b', 'o', 'e', ' '] });
    await chat(context - 64 - 4);
    await settled(proxied, 3);
    const [finding, ...more] = await requestFindings(proxied);
    assert.deepEqual(more, []);
    assertHas(finding, {
      kind: 'context-overflow',
      cause: 'near-limit',
      severity: 'warning',
      message: "The prompt of 448 tokens leaves 64 of the engine's context of 512 tokens for the answer.",
    });
  });
});

describe('a prompt that is cut on its way', { skip: engine.skip }, () => {
  it('is told of with what is lost, once, and the ids stay believed', async (t) => {
    // Where this engine refuses, others drop the oldest messages: one that does so stands in front of it.
    const cutting = await shorteningEngine((await engine.server()).url);
    t.after(() => cutting.close());
    const proxied = await serve(t, cutting.url);
    const turns = ['b', 'c', 'd', 'e'].map((letter, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: letter.repeat(100),
    }));
    const last = { role: 'user', content: 'f'.repeat(50) };
    for (let count = 0; count < 4; count += 1) {
      const body = { messages: [...turns, last], max_tokens: 2 };
      assert.equal((await send(`${proxied.url}/v1/chat/completions`, body)).status, 200);
    }
    await settled(proxied, 4);
    const findings = await requestFindings(proxied);
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      Array.from({ length: 4 }, () => 'prompt-truncated'),
    );
    const known = promptOf(450) + 4 * 2;
    assertHas(findings[0], {
      cause: 'within-context',
      severity: 'error',
      culprit: 'engine',
      message: `The prompt has ${known} tokens, and the engine answered after reading ${promptOf(50)} of them; ${known - promptOf(50)} are lost (its context holds 512).`,
    });
    assert.equal(await proxied.metric('tokenweir_ids_verified', { model_name: 'small-context' }), 1);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'mismatch' }), 4);
  });
});
