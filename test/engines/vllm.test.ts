// The vLLM adapter without a vLLM: over a stand-in that answers as the recordings do, and on recorded replies. The same
// against the real one is in test/vllm/.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Engine } from '../../src/engines/engine.ts';
import { openEngine } from '../../src/engines/index.ts';
import { OracleClient } from '../../src/engines/oracle/oracle-client.ts';
import { VllmOracle } from '../../src/engines/vllm/oracle.ts';
import { VllmEngine } from '../../src/engines/vllm.ts';
import type { Family } from '../support/gguf/families.ts';
import { Q } from '../support/conversations.ts';
import { standIn, type StandInOptions } from '../support/vllm/stand-in.ts';
import { recordedServers } from '../vllm/recordings/cases.ts';
import { recording } from '../vllm/recordings/recording.ts';
import { ask, context, idsOf, openAdapter, typed } from './engine-under-test.ts';

const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function adapterOf(family: Family, options: StandInOptions = {}) {
  const server = await standIn(family, options);
  const adapter = openAdapter(server.url, { adapter: VllmEngine, timeoutMs: 60_000 });
  closers.push(async () => {
    await adapter.engine.close();
    await server.close();
  });
  return { ...adapter, server };
}

const shared = new Map<Family, ReturnType<typeof adapterOf>>();

/** One for all tests that only ask: learning takes a while. */
function sharedAdapter(family: Family): ReturnType<typeof adapterOf> {
  const known = shared.get(family) ?? adapterOf(family, { without: ['/tokenizer_info'] });
  shared.set(family, known);
  return known;
}

async function factsOf(engine: Engine) {
  const read = await engine.facts(undefined, context);
  assert.ok(read.known);
  return read.facts;
}

