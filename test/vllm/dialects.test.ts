// Ids of `/v1/messages` and `/v1/responses` on a real vLLM: what we make of a body is what the engine makes of it, id for
// id by its own render endpoint, and in number by its own replies.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Engine } from '../../src/engines/engine.ts';
import { VllmEngine } from '../../src/engines/vllm.ts';
import { openAdapter } from '../engines/engine-under-test.ts';
import { assertHas, clean, requestFindings, send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { gatewayTo, type Gateway } from '../support/vllm/gateway.ts';
import { realVllm } from '../support/vllm/real-vllm.ts';
import { followed, unfollowed, type ConversionCase } from './conversions/bodies.ts';
import { idsByAdapter, idsByRendering, post } from './conversions/reading.ts';

const qwen3 = await realVllm('qwen3', {
  args: [
    ...['--enable-prompt-tokens-details', '--enable-scale-out'],
    ...['--enable-auto-tool-choice', '--tool-call-parser', 'hermes'],
  ],
});

interface Opened {
  readonly url: string;
  readonly engine: Engine;
  readonly gateway: Gateway;
  readonly behindGateway: Engine;
}
let opened: Promise<Opened> | undefined;
after(async () => {
  const { engine, gateway, behindGateway } = (await opened) ?? {};
  await engine?.close();
  await behindGateway?.close();
  await gateway?.close();
});

/** One adapter that may ask for rendered ids, and one behind a gateway that has no such endpoint. */
function open(): Promise<Opened> {
  opened ??= qwen3.server().then(async ({ url }) => {
    const gateway = await gatewayTo(url);
    gateway.block(/render$/);
    const adapterOf = (at: string): Engine => openAdapter(at, { adapter: VllmEngine }).engine;
    return { url, gateway, engine: adapterOf(url), behindGateway: adapterOf(gateway.url) };
  });
  return opened;
}

/** How many ids the engine's reply says that there were; it must take the body. */
async function told(url: string, { kind, body }: ConversionCase): Promise<number> {
  const reply = await post(`${url}/v1/${kind}`, body);
  assert.equal(reply.status, 200, JSON.stringify(reply.json));
  const { usage } = reply.json as {
    usage: { input_tokens: number; cache_read_input_tokens?: number; cache_creation_input_tokens?: number };
  };
  const {
    input_tokens: input,
    cache_read_input_tokens: read = 0,
    cache_creation_input_tokens: made = 0,
  } = usage;
  return input + read + made;
}

describe('ids of conversations that are no chat, on a real vLLM', { skip: qwen3.skip }, () => {
  for (const one of followed) {
    it(`${one.kind}: ${one.name}`, async () => {
      const { url, engine, behindGateway } = await open();
      const theirs = await idsByRendering(url, one);
      const converted = await idsByAdapter(behindGateway, one);
      assert.deepEqual(converted, theirs);
      if (theirs === undefined) return;
      assert.equal(theirs.length, await told(url, one));
      assert.deepEqual(await idsByAdapter(engine, one), theirs);
    });
  }

  for (const one of unfollowed) {
    it(`${one.kind}: ${one.name}: by the engine\u2019s rendering only`, async () => {
      const { url, engine, behindGateway } = await open();
      const theirs = await idsByRendering(url, one);
      assert.ok(theirs !== undefined);
      assert.equal(await idsByAdapter(behindGateway, one), undefined);
      assert.deepEqual(await idsByAdapter(engine, one), theirs);
    });
  }
});

describe('conversations that are no chat, through the proxy, on a real vLLM', { skip: qwen3.skip }, () => {
  const long = 'You are terse. '.repeat(20);
  const short = { messages: { max_tokens: 2, model: 'qwen3' }, responses: { max_output_tokens: 2 } };

  it('count as the engine counts, whole and streamed, also with cached tokens', async (t) => {
    const proxied = await openProxy(t, (await qwen3.server()).url);
    const messages = { ...short.messages, system: long, messages: [{ role: 'user', content: 'Hi' }] };
    const responses = { ...short.responses, instructions: long, input: 'Hi' };
    for (const stream of [false, true]) {
      assert.deepEqual((await send(`${proxied.url}/v1/messages`, { ...messages, stream })).said, clean);
      assert.deepEqual((await send(`${proxied.url}/v1/responses`, { ...responses, stream })).said, clean);
    }
    await settled(proxied, 4);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 4);
    assert.ok((await proxied.metric('tokenweir_prompt_tokens_cached_total')) > 0);
  });

  it('break where the client changed them, and not where only the attribution line did', async (t) => {
    const proxied = await openProxy(t, (await qwen3.server()).url);
    const asked = (system: unknown, ...turns: string[]): object => ({
      ...short.messages,
      system,
      messages: turns.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
    });
    const line = (hash: string): object => ({
      type: 'text',
      text: `x-anthropic-billing-header: cch=${hash};`,
    });
    const words = { type: 'text', text: long };
    await send(`${proxied.url}/v1/messages`, asked([line('0a1b2'), words], 'Hi'));
    await send(`${proxied.url}/v1/messages`, asked([line('3c4d5'), words], 'Hi', 'Hello', 'More'));
    await settled(proxied, 2);
    assert.deepEqual(await requestFindings(proxied), []);
    await send(`${proxied.url}/v1/messages`, asked('You are kind.', 'Hi', 'Hello', 'More', 'So', 'What?'));
    await settled(proxied, 3);
    assertHas((await requestFindings(proxied))[0], { kind: 'prefix-break', culprit: 'client' });
  });
});
