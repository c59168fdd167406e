// What a real vLLM serves besides one model with one name: an adapter (LoRA), a second name, a key before its guarded
// paths; what it refuses, what it reads over, and how it looks when it is taken away and comes back.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Q, S } from '../support/conversations.ts';
import { assertHas, chat, eventually, requestFindings, send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { proxy, type ProxiedEngine } from '../support/proxied-engine.ts';
import { loraArguments } from '../support/vllm/lora-folder.ts';
import { modelFolder } from '../support/vllm/model-folder.ts';
import { realVllm } from '../support/vllm/real-vllm.ts';
import { startVllm } from '../support/vllm/server.ts';

const key = { authorization: 'Bearer sk-test' };
const contextTokens = 1024;
const vllmArguments = [
  ...['--served-model-name', 'qwen3', 'also', '--max-model-len', String(contextTokens)],
  ...['--api-key', 'sk-test', '--enable-prompt-tokens-details'],
  ...(await loraArguments('tuned')),
];
const qwen3 = await realVllm('qwen3', { args: vllmArguments });
const { skip } = qwen3;
after(async () => {
  await (await shared)?.close();
});

let shared: Promise<ProxiedEngine> | undefined;
/** One for the tests that count nothing: learning a model's facts takes seconds. */
function proxied(): Promise<ProxiedEngine> {
  shared ??= qwen3.server().then(({ url }) => proxy(url));
  return shared;
}

interface Reply {
  readonly prompt_token_ids?: readonly number[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number };
  };
}

describe('models of a real vLLM', { skip }, () => {
  it('are its names and its adapters, each with facts of its own and with counts as we count', async (t) => {
    const own = await openProxy(t, (await qwen3.server()).url);
    for (const model of ['tuned', 'also', 'qwen3']) {
      const { said, json } = await chat(own, { model, messages: Q, return_token_ids: true }, key);
      assert.equal(said.inspection, 'ok', model);
      assert.equal((json as Reply).prompt_token_ids?.length, 25);
      const prompt = { model, prompt: 'One, two', max_tokens: 1 };
      assert.equal((await send(`${own.url}/v1/completions`, prompt, { headers: key })).said.inspection, 'ok');
    }
    await settled(own, 6);
    for (const model_name of ['tuned', 'also', 'qwen3']) {
      const checks = { model_name, result: 'match' };
      assert.equal(await own.metric('tokenweir_count_checks_total', checks), 2, model_name);
    }
  });

  it('share no cache with their adapters, and no conversation', async (t) => {
    const own = await openProxy(t, (await qwen3.server()).url);
    const prompt = Array.from({ length: 100 }, (_, index) => 2_000 + index);
    const cached: (number | undefined)[] = [];
    for (const model of ['qwen3', 'tuned', 'tuned']) {
      const body = { model, prompt, max_tokens: 1 };
      const { json } = await send(`${own.url}/v1/completions`, body, { headers: key });
      cached.push((json as Reply).usage?.prompt_tokens_details.cached_tokens);
    }
    assert.deepEqual(cached, [0, 0, 96]);
    await settled(own, 3);
    assert.equal(
      await own.metric('tokenweir_prompt_tokens_reusable_total', { model_name: 'tuned' }),
      96,
      'of the adapter’s own prompt',
    );
    assert.equal(await own.metric('tokenweir_prompt_tokens_reusable_total', { model_name: 'qwen3' }), 0);
  });

  it('are no others: the engine’s own words pass, and nothing is known', async () => {
    const open = await proxied();
    const { status, text, said } = await chat(open, { model: 'nope', messages: Q }, key);
    assert.equal(status, 404);
    assert.match(text, /The model `nope` does not exist/);
    assert.equal(said.inspection, 'unknown;model-not-loaded');
  });
});

describe('the salts of a real vLLM', { skip }, () => {
  it('keep a conversation from its own cache, and the client is told', async (t) => {
    const own = await openProxy(t, (await qwen3.server()).url);
    const long = { role: 'system', content: 'You are terse. '.repeat(20) };
    const turns = [S[0]!, S[1]!, S[2]!].map((messages) => [long, ...messages.slice(1)]);
    const headers = { ...key, 'tokenweir-session': 'one' };
    const cached: (number | undefined)[] = [];
    for (const [index, salt] of ['a', 'a', 'b'].entries()) {
      const { json } = await chat(own, { messages: turns[index], cache_salt: salt }, headers);
      cached.push((json as Reply).usage?.prompt_tokens_details.cached_tokens);
    }
    await settled(own, 3);
    assert.equal(cached[0], 0);
    assert.ok(cached[1]! > 0);
    assert.equal(cached[2], 0);
    assert.equal(await own.metric('tokenweir_prompt_tokens_cached_total'), cached[1]);
    assert.equal(await own.metric('tokenweir_prompt_tokens_reusable_total'), cached[1]);
    const findings = await requestFindings(own);
    assert.equal(findings.length, 1);
    assertHas(findings[0], { kind: 'prefix-break', cause: 'salt-changed', culprit: 'client' });
  });
});