describe('vLLM facts', () => {
  it('say that a model has no template, by the words in which its chats are refused', async () => {
    const message =
      'As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one.';
    const refused = { status: 400, text: JSON.stringify({ error: { message, code: 400 } }) };
    const { engine } = await adapterOf('gemma3', {
      without: ['/tokenizer_info'],
      intercept: (path, body) => (path === '/tokenize' && body.includes('"messages"') ? refused : undefined),
    });
    const facts = await factsOf(engine);
    assert.deepEqual([facts.templateOrigin, facts.roleMarkers], ['none', []]);
    const { engine: whole } = await sharedAdapter('gemma3');
    assert.equal((await factsOf(whole)).templateOrigin, undefined);
  });

  const expected = {
    qwen3: {
      bos: undefined,
      added: [],
      generationPrompt: '<|im_start|>assistant\n',
      thinkTail: '<think>\n\n</think>\n\n',
      user: '<|im_start|>user\n',
      markers: ['<|im_start|>', '<|im_end|>', '<think>', '</think>', '<tool_call>'],
    },
    gemma3: {
      bos: '<bos>',
      added: [2],
      generationPrompt: '<start_of_turn>model\n',
      thinkTail: undefined,
      user: '<start_of_turn>user\n',
      markers: ['<bos>', '<start_of_turn>', '<end_of_turn>'],
    },
    'llama3.1': {
      bos: '<|begin_of_text|>',
      added: [128_000],
      generationPrompt: '<|start_header_id|>assistant<|end_header_id|>\n\n',
      thinkTail: undefined,
      user: '<|start_header_id|>user<|end_header_id|>\n\n',
      markers: ['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
    },
  } as const;

  for (const [family, want] of Object.entries(expected) as [Family, (typeof expected)[Family]][]) {
    it(`are learnt of ${family} by probing`, async () => {
      const { engine } = await adapterOf(family, { without: ['/tokenizer_info'] });
      const facts = await factsOf(engine);
      assert.equal(facts.modelName, family);
      assert.equal(facts.bos?.text, want.bos);
      assert.deepEqual(facts.addedPrefix, { chat: [], completion: want.added });
      assert.equal(facts.generationPrompt?.text, want.generationPrompt);
      assert.equal(facts.thinkTail?.text, want.thinkTail);
      assert.equal(facts.roleMarkers.find(({ role }) => role === 'user')?.opening, want.user);
      const markers = facts.markers.map(({ text }) => text);
      for (const marker of want.markers) assert.ok(markers.includes(marker), marker);
      assert.equal(facts.templateHash, '');
      assert.equal(facts.contextTokens, 32_768);
    });
  }

  it('hold the template and the tokens that the server lists', async () => {
    const info = JSON.parse(recording('qwen3', 'tokenizer-info').text) as object;
    const added_tokens_decoder = { '151645': '<|im_end|>', '151652': '<|vision_start|>' };
    const text = JSON.stringify({ ...info, added_tokens_decoder });
    const intercept = (path: string) => (path === '/tokenizer_info' ? { status: 200, text } : undefined);
    const facts = await factsOf((await adapterOf('qwen3', { intercept })).engine);
    assert.match(facts.templateHash, /^[0-9a-f]{12}$/);
    assert.equal(facts.templateFirstLine, '{%- if tools %}');
    assert.equal(facts.eos?.text, '<|im_end|>');
    assert.ok(facts.markers.some((marker) => marker.text === '<|vision_start|>'));
  });

  it('say where an attribution line does not reach the prompt, by the ids of two lines', async () => {
    const { engine } = await sharedAdapter('qwen3');
    assert.deepEqual((await factsOf(engine)).unreadAttribution, ['openai', 'anthropic', 'responses']);
  });

  it('say so of no route on which the engine feeds the line to the model', async () => {
    const rendered = (path: string, body: string) => {
      if (!path.endsWith('/render')) return undefined;
      // As many ids as the body has bytes, and other ones for another line.
      return { status: 200, text: JSON.stringify({ token_ids: [...Buffer.from(body)] }) };
    };
    const { engine } = await adapterOf('qwen3', { without: ['/tokenizer_info'], intercept: rendered });
    assert.deepEqual((await factsOf(engine)).unreadAttribution, []);
  });

  it('are learnt in few questions, and once', async () => {
    const { engine, server, events } = await adapterOf('qwen3', { without: ['/tokenizer_info'] });
    await Promise.all(Array.from({ length: 10 }, () => engine.facts(undefined, context)));
    assert.equal(events.filter(({ event }) => event === 'facts-learnt').length, 1);
    assert.ok(server.asked.length < 300, `${server.asked.length} questions`);
  });

  it('do without what the server has not', async () => {
    const without = ['/version', '/metrics', '/tokenizer_info'];
    const facts = await factsOf((await adapterOf('qwen3', { without })).engine);
    assert.equal(facts.build, '');
    assert.equal(facts.cacheBlockTokens, undefined);
    assert.ok(facts.markers.length > 0);
  });

  for (const [metrics, want] of [
    [
      'vllm:cache_config_info{block_size="16",enable_prefix_caching="True",user_specified_block_size="False"} 1.0',
      16,
    ],
    ['vllm:cache_config_info{block_size="16",enable_prefix_caching="False"} 1.0', 0],
    ['vllm:cache_config_info{mamba_block_size="64"} 1.0', undefined],
    ['python_info 1.0', undefined],
  ] as const) {
    it(`know blocks of ${String(want)} by ${metrics}`, async () => {
      const server = await standIn('qwen3', { intercept: () => ({ status: 200, text: metrics }) });
      const client = clientOf(server.url);
      closers.push(async () => {
        await client.close();
        await server.close();
      });
      assert.equal((await new VllmOracle(client).metrics(context)).cacheBlockTokens, want);
    });
  }

  it('name no template text that has other ids than it was made of', async () => {
    const intercept = (path: string) =>
      path === '/detokenize' ? { status: 200, text: '{"prompt":"something else"}' } : undefined;
    const facts = await factsOf(
      (await adapterOf('qwen3', { intercept, without: ['/tokenizer_info'] })).engine,
    );
    assert.equal(facts.generationPrompt, undefined);
    assert.deepEqual(facts.roleMarkers, []);
    const markers = facts.markers.map(({ text }) => text);
    // Those of fill-in prompts are looked for whatever the template says.
    assert.deepEqual(markers.toSorted(), ['<|fim_middle|>', '<|fim_prefix|>', '<|fim_suffix|>']);
  });

  it('are unknown for a model that it does not serve, and for a refused key', async () => {
    const { engine } = await sharedAdapter('qwen3');
    assert.deepEqual(await engine.facts('nope', context), { known: false, reason: 'model-not-loaded' });
    const unauthorized = recording('llama3.1', 'unauthorized');
    const refusing = await adapterOf('qwen3', {
      intercept: (path) => (path.startsWith('/v1/') ? unauthorized : undefined),
    });
    assert.deepEqual(await refusing.engine.facts(undefined, context), {
      known: false,
      reason: 'oracle-refused',
      status: 401,
      engineSays: 'Unauthorized',
    });
  });

  it('are learnt again once another model answers', async () => {
    let root = '/models/qwen3';
    const { engine, events } = await adapterOf('qwen3', {
      without: ['/tokenizer_info'],
      intercept: (path) =>
        path === '/v1/models'
          ? {
              status: 200,
              text: JSON.stringify({ data: [{ id: 'qwen3', root, parent: null, max_model_len: 100 }] }),
            }
          : undefined,
    });
    const before = await factsOf(engine);
    root = '/models/other';
    engine.noteReply(503);
    const now = await factsOf(engine);
    assert.notEqual(now.identity, before.identity);
    assert.equal(events.filter(({ event }) => event === 'facts-learnt').length, 2);
  });
});

/** The stand-in does not continue a message; the real one is asked. */
const unknownHere = 'continued';

describe('vLLM ids', () => {
  for (const { family, asked } of recordedServers) {
    for (const [name, { path, body }] of Object.entries(asked)) {
      const kind = path === '/v1/completions' ? 'completion' : 'chat';
      const wanted = recordedIds(family, name, path);
      if (body === undefined || wanted.length === 0 || name.includes(unknownHere)) continue;
      it(`of ${family} are those that the recorded reply says: ${name}`, async () => {
        const { engine } = await sharedAdapter(family);
        const read = await ask(engine, typed(kind, body));
        assert.ok('prompts' in read);
        const ids = read.prompts.map((prompt) => (prompt.known ? [...prompt.ids] : prompt.reason));
        assert.deepEqual(ids, wanted);
      });
    }
  }

  const text = '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n';

  it('are asked for once, in one call for what is new', async () => {
    const { engine, server, counted } = await sharedAdapter('qwen3');
    const turn = await idsOf(engine, typed('completion', { prompt: text }));
    const [before, countedBefore] = [server.asked.length, { ...counted }];
    const next = await idsOf(engine, typed('completion', { prompt: `${text}Hello<|im_end|>\n${text}` }));
    assert.deepEqual(next.slice(0, turn.length), turn);
    const asked = server.asked.slice(before).filter((one) => one === 'POST /tokenize');
    assert.ok(asked.length <= 2, 'one question, and perhaps the sampled check');
    assert.ok(counted.cache - countedBefore.cache > 0);
  });

  it('are tokenized one by one where the joined texts come back otherwise', async () => {
    const joined = typed('completion', { prompt: text });
    const right = await idsOf((await sharedAdapter('qwen3')).engine, joined);
    // An engine that reads only the first marker of a text of ours as one: the pieces are not what they must be.
    let doubting = false;
    const { engine } = await adapterOf('qwen3', {
      without: ['/tokenizer_info'],
      intercept: (path, body) =>
        doubting && path === '/tokenize' && body.includes('Hi') && body.includes('assistant')
          ? { status: 200, text: '{"count":2,"max_model_len":32768,"tokens":[151644,151644]}' }
          : undefined,
    });
    await factsOf(engine);
    doubting = true;
    assert.deepEqual(await idsOf(engine, joined), right);
  });

  const unknowns = {
    'embeddings before the text': [{ prompt: 'Hi', prompt_embeds: 'AAAA' }, 'engine-cannot'],
    'a prompt cut to nothing, which it refuses': [
      { prompt: 'One, two, three', truncate_prompt_tokens: 0 },
      'engine-cannot',
    ],
    'a prompt cut at a side that there is not': [
      { prompt: 'One, two, three', truncate_prompt_tokens: 2, truncation_side: 'middle' },
      'engine-cannot',
    ],
    'a mixed prompt, which it refuses': [{ prompt: ['Hi', 3966] }, 'engine-cannot'],
    'ids that are none before they are cast': [{ prompt: [2 ** 32 + 3966] }, 'unreadable-body'],
    'a text before a NUL, which ends the body elsewhere': ['{"prompt":"Hi"}\0', 'unreadable-body'],
  } as const;
  for (const [name, [body, reason]] of Object.entries(unknowns)) {
    it(`are unknown: ${name}`, async () => {
      const read = await ask((await sharedAdapter('qwen3')).engine, typed('completion', body));
      assert.ok('prompts' in read);
      assert.deepEqual(read.prompts, [{ known: false, reason }]);
      assert.deepEqual(read.heads, [{ known: false, reason }]);
    });
  }

  it('are known of a prompt that is shorter than it would be cut to', async () => {
    const { engine } = await sharedAdapter('qwen3');
    const body = { prompt: 'One, two', truncate_prompt_tokens: 3 };
    assert.deepEqual(await idsOf(engine, typed('completion', body)), [3966, 11, 1378]);
  });

  it('are unknown of a chat before a NUL, which ends the body elsewhere', async () => {
    const { engine } = await sharedAdapter('qwen3');
    const read = await ask(engine, typed('chat', `${JSON.stringify({ messages: Q })}\0`));
    assert.ok('prompts' in read);
    assert.deepEqual(read.prompts, [{ known: false, reason: 'unreadable-body' }]);
  });

  for (const [name, body, ids, cut] of [
    ['its end, by itself', {}, [11, 2380], 'start'],
    ['its end', { truncation_side: 'left' }, [11, 2380], 'start'],
    ['its start', { truncation_side: 'right' }, [128_000, 4054], 'end'],
  ] as const) {
    it(`are ${name} of a prompt that is cut`, async () => {
      const { engine } = await sharedAdapter('llama3.1');
      const prompt = [128_000, 4054, 11, 1403, 11, 2380];
      const read = await ask(engine, typed('completion', { prompt, truncate_prompt_tokens: 2, ...body }));
      assert.ok('prompts' in read);
      assert.deepEqual(read.prompts, [{ known: true, ids: Uint32Array.from(ids), source: 'client', cut }]);
      assert.deepEqual(read.heads, [{ known: true, ids, added: { ids: [], by: 'route' }, cut }]);
    });
  }

  it('are cut to the context less one id where no number is said', async () => {
    const { engine } = await sharedAdapter('llama3.1');
    const prompt = Array<number>(32_769).fill(11);
    const ids = await idsOf(engine, typed('completion', { prompt, truncate_prompt_tokens: -1 }));
    assert.equal(ids.length, 32_767);
  });

  it('are asked for with reasoning by the name that the question knows, as the chat route renames it', async () => {
    const asked: string[] = [];
    const { engine } = await adapterOf('qwen3', {
      without: ['/tokenizer_info'],
      intercept: (path, body) => {
        if (path !== '/tokenize' || !body.includes('"content":"b"')) return undefined;
        asked.push(body);
        return { status: 200, text: JSON.stringify({ count: 1, max_model_len: 32_768, tokens: [1] }) };
      },
    });
    const user = '{"role":"user","content":"a"}';
    for (const [given, reasoning] of [
      ['"reasoning_content":"H\\u006d \\"x\\"."', 'Hm "x".'],
      ['"reasoning_content":"Hm.","reasoning":"So."', 'So.'],
      ['"reasoning":"So.","reasoning_content":"Hm."', 'So.'],
      ['"reasoning_content":null', undefined],
    ]) {
      const body = `{"messages":[${user},{"role":"assistant","content":"b",${given}},${user}]}`;
      assert.deepEqual(await idsOf(engine, typed('chat', body)), [1]);
      const { messages } = JSON.parse(asked.splice(0)[0] ?? '') as { messages: { reasoning?: string }[] };
      assert.equal(messages[1]?.reasoning, reasoning);
    }
  });

  it('are asked for with a small picture in the place of each, and nothing else changed', async () => {
    const asked: string[] = [];
    const answer = { count: 3, max_model_len: 32_768, tokens: [1, 2, 3] };
    const { engine } = await adapterOf('qwen3', {
      without: ['/tokenizer_info'],
      intercept: (path, body) => {
        if (path !== '/tokenize' || !body.includes('image_url')) return undefined;
        asked.push(body);
        return { status: 200, text: JSON.stringify(answer) };
      },
    });
    const at = (url: string): string =>
      `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"${url}"}}]}],"tools":[{"x":1.50}]}`;
    const large = `data:image/png;base64,${'A'.repeat(2 ** 21)}`;
    await factsOf(engine);
    asked.length = 0;
    for (const url of ['http://pictures.example/a.png', 'data:image/png;base64,AAAA', large]) {
      assert.deepEqual(await idsOf(engine, typed('chat', at(url))), [1, 2, 3]);
      const [first = '', ...others] = asked.splice(0);
      assert.deepEqual(others, []);
      const small = /"url":"(data:image\/png;base64,[^"]{1,300})"/.exec(first)?.[1] ?? '';
      assert.notEqual(small, url);
      assert.equal(first, at(small).replace(/\}$/, ',"return_token_strs":true}'));
    }
  });

  it('are unknown of media for which nothing stands in, or that are cut, and nothing is asked', async () => {
    const { engine, server } = await sharedAdapter('qwen3');
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const video = { type: 'video_url', video_url: { url: 'http://pictures.example/a.mp4' } };
    await factsOf(engine);
    const before = server.asked.length;
    for (const body of [
      { messages: [{ role: 'user', content: [image, video] }] },
      { messages: [{ role: 'user', content: [image] }], truncate_prompt_tokens: 4 },
    ]) {
      const read = await ask(engine, typed('chat', body));
      assert.ok('prompts' in read);
      assert.deepEqual(read.prompts, [{ known: false, reason: 'media' }]);
    }
    assert.equal(server.asked.length, before);
  });

  it('are unknown where the engine refuses the chat', async () => {
    const refused = recording('qwen3', 'tokenize-image');
    const { engine } = await adapterOf('qwen3', {
      without: ['/tokenizer_info'],
      intercept: (path, body) => (path === '/tokenize' && body.includes('terse') ? refused : undefined),
    });
    const read = await ask(engine, typed('chat', { messages: Q }));
    assert.ok('prompts' in read);
    assert.deepEqual(read.prompts, [
      {
        known: false,
        reason: 'oracle-refused',
        status: 400,
        engineSays: 'qwen3 is not a multimodal model',
      },
    ]);
  });

  it('have a head with the BOS that the engine adds, unless it is told not to', async () => {
    const { engine } = await sharedAdapter('llama3.1');
    const heads = async (body: object) => {
      const read = await ask(engine, typed('completion', { prompt: '<|begin_of_text|>Hi', ...body }));
      assert.ok('heads' in read);
      return read.heads.map((head) => head.known && [head.ids, head.added?.ids, head.added?.by]);
    };
    assert.deepEqual(await heads({}), [[[128_000, 128_000], [128_000], 'route']]);
    assert.deepEqual(await heads({ add_special_tokens: true }), [[[128_000, 128_000], [128_000], 'request']]);
    assert.deepEqual(await heads({ add_special_tokens: false }), [[[128_000], [], 'route']]);
  });
});

