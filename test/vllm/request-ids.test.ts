// `engine.requestIds` in front of a real vLLM: the ids are told and used, and the client's reply is the one that it would
// have got without the proxy, but for what differs between any two replies.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getWeather, Q } from '../support/conversations.ts';
import { send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { realVllm } from '../support/vllm/real-vllm.ts';

const qwen3 = await realVllm('qwen3', {
  args: [
    ...['--enable-prompt-tokens-details', '--reasoning-parser', 'qwen3'],
    ...['--enable-auto-tool-choice', '--tool-call-parser', 'hermes'],
  ],
});

const limits = { max_tokens: 12, temperature: 0, seed: 1 };
const chat = { messages: Q, ...limits };
const stream = { stream: true, stream_options: { include_usage: true, continuous_usage_stats: true } };
const forced = (regex: string): object => ({ ...chat, max_tokens: 40, structured_outputs: { regex } });
const call = '<tool_call>\\n\\{"name": "get_weather", "arguments": \\{"city": "Oslo"\\}\\}\\n</tool_call>';

const asked: Readonly<Record<string, readonly [path: string, body: object]>> = {
  'a chat': ['chat/completions', chat],
  'a chat in a stream': ['chat/completions', { ...chat, stream: true }],
  'a chat in a stream with counts': ['chat/completions', { ...chat, ...stream }],
  'two answers': ['chat/completions', { ...chat, temperature: 1, top_k: 1, n: 2 }],
  'a thought and an answer in a stream': [
    'chat/completions',
    { ...forced('<think>ab</think>\\n\\nyes'), ...stream },
  ],
  'a call in a stream': ['chat/completions', { ...forced(call), tools: [getWeather], ...stream }],
  'log probabilities in a stream': ['chat/completions', { ...chat, logprobs: true, ...stream }],
  'a text': ['completions', { prompt: 'One, two', ...limits }],
  texts: ['completions', { prompt: ['One', 'One, two'], ...limits }],
  'a text in a stream': ['completions', { prompt: 'One, two', ...limits, ...stream }],
  'an echo': ['completions', { prompt: 'One, two', echo: true, ...limits }],
  'ids that the client asks for itself': ['chat/completions', { ...chat, return_token_ids: true }],
  'a refused body': ['chat/completions', { ...chat, temperature: 'hot' }],
};

/** Without names, times and tool-call ids of one reply. */
function steady(text: string): string {
  return text
    .replaceAll(/"(id|request_id)":"[^"]*"/g, '"$1":""')
    .replaceAll(/"created":\d+/g, '"created":0')
    .replaceAll(
      /"cached_tokens":\d+,"created_cache_tokens":\d+/g,
      '"cached_tokens":0,"created_cache_tokens":0',
    )
    .replaceAll(/"cached_tokens":\d+/g, '"cached_tokens":0');
}

/** What a stream says, however the engine cut it into events: that differs from one reply to the next. */
function streamSense(text: string): object {
  const said = new Map<string, string>();
  const shapes = new Set<string>();
  for (const line of text.split('\n\n').filter((event) => event.startsWith('data: {'))) {
    const event = JSON.parse(line.slice('data: '.length)) as { choices: Choice[] };
    shapes.add(JSON.stringify(shapeOf(event)));
    for (const { index, text: raw, delta = {}, finish_reason: reason } of event.choices) {
      for (const [field, value] of Object.entries({ ...delta, text: raw, reason })) {
        const key = `${index} ${field}`;
        if (typeof value === 'string') said.set(key, (said.get(key) ?? '') + value);
        else if (Array.isArray(value)) said.set(key, (said.get(key) ?? '') + argumentsIn(value));
      }
    }
  }
  return {
    said: Object.fromEntries(said),
    shapes: [...shapes].toSorted(),
    end: text.slice(text.lastIndexOf('data:')),
  };
}

interface Choice {
  readonly index: number;
  readonly text?: string;
  readonly delta?: Readonly<Record<string, unknown>>;
  readonly finish_reason: string | null;
}

function argumentsIn(calls: readonly { readonly function?: { readonly arguments?: string } }[]): string {
  return calls.map((call) => call.function?.arguments ?? '').join('');
}

/** Its members and their types; null is one of its own. */
function shapeOf(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value;
  if (Array.isArray(value)) return [...new Set(value.map((item) => JSON.stringify(shapeOf(item))))];
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

describe('ids that the operator asks a real vLLM for', { skip: qwen3.skip }, () => {
  for (const [name, [path, body]] of Object.entries(asked)) {
    it(`leave no trace: ${name}`, async (t) => {
      const { url } = await qwen3.server();
      const proxied = await openProxy(t, url, { ENGINE_REQUEST_IDS: 'true' });
      const direct = await send(`${url}/v1/${path}`, body);
      const told = await send(`${proxied.url}/v1/${path}`, body);
      assert.equal(direct.status, name === 'a refused body' ? 400 : 200, direct.text);
      assert.equal(told.status, direct.status);
      if ('stream' in body) assert.deepEqual(streamSense(told.text), streamSense(direct.text));
      else assert.equal(steady(told.text), steady(direct.text));
      if (!('return_token_ids' in body)) assert.doesNotMatch(told.text, /token_ids":\[/);
      const framing = ({ headers }: typeof told): unknown[] =>
        ['content-type', 'transfer-encoding'].map((field) => headers.get(field));
      assert.deepEqual(framing(told), framing(direct));
      const length = told.headers.get('content-length');
      if (length !== null) assert.equal(Number(length), Buffer.byteLength(told.text));
    });
  }

  it('are compared with ours, also where a stream tells no count', async (t) => {
    const { url } = await qwen3.server();
    for (const [wanted, settings] of [
      ['absent', {}],
      ['match', { ENGINE_REQUEST_IDS: 'true' }],
    ] as const) {
      const proxied = await openProxy(t, url, settings);
      await send(`${proxied.url}/v1/chat/completions`, { ...chat, stream: true });
      await settled(proxied, 1);
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: wanted }), 1);
    }
  });
});
