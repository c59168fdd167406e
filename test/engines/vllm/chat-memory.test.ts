// Chats whose texts were seen before are asked for abbreviated; the ids stay those of the whole, and what can't be put
// together is asked for whole.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { VllmEngine } from '../../../src/engines/vllm.ts';
import { eventually } from '../../support/exchanges.ts';
import { standIn } from '../../support/vllm/stand-in.ts';
import { context, idsOf, openAdapter, typed } from '../engine-under-test.ts';

interface Message {
  readonly role: string;
  readonly content: string;
}

const long = (name: string): string =>
  `${name} and 'quoted' words, naïve 漢字 👋, line\nbreaks.  `.repeat(12);
const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function open() {
  /** Bodies of `/tokenize` about chats, but for those that learn facts. */
  const asked: string[] = [];
  let lies = false;
  const server = await standIn('qwen3', {
    without: ['/tokenizer_info'],
    intercept: (path, body) => {
      if (path !== '/tokenize' || !body.includes('"Text 0 ')) return undefined;
      asked.push(body);
      return lies ? { status: 400, text: '{"error":{"message":"no","type":"BadRequestError"}}' } : undefined;
    },
  });
  const adapter = openAdapter(server.url, { adapter: VllmEngine, timeoutMs: 60_000 });
  const reference = openAdapter(server.url, { adapter: VllmEngine, timeoutMs: 60_000 });
  closers.push(async () => {
    await adapter.engine.close();
    await reference.engine.close();
    await server.close();
  });
  assert.ok((await adapter.engine.facts(undefined, context)).known);
  return {
    ...adapter,
    asked,
    /** By `/tokenize` itself, which the adapter's memory has no part in. */
    whole: async (body: object): Promise<number[]> => {
      const reply = await fetch(`${server.url}/tokenize`, { method: 'POST', body: JSON.stringify(body) });
      return ((await reply.json()) as { tokens: number[] }).tokens;
    },
    refuse: (refusing: boolean) => {
      lies = refusing;
    },
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Asks, and waits until what it teaches is learnt once a reply has begun: `questions` more of them came. */
async function read({ engine, asked }: Opened, body: object, questions: number): Promise<number[]> {
  const before = asked.length;
  const ids = await idsOf(engine, typed('chat', body));
  engine.noteReply(200);
  await eventually(() => asked.length >= before + questions, `${questions} questions`);
  return ids;
}

const conversation = (turns: number): Message[] =>
  Array.from({ length: 2 * turns - 1 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: long(`Text ${index}`),
  }));

describe('chats that vLLM has rendered before', () => {
  it('are asked for abbreviated but for what is new, and have the ids of the whole', async () => {
    const opened = await open();
    const { asked, whole, counted } = opened;
    for (let turns = 8; turns <= 11; turns += 1) {
      const messages = conversation(turns);
      const before = counted.engine;
      const ids = await read(opened, { messages }, 2);
      const expected = await whole({ messages });
      asked.pop();
      assert.deepEqual(ids, expected);
      if (turns > 8) assert.ok(counted.engine - before < 0.35 * ids.length);
    }
    // Two texts are new in each turn, and asked for as they are.
    const [last = '', learning = ''] = asked.slice(-2);
    const occurrences = (body: string): number => body.split('Text').length - 1;
    assert.ok(last.length > learning.length);
    assert.ok(occurrences(last) > occurrences(learning));
  });

  it('are learnt only when a reply has begun: the engine works on the request first', async () => {
    const opened = await open();
    const { engine, asked } = opened;
    const messages = conversation(6);
    await idsOf(engine, typed('chat', { messages }));
    await idsOf(engine, typed('chat', { messages }));
    const whole = JSON.stringify({ messages, return_token_strs: true });
    assert.deepEqual(asked, [whole, whole]);
    engine.noteReply(200);
    await eventually(() => asked.length === 4, 'what both teach');
  });

  it('are asked for whole where a text was changed, and then known too', async () => {
    const opened = await open();
    const messages = conversation(6);
    await read(opened, { messages }, 2);
    const edited = messages.map((one, index) => (index === 2 ? { ...one, content: long('Edited') } : one));
    assert.deepEqual(await read(opened, { messages: edited }, 2), await opened.whole({ messages: edited }));
  });

  it('keep texts that a template may take apart', async () => {
    const opened = await open();
    const tags = `<think>${long('Thought')}</think>${long('Answer')}`;
    const messages = [
      ...conversation(6),
      { role: 'assistant', content: tags },
      { role: 'user', content: 'So?' },
    ];
    for (let time = 0; time < 2; time += 1) {
      const ids = await read(opened, { messages }, 1);
      assert.deepEqual(ids, await opened.whole({ messages }));
    }
    for (const body of opened.asked) assert.ok(body.includes(JSON.stringify(tags)));
  });

  it('may stand behind a byte order mark', async () => {
    const opened = await open();
    const messages = conversation(6);
    const ids = await idsOf(opened.engine, typed('chat', `\ufeff${JSON.stringify({ messages })}`));
    assert.deepEqual(ids, await opened.whole({ messages }));
  });

  it('are asked for as they are where the engine refuses them: the refusal is its own', async () => {
    const opened = await open();
    const messages = conversation(6);
    await read(opened, { messages }, 2);
    opened.refuse(true);
    await assert.rejects(idsOf(opened.engine, typed('chat', { messages })), /oracle-refused/);
    assert.equal(opened.asked.at(-1), JSON.stringify({ messages, return_token_strs: true }));
  });

  it('are learnt anew where the template makes other segments of them', async () => {
    const opened = await open();
    const messages = conversation(6);
    const off = { messages, chat_template_kwargs: { enable_thinking: false } };
    const thinking = messages.map((one, index) => (index === 1 ? { ...one, reasoning_content: 'Hm.' } : one));
    for (const body of [{ messages }, off, { messages: thinking }, { messages }]) {
      assert.deepEqual(await read(opened, body, 1), await opened.whole(body));
    }
  });

  it('are asked for whole once the engine has contradicted what was remembered', async () => {
    const opened = await open();
    const { engine } = opened;
    const messages = conversation(6);
    await read(opened, { messages }, 2);
    const facts = await engine.facts(undefined, context);
    assert.ok(facts.known);
    engine.noteCount(facts.facts, 'chat', false);
    const before = opened.asked.length;
    await idsOf(engine, typed('chat', { messages }));
    assert.deepEqual(opened.asked.slice(before), [JSON.stringify({ messages, return_token_strs: true })]);
    assert.ok(opened.events.some(({ event }) => event === 'memoising-off'));
  });
});