describe('vLLM ids of conversations that are no chat', () => {
  const turns = (role: string) => [
    { role: 'user', content: 'Hi' },
    { role: 'system', content: 'B.' },
    { role, content: 'Yo' },
    ...(role === 'user' ? [] : [{ role: 'user', content: 'And?' }]),
  ];
  const without = ['/tokenizer_info'];
  const messagesOf = (model: string, body: object) => typed('messages', { model, max_tokens: 2, ...body });

  it('have instructions between turns at the start where the template takes them nowhere else', async () => {
    const refused = recording('qwen3', 'tokenize-image');
    const isBetween = /"role":"user"[^\]]*"role":"system"/;
    const { engine } = await adapterOf('qwen3', {
      without,
      intercept: (path, body) => (path === '/tokenize' && isBetween.test(body) ? refused : undefined),
    });
    const said = turns('assistant');
    const ids = await idsOf(engine, messagesOf('qwen3', { system: 'A.', messages: said }));
    const moved = [{ role: 'system', content: 'A.B.' }, ...said.filter(({ role }) => role !== 'system')];
    assert.deepEqual(ids, await idsOf(engine, typed('chat', { messages: moved })));
  });

  it('have them where they stand where the template takes them there', async () => {
    const { engine, server } = await sharedAdapter('qwen3');
    const said = turns('user');
    const ids = await idsOf(engine, messagesOf('qwen3', { messages: said }));
    assert.deepEqual(ids, await idsOf(engine, typed('chat', { messages: said })));
    const before = server.asked.length;
    await idsOf(engine, messagesOf('qwen3', { messages: said }));
    const tokenized = server.asked.slice(before).filter((one) => one === 'POST /tokenize');
    assert.equal(tokenized.length, 1, 'the template is tried once');
  });

  it('take thinking that is off for the effort that the template knows', async () => {
    const off = { thinking: { type: 'disabled' }, messages: [{ role: 'user', content: 'Hi' }] };
    const { engine } = await sharedAdapter('qwen3');
    const [thinking, quiet] = await Promise.all(
      [{}, { chat_template_kwargs: { enable_thinking: false } }].map((kwargs) =>
        idsOf(engine, typed('chat', { messages: off.messages, ...kwargs })),
      ),
    );
    assert.deepEqual(await idsOf(engine, messagesOf('qwen3', off)), quiet);
    assert.notDeepEqual(quiet, thinking);
  });

  it('are the route’s own where it renders, until that is switched off', async () => {
    let rendering = true;
    const off = recording('llama3.1', 'render-off');
    const { engine, server } = await adapterOf('qwen3', {
      without,
      intercept: (path) =>
        path.endsWith('/render')
          ? rendering
            ? { status: 200, text: '{"token_ids":[1,2,3]}' }
            : off
          : undefined,
    });
    const bodies = {
      chat: typed('chat', { messages: Q }),
      messages: messagesOf('qwen3', { messages: Q.slice(1) }),
      responses: typed('responses', { input: 'Hi' }),
    };
    for (const body of Object.values(bodies)) assert.deepEqual(await idsOf(engine, body), [1, 2, 3]);
    const { input_messages: said } = JSON.parse(recording('qwen3', 'responses-messages').text) as {
      input_messages: { tokens: number[] }[];
    };
    const responded = said[0]?.tokens;
    rendering = false;
    const before = server.asked.length;
    for (let turn = 0; turn < 3; turn += 1) {
      assert.equal((await idsOf(engine, bodies.chat)).length, 25);
      assert.deepEqual(await idsOf(engine, bodies.responses), responded);
      assert.equal((await idsOf(engine, bodies.messages)).length, 16);
    }
    const asked = server.asked.slice(before).filter((one) => one.endsWith('/render'));
    assert.equal(asked.length, 3, 'each endpoint once: it is not asked again for a while');
  });

  it('are asked for otherwise where the rendering refuses a body', async () => {
    const refused = recording('qwen3', 'tokenize-image');
    const { engine, server } = await adapterOf('qwen3', {
      without,
      intercept: (path) => (path.endsWith('/render') ? refused : undefined),
    });
    await factsOf(engine);
    const before = server.asked.length;
    for (let turn = 0; turn < 2; turn += 1) {
      assert.equal((await idsOf(engine, typed('chat', { messages: Q }))).length, 25);
    }
    const asked = server.asked.slice(before).filter((one) => one.endsWith('/render'));
    assert.equal(asked.length, 2, 'it is asked again: it refuses the body, not the question');
  });

  for (const [name, kind, body] of [
    ['an earlier response', 'responses', { input: 'Hi', previous_response_id: 'resp_1' }],
    ['an unknown block', 'messages', { messages: [{ role: 'user', content: [{ type: 'martian' }] }] }],
    ['ids beside the messages', 'messages', { messages: Q, kv_transfer_params: { prompt_token_ids: [1] } }],
  ] as const) {
    it(`are unknown: ${name}`, async () => {
      const { engine } = await sharedAdapter('qwen3');
      const read = await ask(engine, typed(kind, { model: 'qwen3', ...body }));
      assert.ok('prompts' in read);
      assert.deepEqual(read.prompts, [{ known: false, reason: 'engine-cannot' }]);
    });
  }
});