describe('salts that a client makes anew for each turn', { skip }, () => {
  it('are told from the third turn on, though nobody named the conversation', async (t) => {
    const own = await openProxy(t, (await qwen3.server()).url);
    const found: (string | null)[] = [];
    for (const [index, messages] of [S[0]!, S[1]!, S[2]!].entries()) {
      const { said } = await chat(own, { messages, cache_salt: `turn ${index}` }, key);
      found.push(said.findings);
    }
    assert.deepEqual(found, [null, null, 'prefix-break;salt-changed']);
  });
});

describe('the key of a real vLLM', { skip }, () => {
  it('guards its models and generation: without it the engine’s own words pass, and nothing is known', async () => {
    const open = await proxied();
    for (const [path, body] of [
      ['chat/completions', { messages: Q }],
      ['completions', { prompt: 'One' }],
      ['messages', { model: 'qwen3', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }],
      ['responses', { input: 'Hi' }],
    ] as const) {
      const { status, text, said } = await send(`${open.url}/v1/${path}`, body);
      assert.deepEqual([status, text], [401, '{"error":"Unauthorized"}'], path);
      assert.equal(said.inspection, 'unknown;oracle-refused', path);
    }
  });

  it('does not guard what tells ids, which the proxy passes as it is', async () => {
    const open = await proxied();
    const { status, json } = await send(`${open.url}/tokenize`, { prompt: 'One, two' });
    assert.deepEqual([status, json['tokens']], [200, [3966, 11, 1378]]);
  });

  it('may be the operator’s for questions, where the client has none', async (t) => {
    const own = await openProxy(t, (await qwen3.server()).url, { UPSTREAM_API_KEY: 'sk-test' });
    const { status, said } = await chat(own, { messages: Q });
    assert.deepEqual([status, said.inspection], [401, 'ok']);
  });
});

describe('what a real vLLM refuses', { skip }, () => {
  const tooLong = 'word '.repeat(contextTokens + 100);
  const refused: Record<string, { path: string; limit: string; prompt: (text: string) => object }> = {
    chat: {
      path: 'chat/completions',
      limit: 'max_tokens',
      prompt: (content) => ({ messages: [{ role: 'user', content }] }),
    },
    completion: { path: 'completions', limit: 'max_tokens', prompt: (prompt) => ({ prompt }) },
    messages: {
      path: 'messages',
      limit: 'max_tokens',
      prompt: (content) => ({ model: 'qwen3', messages: [{ role: 'user', content }] }),
    },
    responses: { path: 'responses', limit: 'max_output_tokens', prompt: (input) => ({ input }) },
  };
  for (const [route, { path, limit, prompt }] of Object.entries(refused)) {
    it(`is told of: ${route}`, async (t) => {
      const own = await openProxy(t, (await qwen3.server()).url);
      const ask = (text: string, most: number) =>
        send(`${own.url}/v1/${path}`, { ...prompt(text), [limit]: most }, { headers: key });
      assert.equal((await ask(tooLong, 2)).status, 400);
      assert.equal((await ask('Hi', contextTokens + 1)).status, 400);
      // Together they are too long, which it takes: the answer gets what is left.
      assert.equal((await ask('word '.repeat(700), 1000)).status, 200);
      await settled(own, 3);
      const found = (await requestFindings(own)).filter(({ kind }) => kind === 'context-overflow');
      assert.deepEqual(
        found.map(({ cause }) => cause),
        ['prompt-too-long', 'limit-too-high'],
      );
    });
  }

  it('passes in its own words, whatever is wrong with a body', async () => {
    const open = await proxied();
    for (const [path, body, words] of [
      [
        'messages',
        { model: 'qwen3', max_tokens: 1, messages: [{ role: 'user', content: [{ type: 'martian' }] }] },
        /validation errors?:/,
      ],
      ['responses', { input: 5 }, /validation errors?:/],
      ['chat/completions', { messages: 'none' }, /validation errors?:/],
      ['completions', { prompt: [1, 'a'] }, /validation errors?:/],
      ['completions', { prompt: 'One', suffix: 'x' }, /suffix/],
      ['chat/completions', { messages: Q, chat_template: 'x' }, /trust-request-chat-template/],
    ] as const) {
      const { status, text } = await send(`${open.url}/v1/${path}`, body, { headers: key });
      assert.equal(status, 400, path);
      assert.match(text, words);
    }
  });
});

