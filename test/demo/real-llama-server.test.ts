// The demo engine beside a real llama-server that has its vocabulary and template: same ids, same prompts, same status
// codes, same fields. What differs on purpose (names, error details, extra settings) is not compared.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { realEngine } from '../support/real-engine.ts';
import { demoModelFile } from './real-model.ts';
import { useDemoEngine, type JsonObject } from './running-engine.ts';

const real = await realEngine(demoModelFile, { args: ['--parallel', '4', '--ctx-size', '32768'] });
const user = { role: 'user', content: 'What is the capital of France?' };
const assistant = { role: 'assistant', content: 'Paris.' };
const fn = { name: 'get_time', arguments: '{"city":"Paris"}' };
const calling = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: '1', type: 'function', function: fn }],
};
const answered = [
  user,
  { ...calling, reasoning_content: 'why' },
  { role: 'tool', tool_call_id: '1', content: 'noon' },
];
const tool = {
  type: 'function',
  function: { name: 'get_time', description: 'D', parameters: { type: 'object' }, return: { x: 1 } },
};
const off = { chat_template_kwargs: { enable_thinking: false } };

/** Bodies whose whole reply must be equal. */
const equal: readonly (readonly [string, unknown])[] = [
  ['/tokenize', { content: "the old mill 猫 🙂 don't  \n\n\n <bos><|turn|>user\n<think>" }],
  ['/tokenize', { content: '<bos><|end|><think></tool_call>', parse_special: false }],
  ['/tokenize', { content: ['a', -1, 'b'], add_special: false, parse_special: true }],
  ['/tokenize', { content: [5, 'a', 1.7], add_special: true }],
  ['/tokenize', { content: '', add_special: true }],
  ['/tokenize', { content: 'é<bos>', with_pieces: true }],
  ['/tokenize', { content: [] }],
  ['/tokenize', { content: 5 }],
  ['/tokenize', { content: ['a', {}] }],
  ['/tokenize', '\ufeff{"content":"a"}'],
  ['/detokenize', { tokens: [64, 476] }],
  ['/detokenize', { tokens: ['a'] }],
  ['/detokenize', { tokens: 'a' }],
  ...[
    { messages: [user] },
    { messages: [] },
    { messages: [{ role: 'system', content: '<bos>S' }, user], tools: [tool, tool], tool_choice: 'none' },
    { messages: [user], tools: [] },
    {
      messages: [
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        user,
      ],
    },
    { messages: [user, { role: 'system', content: 'late' }] },
    { messages: [user], add_generation_prompt: false },
    { messages: [user], ...off },
    { messages: [user], reasoning_effort: 'none' },
    { messages: [user, assistant, user], ...off },
    { messages: answered },
    { messages: [...answered, user] },
    { messages: [user, assistant] },
    { messages: [user, assistant], ...off },
    { messages: [user, { ...assistant, reasoning_content: 'why' }] },
    { messages: [user], continue_final_message: true, add_generation_prompt: false },
    { messages: [user], continue_final_message: true },
    { messages: [user, assistant, assistant] },
    { messages: [user, calling] },
    { messages: [user], chat_template_kwargs: { enable_thinking: 'no' } },
    { messages: [{ role: 'user' }] },
    { messages: [{ role: 'user', content: 5 }] },
    { messages: [{ role: 'user', content: [{ type: 'x' }] }] },
    { messages: 'x' },
    {},
  ].flatMap((body) =>
    ['/apply-template', '/v1/chat/completions/input_tokens'].map((path) => [path, body] as const),
  ),
  ['/completion', {}],
  ['/completion', { prompt: [] }],
  ['/completion', { prompt: true }],
  ['/completion', { prompt: [99999] }],
  ['/completion', { prompt: 'a', n: 5 }],
  ['/completion', { prompt: 'a', n_predict: '3' }],
  ['/completion', { prompt: Array.from({ length: 8192 }, () => 64) }],
];

/** Refusals whose words are their own; status and type must be equal. */
const refusals: readonly (readonly [string, unknown])[] = [
  ['/tokenize', '{"content":'],
  ['/tokenize', ''],
  ['/tokenize', '{"content":"\\ud800"}'],
  ['/tokenize', { content: [-1], with_pieces: true }],
  ['/detokenize', { tokens: [99999] }],
  ['/apply-template', { messages: [{ content: 'x' }] }],
  ['/apply-template', { messages: [{ role: 'narrator', content: 'x' }] }],
  ['/apply-template', { messages: [user], tools: {} }],
  ['/apply-template', { messages: [user], tools: [{ type: 'x' }] }],
  ['/apply-template', { messages: [{ ...calling, tool_calls: [{ function: {} }] }, user] }],
  ['/nowhere', {}],
  ['/props', {}],
  ['/infill', {}],
  ['/v1/embeddings', {}],
];