describe('vLLM replies', () => {
  const counts = (name: string, stream: boolean) => {
    const { sent, path, text: reply } = recording('qwen3', name);
    const kind = path === '/v1/completions' ? 'completion' : 'chat';
    const reader = new VllmEngine({
      client: clientOf('http://127.0.0.1:9'),
      segmentCacheBytes: 1024,
      digestKey: new Uint8Array(32),
      onEvent: () => undefined,
      onTokenized: () => undefined,
    }).replyReader({ kind, inspected: true, dialect: 'openai' }, typed(kind, sent ?? {}), {
      retainedBytes: 1 << 20,
    });
    reader.start(200, stream ? 'text/event-stream; charset=utf-8' : 'application/json', '');
    reader.push(Buffer.from(reply));
    const read = reader.end(false);
    assert.ok(read.complete);
    return read.choices.map(({ promptTokens, cachedTokens, completionTokens }) => [
      promptTokens,
      cachedTokens,
      completionTokens,
    ]);
  };
  const none = [undefined, undefined, undefined];

  it('tell the counts of one prompt and one choice, cached ones where the server tells them', () => {
    assert.deepEqual(counts('chat', false), [[25, 0, 2]]);
    assert.deepEqual(counts('chat-stream-usage', true), [[25, 0, 2]]);
    assert.deepEqual(counts('completion-stream', true), [[3, 0, 2]]);
    assert.deepEqual(counts('completion-cached', false), [[40, 32, 2]]);
  });

  it('tell none in a stream that was not asked for usage', () => {
    assert.deepEqual(counts('chat-stream', true), [none]);
  });

  it('tell no sum over prompts or choices as if it were one’s own', () => {
    assert.deepEqual(counts('completion-list', false), [none, none]);
    assert.deepEqual(counts('completion-n2', false), [none, none, none, none]);
    assert.deepEqual(counts('completion-n2-stream', true), [none, none, none, none]);
    assert.deepEqual(counts('chat-n2', false), [[25, 0, undefined], none]);
  });
});