describe('fields that a real vLLM reads over', { skip }, () => {
  const documents = { documents: [{ title: 'Weirs', text: 'They hold water.' }] };
  const keeper = 'Answer as the keeper of a weir.';
  const routes: Record<string, { body: object; fields: Record<string, object> }> = {
    'chat/completions': {
      body: { messages: Q, max_tokens: 1 },
      fields: {
        'enable-thinking': { enable_thinking: false },
        think: { think: false },
        thinking: { thinking: { type: 'disabled' } },
        reasoning: { reasoning: { enabled: false } },
        'num-ctx': { options: { num_ctx: 8192 } },
        // The template's own doing.
        documents,
        system: { system: keeper },
        'system-prompt': { system_prompt: keeper },
        instructions: { instructions: keeper },
      },
    },
    messages: {
      body: { model: 'qwen3', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] },
      fields: {
        'enable-thinking': { enable_thinking: false },
        think: { think: false },
        reasoning: { reasoning: { enabled: false } },
        'truncate-prompt-tokens': { truncate_prompt_tokens: 2 },
        documents,
        'system-prompt': { system_prompt: keeper },
        instructions: { instructions: keeper },
        'chat-template': { chat_template: '{{ messages[0].content }}' },
      },
    },
    responses: {
      body: { input: 'Hi', max_output_tokens: 1 },
      fields: {
        'enable-thinking': { enable_thinking: false },
        think: { think: false },
        thinking: { thinking: { type: 'disabled' } },
        'truncate-prompt-tokens': { truncate_prompt_tokens: 2 },
        documents,
        system: { system: keeper },
        'system-prompt': { system_prompt: keeper },
        'chat-template': { chat_template: '{{ messages[0].content }}' },
      },
    },
  };
  for (const [path, { body, fields }] of Object.entries(routes)) {
    it(`are told of, and change no count: ${path}`, async (t) => {
      const own = await openProxy(t, (await qwen3.server()).url);
      const promptTokens = async (more: object): Promise<number> => {
        const asked = { ...body, ...more };
        const { status, json } = await send(`${own.url}/v1/${path}`, asked, { headers: key });
        assert.equal(status, 200);
        const usage = json['usage'] as Readonly<Record<string, number>>;
        const counted = [
          'prompt_tokens',
          'input_tokens',
          'cache_read_input_tokens',
          'cache_creation_input_tokens',
        ];
        return counted.reduce((sum, name) => sum + (usage[name] ?? 0), 0);
      };
      const without = await promptTokens({});
      for (const [name, field] of Object.entries(fields))
        assert.equal(await promptTokens(field), without, name);
      await settled(own, 1 + Object.keys(fields).length);
      const found = (await requestFindings(own)).filter(({ kind }) => kind === 'parameter-ignored');
      assert.deepEqual(
        found.map(({ cause }) => cause),
        Object.keys(fields),
      );
    });
  }
});

describe('a real vLLM that goes away and comes back', { skip }, () => {
  it('cuts the answer, and its new process is told of as a lost cache', async (t) => {
    const server = await qwen3.server();
    const own = await openProxy(t, server.url);
    assert.equal((await chat(own, { messages: Q }, key)).said.inspection, 'ok');
    const reply = await fetch(`${own.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...key, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: Q, stream: true, ignore_eos: true, max_tokens: 900 }),
    });
    const reader = reply.body!.getReader();
    await reader.read();
    await server.kill();
    await assert.rejects(async () => {
      while (!(await reader.read()).done);
    });
    await settled(own, 2);
    assert.equal(await own.metric('tokenweir_replies_total', { outcome: 'upstream-failed' }), 1);
    assert.equal((await chat(own, { messages: Q }, key)).status, 502);
    const again = await startVllm({
      model: await modelFolder('qwen3'),
      args: vllmArguments,
      port: server.port,
    });
    t.after(() => again.stop());
    await eventually(
      async () => (await chat(own, { messages: Q }, key)).said.inspection === 'ok',
      'ids are known again',
    );
    const lost = own.lines.filter(({ event }) => event === 'engine-cache-lost');
    assert.deepEqual(
      lost.map(({ model, reason }) => [model, reason]),
      [['qwen3', 'restart']],
    );
    assert.equal(own.lines.filter(({ event }) => event === 'facts-learnt').length, 1);
  });
});