const prompts = { prompt: ['a', 'the old mill'], max_tokens: 2 };
/** Replies whose fields must be equal, and their counts; the text and the times can't be. */
const generations: readonly (readonly [string, JsonObject])[] = [
  ['/completion', { prompt: 'the old mill', n_predict: 3, id_slot: 0 }],
  ['/completion', { prompt: 'the old mill', n_predict: 3, id_slot: 0 }],
  ['/completion', { prompt: '<bos>the old gate', n_predict: 1, id_slot: 1 }],
  ['/completion', { prompt: [64, 'a'], n_predict: 0, id_slot: 2 }],
  ['/completion', { prompt: 'keeper', n_predict: 2, id_slot: 3, cache_prompt: false }],
  ['/completion', { prompt: ['a', [64], { prompt_string: 'b' }], n_predict: 1, cache_prompt: false }],
  ['/v1/completions', { ...prompts, cache_prompt: false }],
  ['/v1/chat/completions', { messages: [user], max_tokens: 2, id_slot: 0 }],
  ['/v1/chat/completions', { messages: [user], max_tokens: 2, id_slot: 0, ...off }],
  ['/v1/chat/completions', { messages: [user], max_tokens: 1, n: 2, cache_prompt: false }],
];

/** Keeps the real model, which samples at random, from ending its turn before the limit. */
const steady = { ignore_eos: true };

/** How many events at the end are fixed: before them it matters where sampled bytes happen to make whole characters. */
const streams: readonly { readonly path: string; readonly body: JsonObject; readonly ending: number }[] = [
  { path: '/completion', body: { prompt: 'the river', n_predict: 2 }, ending: 1 },
  { path: '/v1/completions', body: { prompt: 'the river', max_tokens: 2 }, ending: 2 },
  { path: '/v1/chat/completions', body: { messages: [user], max_tokens: 2 }, ending: 2 },
  {
    path: '/v1/chat/completions',
    body: { messages: [user], max_tokens: 2, stream_options: { include_usage: true } },
    ending: 3,
  },
];

const compared = new Set([
  ...[
    'index',
    'id_slot',
    'tokens_evaluated',
    'tokens_predicted',
    'tokens_cached',
    'cache_n',
    'prompt_n',
    'predicted_n',
  ],
  ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached_tokens'],
  ...['stop', 'stop_type', 'finish_reason', 'object', 'prompt', 'code', 'type'],
]);

/** The shape of a reply: counts and closed names as they are, any other value by its type. */
function shapeOf(value: unknown, name = ''): unknown {
  if (compared.has(name) || value === '[DONE]') return value;
  if (name === 'generation_settings') return 'settings';
  if (Array.isArray(value)) return value.map((item) => shapeOf(item));
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item, key)]));
}

describe('the demo engine and a real llama-server with its vocabulary', { skip: real.skip }, () => {
  const demo = useDemoEngine();
  const post = async (path: string, body: unknown): Promise<Response> =>
    fetch((await real.server()).url + path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      // llama-server closes a connection after 100 requests, which fetch may notice too late.
      headers: { connection: 'close' },
    });

  it('answer the oracle routes and refuse bodies with equal words', async () => {
    for (const [path, body] of equal) {
      const [ours, theirs] = [await demo.post(path, body), await post(path, body)];
      const name = `${path} ${JSON.stringify(body).slice(0, 200)}`;
      assert.deepEqual(await ours.json(), await theirs.json(), name);
      assert.equal(ours.status, theirs.status, name);
    }
  });

  it('refuse other bodies with equal status and type', async () => {
    for (const [path, body] of refusals) {
      const [ours, theirs] = [await demo.post(path, body), await post(path, body)];
      const name = `${path} ${JSON.stringify(body)}`;
      assert.equal(ours.status, theirs.status, name);
      assert.deepEqual(shapeOf(await ours.json()), shapeOf(await theirs.json()), name);
    }
  });

  it('reply with equal fields and counts', async () => {
    for (const [path, body] of generations) {
      const [ours, theirs] = [
        await demo.ask(path, body),
        (await (await post(path, { ...body, ...steady })).json()) as JsonObject,
      ];
      const name = `${path} ${JSON.stringify(body)}`;
      assert.deepEqual(shapeOf(ours), shapeOf(theirs), name);
    }
  });

  it('end streams alike', async () => {
    for (const { path, body, ending } of streams) {
      const request = { ...body, id_slot: 0, cache_prompt: false };
      const ours = await demo.stream(path, request);
      const text = await (await post(path, { ...request, ...steady, stream: true })).text();
      const theirs = text.split('\n\n').filter((event) => event !== '');
      const parsed = theirs.slice(-ending).map((event): unknown => {
        const data = event.slice('data: '.length);
        return data === '[DONE]' ? data : JSON.parse(data);
      });
      assert.deepEqual(shapeOf(ours.slice(-ending)), shapeOf(parsed), path);
    }
  });

  it('tell the same facts, by the same fields', async () => {
    const { url } = await real.server();
    const both = async (path: string): Promise<[JsonObject, JsonObject]> => [
      (await (await demo.get(path)).json()) as JsonObject,
      (await (await fetch(url + path)).json()) as JsonObject,
    ];
    const [ours, theirs] = await both('/props');
    assert.deepEqual(Object.keys(ours), Object.keys(theirs));
    for (const field of ['chat_template', 'chat_template_caps', 'bos_token', 'eos_token', 'total_slots']) {
      assert.deepEqual(ours[field], theirs[field], field);
    }
    const [ourModels, theirModels] = await both('/v1/models');
    assert.deepEqual(shapeOf(ourModels), shapeOf(theirModels));
  });
});
