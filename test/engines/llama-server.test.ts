import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';

import fc from 'fast-check';

import { eventually } from '../support/exchanges.ts';
import { gatedEngine } from '../support/gated-engine.ts';
import { realEngine } from '../support/real-engine.ts';
import { Q, S, getWeather } from '../support/conversations.ts';
import { postJson } from '../support/post-json.ts';
import { ask, context, idsOf, openAdapter, typed } from './engine-under-test.ts';

const families = {
  qwen3: await realEngine('qwen3'),
  gemma3: await realEngine('gemma3'),
  'llama3.1': await realEngine('llama3.1'),
};
const { skip } = families.qwen3;

const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function adapterOf(family: keyof typeof families) {
  const { url } = await families[family].server();
  const adapter = openAdapter(url);
  closers.push(() => adapter.engine.close());
  return { ...adapter, url };
}

describe('llama-server facts', { skip }, () => {
  const expected = {
    qwen3: {
      bos: undefined,
      addedPrefix: [],
      generationPrompt: '<|im_start|>assistant\n',
      thinkTail: '<think>\n\n</think>\n\n',
      user: '<|im_start|>user\n',
      turnEnds: ['<|im_end|>'],
      tool: '<|im_start|>user\n<tool_response>\n',
      control: ['<|im_start|>', '<|im_end|>'],
      foreign: ['<start_of_turn>', '<|eot_id|>'],
      markers: ['<|im_start|>', '<|im_end|>', '<think>', '</think>', '<tool_call>'],
    },
    gemma3: {
      bos: '<bos>',
      addedPrefix: [2],
      generationPrompt: '<start_of_turn>model\n',
      thinkTail: undefined,
      user: '<start_of_turn>user\n',
      turnEnds: ['<end_of_turn>'],
      // Its template refuses the roles of a tool loop.
      tool: undefined,
      control: ['<bos>', '<start_of_turn>', '<end_of_turn>', '<start_of_image>'],
      foreign: ['<|im_start|>', '[INST]'],
      markers: ['<bos>', '<start_of_turn>', '<end_of_turn>'],
    },
    'llama3.1': {
      bos: '<|begin_of_text|>',
      addedPrefix: [128000],
      generationPrompt: '<|start_header_id|>assistant<|end_header_id|>\n\n',
      thinkTail: undefined,
      user: '<|start_header_id|>user<|end_header_id|>\n\n',
      turnEnds: ['<|eot_id|>'],
      tool: '<|start_header_id|>tool<|end_header_id|>\n\n',
      control: ['<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
      foreign: ['<|im_start|>', '<start_of_turn>'],
      markers: ['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
    },
  } as const;

  for (const [family, want] of Object.entries(expected)) {
    it(`learns ${family} by probing`, async () => {
      const { engine } = await adapterOf(family as keyof typeof expected);
      const { url } = await families[family as keyof typeof expected].server();
      const read = await engine.facts(undefined, context);
      assert.ok(read.known);
      const { facts } = read;
      assert.equal(facts.bos?.text, want.bos);
      assert.deepEqual(facts.addedPrefix.completion, want.addedPrefix);
      assert.equal(facts.generationPrompt?.text, want.generationPrompt);
      assert.equal(facts.thinkTail?.text, want.thinkTail);
      assert.equal(facts.roleMarkers.find(({ role }) => role === 'user')?.opening, want.user);
      const markers = facts.markers.map(({ text }) => text);
      for (const marker of want.markers) assert.ok(markers.includes(marker), marker);
      const absent = new Map(facts.absentMarkers?.map(({ text, tokens }) => [text, tokens]));
      for (const marker of want.markers) assert.ok(!absent.has(marker), marker);
      for (const marker of want.foreign) {
        assert.ok(!markers.includes(marker), marker);
        const question = { content: marker, add_special: false, parse_special: true };
        const { body } = await postJson<{ tokens: number[] }>(`${url}/tokenize`, question);
        assert.equal(absent.get(marker), body.tokens.length, marker);
      }
      const kinds = new Map(facts.markers.map(({ text, kind }) => [text, kind]));
      for (const marker of want.control) assert.equal(kinds.get(marker), 'control', marker);
      for (const marker of ['<think>', '<tool_call>', '<tool_response>'])
        assert.equal(kinds.get(marker), family === 'qwen3' ? 'user-defined' : undefined, marker);
      assert.deepEqual(facts.turnEnds, want.turnEnds);
      assert.equal(facts.userTurnEnd, want.turnEnds[0]);
      assert.equal(facts.roleMarkers.find(({ role }) => role === 'tool')?.opening, want.tool);
      assert.ok(facts.contextTokens > 0);
      assert.equal(facts.templateWritesDate, false);
    });
  }

  it('learns once for many requests at once', async () => {
    const { engine, events } = await adapterOf('qwen3');
    await Promise.all(Array.from({ length: 10 }, () => engine.facts(undefined, context)));
    assert.equal(events.filter(({ event }) => event === 'facts-learnt').length, 1);
  });
});

describe('llama-server token truth', { skip }, () => {
  it('Qwen3, Q, chat: 25 ids', async () => {
    const { engine } = await adapterOf('qwen3');
    const ids = await idsOf(engine, typed('chat', { messages: Q }));
    assert.equal(ids.length, 25);
    assert.deepEqual(ids.slice(0, 9), [151644, 8948, 198, 2610, 525, 50537, 13, 151645, 198]);
  });

  it('Qwen3, Q with a tool: 168 ids', async () => {
    const { engine } = await adapterOf('qwen3');
    assert.equal((await idsOf(engine, typed('chat', { messages: Q, tools: [getWeather] }))).length, 168);
  });

  it('Gemma 3, Q, chat: 22 ids with one BOS', async () => {
    const { engine } = await adapterOf('gemma3');
    const ids = await idsOf(engine, typed('chat', { messages: Q }));
    assert.equal(ids.length, 22);
    assert.deepEqual(ids.slice(0, 3), [2, 105, 2364]);
  });

  it('Gemma 3, a client’s rendering with BOS: its head shows two without tokenizing the prompt', async () => {
    const { engine, counted } = await adapterOf('gemma3');
    const prompt = '<bos><start_of_turn>user\nHello<end_of_turn>\n<start_of_turn>model\n';
    const request = typed('completion', { prompt });
    const facts = await engine.facts(undefined, context);
    assert.ok(facts.known);
    const before = counted.engine;
    const [head] = await engine.read(request, facts.facts, context).heads();
    assert.ok(head?.known);
    assert.deepEqual(head.ids.slice(0, 3), [2, 2, 105]);
    assert.equal(counted.engine, before);
  });

  it('reads every prompt form as the engine does', async () => {
    const { engine, url } = await adapterOf('gemma3');
    for (const prompt of [
      'Hello',
      [2, 105, 2364],
      [2, 'Hello', 5, 'you'],
      ['Hello', 5, '<start_of_turn>'],
      ['a', 'b c'],
      [[1, 2], [3]],
      { prompt_string: 'Hello' },
      [{ prompt_string: 'a' }, 'b', [5]],
      '',
      ['', 5],
    ]) {
      const read = await ask(engine, typed('completion', { prompt }));
      assert.ok('prompts' in read);
      const ours = read.prompts.map((one) => (one.known ? one.ids.length : -1));
      const { body: answer } = await postJson<unknown>(`${url}/completion`, { prompt, n_predict: 1 });
      const items = (Array.isArray(answer) ? answer : [answer]) as { tokens_evaluated: number }[];
      assert.deepEqual(
        ours,
        items.map((item) => item.tokens_evaluated),
        JSON.stringify(prompt),
      );
    }
  });

  it('a turn asks only for what is new', async () => {
    const { engine, counted } = await adapterOf('qwen3');
    const earlier = await idsOf(engine, typed('chat', { messages: S[1] }));
    const before = counted.engine;
    const ids = await idsOf(engine, typed('chat', { messages: S[2] }));
    assert.equal(ids.length, 59);
    assert.ok(
      counted.engine - before <= ids.length - earlier.length,
      `${counted.engine - before} tokens asked`,
    );
  });

  it('what a turn brings is tokenized while it is rendered, and has the ids of whole tokenization', async () => {
    const { url } = await families.qwen3.server();
    const gated = await gatedEngine(url);
    const { engine, counted } = openAdapter(gated.url);
    closers.push(async () => {
      await engine.close();
      await gated.close();
    });
    const messages = Array.from({ length: 9 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `Text ${index} of a conversation, naïve 漢字.`,
    }));
    for (const turns of [5, 7]) await idsOf(engine, typed('chat', { messages: messages.slice(0, turns) }));
    const before = { asked: gated.count('/tokenize'), tokens: counted.engine };
    const gate = gated.hold('/apply-template');
    const reading = idsOf(engine, typed('chat', { messages }));
    await gate.reached;
    await eventually(() => gated.count('/tokenize') > before.asked, 'a question before the rendering');
    gate.open();
    const ids = await reading;
    const { body: rendered } = await postJson<{ prompt: string }>(`${url}/apply-template`, { messages });
    const { body: whole } = await postJson<{ tokens: number[] }>(`${url}/tokenize`, {
      content: rendered.prompt,
      parse_special: true,
    });
    assert.deepEqual(ids, whole.tokens);
    // A window that is checked is one text, and may be any.
    const asked = gated.bodies('/tokenize').slice(before.asked).map(String);
    const several = asked.filter((body) => body.startsWith('{"content":['));
    const texts = messages.slice(-2).map(({ content }) => content);
    for (const text of texts) assert.equal(several.filter((body) => body.includes(text)).length, 1);
    assert.ok(counted.engine - before.tokens < 0.5 * ids.length);
  });

  const piece = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom(
      ' ',
      '  ',
      '\n',
      '\n\n',
      '\n\n\n',
      '\t',
      '漢字',
      '🙂👩‍👩‍👧',
      '<|im_start|',
      '<bos',
      'user',
      "don't",
      '12345',
      '<start_of_turn>',
      '<|im_end|>',
      '<think>',
      '</think>',
      '<|eot_id|>',
      '<end_of_turn>',
      '<bos>',
      '\u0000',
    ),
  );
  for (const family of ['qwen3', 'gemma3', 'llama3.1'] as const) {
    it(`${family}: ids by segments equal whole tokenization, whatever the text`, async () => {
      const { engine, url, events } = await adapterOf(family);
      await fc.assert(
        fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
          const prompt = pieces.join('');
          const ours = await idsOf(engine, typed('completion', { prompt }));
          const { body: whole } = await postJson<{ tokens: number[] }>(`${url}/tokenize`, {
            content: prompt,
            add_special: true,
            parse_special: true,
          });
          assert.deepEqual(ours, whole.tokens);
        }),
        { numRuns: 150 },
      );
      assert.ok(!events.some(({ event }) => event === 'memoising-off'));
    });
  }
});