describe('an engine that is asked what it is', () => {
  const recognised = async (options: StandInOptions): Promise<string> => {
    const server = await standIn('qwen3', options);
    const engine = openEngine({
      kind: 'auto',
      client: clientOf(server.url),
      segmentCacheBytes: 1 << 20,
      digestKey: new Uint8Array(32),
      onEvent: () => undefined,
      onTokenized: () => undefined,
    });
    closers.push(async () => {
      await engine.close();
      await server.close();
    });
    await engine.facts(undefined, context);
    return engine.kind;
  };

  it('is known by what /tokenize answers, whatever else it has', async () => {
    assert.equal(await recognised({ without: ['/version', '/metrics', '/tokenizer_info'] }), 'vllm');
  });

  it('is not this one if it answers otherwise', async () => {
    assert.equal(await recognised({ without: ['/tokenize'] }), 'unrecognised');
    const other = { status: 200, text: '{"tokens":[1,2]}' };
    const intercept = (path: string) => (path === '/tokenize' ? other : undefined);
    assert.equal(await recognised({ intercept }), 'unrecognised');
  });
});

function clientOf(origin: string): OracleClient {
  return new OracleClient({
    origin,
    basePath: '',
    tls: { rejectUnauthorized: true },
    concurrency: () => 4,
    timeoutMs: () => 60_000,
  });
}

/** The ids that a recorded reply says the model was given, by prompt; [] if it says none. */
function recordedIds(family: Family, name: string, path: string): number[][] {
  if (path !== '/v1/completions' && path !== '/v1/chat/completions') return [];
  const { status, sent, text: reply } = recording(family, name);
  if (status !== 200 || sent?.['return_token_ids'] !== true || sent['stream'] === true) return [];
  const body = JSON.parse(reply) as {
    prompt_token_ids?: number[];
    choices: { prompt_token_ids?: number[] | null }[];
  };
  if (body.prompt_token_ids !== undefined) return [body.prompt_token_ids];
  const copies = typeof sent['n'] === 'number' ? sent['n'] : 1;
  return body.choices
    .filter((_, index) => index % copies === 0)
    .map(({ prompt_token_ids: ids }) => ids ?? []);
}
