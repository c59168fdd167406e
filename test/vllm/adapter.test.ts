// The adapter and the product in front of a real vLLM: its ids are those that the model was given, by the engine's own
// word, and what is found in them is found. What needs no engine is in test/engines/vllm.test.ts.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Engine } from '../../src/engines/engine.ts';
import { VllmEngine } from '../../src/engines/vllm.ts';
import { context, idsOf, openAdapter, typed } from '../engines/engine-under-test.ts';
import { getWeather, Q } from '../support/conversations.ts';
import { chat, clean, learnt, send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { realVllm } from '../support/vllm/real-vllm.ts';
import { chat as askChat, completion, idsOf as idsByReply } from './asking.ts';

const qwen3 = await realVllm('qwen3', { args: ['--enable-prompt-tokens-details'] });

const opened: Engine[] = [];
after(() => Promise.all(opened.map((engine) => engine.close())));

async function adapter() {
  const { url } = await qwen3.server();
  const open = openAdapter(url, { adapter: VllmEngine });
  opened.push(open.engine);
  return { ...open, url };
}

const answered = [...Q, { role: 'assistant', content: 'The answer' }];
const parts = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  },
];
const turns =
  '<|im_start|>system\nBe terse.<|im_end|>\n<|im_start|>user\n  Hi 👋 \n\n<|im_end|>\n<|im_start|>assistant\n';

describe('facts of Qwen3 on a real vLLM', { skip: qwen3.skip }, () => {
  it('are learnt by probing, without /tokenizer_info', async () => {
    const { engine, events } = await adapter();
    const read = await engine.facts(undefined, context);
    assert.ok(read.known);
    const { facts } = read;
    assert.equal(facts.modelName, 'qwen3');
    assert.match(facts.build, /^\d+\.\d+/);
    assert.equal(facts.bos, undefined);
    assert.deepEqual(facts.addedPrefix, { chat: [], completion: [] });
    assert.equal(facts.generationPrompt?.text, '<|im_start|>assistant\n');
    assert.deepEqual(facts.thinkTail?.ids, [151667, 271, 151668, 271]);
    assert.equal(facts.roleMarkers.find(({ role }) => role === 'user')?.opening, '<|im_start|>user\n');
    const markers = facts.markers.map(({ text }) => text);
    for (const marker of ['<|im_start|>', '<|im_end|>', '<tool_call>']) assert.ok(markers.includes(marker));
    assert.equal(facts.contextTokens, 32_768);
    assert.equal(facts.cacheBlockTokens, 32);
    assert.equal(events.filter(({ event }) => event === 'facts-learnt').length, 1);
  });

  it('are of the models that it serves, and of no other', async () => {
    const { engine } = await adapter();
    assert.deepEqual(await engine.facts('nope', context), { known: false, reason: 'model-not-loaded' });
    const models = await engine.models(context);
    assert.ok(!('known' in models));
    assert.deepEqual(
      models.map(({ name, status }) => [name, status]),
      [['qwen3', 'loaded']],
    );
  });
});

describe('ids of Qwen3 on a real vLLM', { skip: qwen3.skip }, () => {
  const chats = {
    'a chat': { messages: Q },
    'tools, with numbers as they were written': {
      messages: Q,
      tools: [{ ...getWeather, function: { ...getWeather.function, parameters: { maximum: 1.5, '1': {} } } }],
      tool_choice: 'none',
    },
    'thinking off': { messages: Q, chat_template_kwargs: { enable_thinking: false } },
    'no effort': { messages: Q, reasoning_effort: 'none' },
    'no effort against the client’s own argument': {
      messages: Q,
      reasoning_effort: 'none',
      chat_template_kwargs: { enable_thinking: true },
    },
    documents: { messages: Q, documents: [{ title: 't', text: 'x' }] },
    'no generation prompt': { messages: Q, add_generation_prompt: false },
    'a continued answer': { messages: answered, add_generation_prompt: false, continue_final_message: true },
    'parts of text': { messages: parts },
  };
  for (const [name, body] of Object.entries(chats)) {
    it(`are those of the chat route: ${name}`, async () => {
      const { engine, url } = await adapter();
      assert.deepEqual(await idsOf(engine, typed('chat', body)), (await askChat(url, body)).prompt_token_ids);
    });
  }

  it('are those of raw prompts in every form', async () => {
    const { engine, url } = await adapter();
    for (const prompt of ['One, two', turns, [3966, 11, 1378], ['One, two'], [[3966, 11]]]) {
      const ids = await idsOf(engine, typed('completion', { prompt }));
      assert.deepEqual(ids, await idsByReply(url, { prompt }));
    }
    const prompt = [turns, 'One, two', `${turns}More`];
    const read = await engine.facts(undefined, context);
    assert.ok(read.known);
    const prompts = await engine.read(typed('completion', { prompt }), read.facts, context).prompts();
    const { choices } = await completion(url, { prompt });
    assert.deepEqual(
      prompts.map((one) => one.known && [...one.ids]),
      choices.map(({ prompt_token_ids: ids }) => ids),
    );
  });

  it('are asked for once: a turn costs what is new in it', async () => {
    const { engine, counted } = await adapter();
    await idsOf(engine, typed('completion', { prompt: turns }));
    const before = { ...counted };
    await idsOf(engine, typed('completion', { prompt: `${turns}4<|im_end|>` }));
    assert.equal(counted.engine - before.engine, 5);
    assert.ok(counted.cache > before.cache);
  });
});

describe('the proxy in front of a real vLLM', { skip: qwen3.skip }, () => {
  it('counts as the engine counts', async (t) => {
    const proxied = await openProxy(t, (await qwen3.server()).url);
    assert.deepEqual((await chat(proxied, { messages: Q })).said, clean);
    assert.deepEqual(
      (await chat(proxied, { messages: Q, tools: [getWeather], tool_choice: 'none' })).said,
      clean,
    );
    const several = { prompt: ['One', 'One, two'], max_tokens: 2 };
    const { said } = await send(`${proxied.url}/v1/completions`, several);
    assert.equal(said.inspection, 'ok');
    await settled(proxied, 3);
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_total', { route: 'chat' }), 25 + 168);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 2);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'absent' }), 1);
    assert.equal(await proxied.metric('tokenweir_model_info', { engine: 'vllm' }), 1);
    await learnt(proxied);
  });
});
