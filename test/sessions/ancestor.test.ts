// Which turn a prompt grew from, in the traffic that is easily misread: other conversations, branches, side requests.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/exchange/request/request.ts';
import {
  assistant,
  Conversations,
  getTime,
  getWeather,
  render,
  system,
  terseTurns,
  tokenize,
  user,
  type Visit,
} from '../support/qwen3-sessions.ts';

const [first, second, third] = terseTurns;
const titleSystem = {
  role: 'system',
  content: 'Write a short title for the conversation that follows, in five words.',
};
const rawTurns = (...texts: string[]): string =>
  texts
    .map((text, index) => `<|im_start|>${index % 2 === 0 ? 'user' : 'assistant'}\n${text}<|im_end|>\n`)
    .join('') + '<|im_start|>assistant\n';

function accusations(visits: readonly Visit[]): unknown[] {
  return visits.flatMap(({ findings }) => findings.map(({ cause, lostTokens }) => [cause, lostTokens]));
}
const sequenceOf = (visit: Visit): number => visit.exchange.session!.sequence;
const ancestorOf = (visit: Visit): number | undefined => visit.exchange.session!.ancestor?.sequence;

describe('best ancestor', () => {
  it('keeps two interleaved conversations of one client apart', async () => {
    const conversations = new Conversations();
    const other = (turns: readonly JsonObject[]): JsonObject[] => [system, user('Name a river.'), ...turns];
    const visits = [
      await conversations.chat({ messages: first }),
      await conversations.chat({ messages: other([]) }),
      await conversations.chat({ messages: second }),
      await conversations.chat({ messages: other([assistant('Oder.'), user('Another?')]) }),
    ];
    assert.deepEqual(accusations(visits), []);
    assert.equal(ancestorOf(visits[2]!), sequenceOf(visits[0]!));
    assert.equal(ancestorOf(visits[3]!), sequenceOf(visits[1]!));
    assert.notEqual(visits[2]!.exchange.session!.session, visits[3]!.exchange.session!.session);
  });

  it('keeps them apart also under one session key', async () => {
    const conversations = new Conversations();
    const visits = [
      await conversations.chat({ messages: first }, { key: 'one' }),
      await conversations.chat({ messages: [system, user('Name a river.')] }, { key: 'one' }),
      await conversations.chat({ messages: second }, { key: 'one' }),
    ];
    assert.deepEqual(accusations(visits), []);
    assert.equal(ancestorOf(visits[2]!), sequenceOf(visits[0]!));
    assert.equal(conversations.store.count, 1);
  });

  it('takes a history that was cut at its front for another conversation, named or not', async () => {
    for (const key of [undefined, 'one']) {
      const conversations = new Conversations();
      const named = key === undefined ? {} : { key };
      const visits = [
        await conversations.chat({ messages: second }, named),
        await conversations.chat({ messages: [system, ...third.slice(3)] }, named),
      ];
      assert.deepEqual(accusations(visits), []);
      assert.equal(ancestorOf(visits[1]!), undefined);
    }
  });

  it('takes an edited and re-sent last message for a branch, and goes on from either', async () => {
    const conversations = new Conversations();
    const edited = [...second.slice(0, 3), user('And times 4?')];
    const visits = [
      await conversations.chat({ messages: second }),
      await conversations.chat({ messages: edited }),
      await conversations.chat({ messages: [...edited, assistant('16.'), user('Minus 5?')] }),
      await conversations.chat({ messages: third }),
    ];
    assert.deepEqual(accusations(visits), []);
    assert.equal(visits[1]!.exchange.session!.branches, true);
    assert.equal(ancestorOf(visits[2]!), sequenceOf(visits[1]!));
    assert.equal(ancestorOf(visits[3]!), sequenceOf(visits[0]!));
  });

  it('takes a return to an earlier turn for a branch', async () => {
    const conversations = new Conversations();
    const visits = [
      await conversations.chat({ messages: third }),
      await conversations.chat({ messages: second }),
      await conversations.chat({ messages: [...second.slice(0, 3), user('Something else?')] }),
    ];
    assert.deepEqual(accusations(visits), []);
  });

  it('neither accuses nor follows a title request with instructions of its own', async () => {
    for (const tools of [[], [getWeather]]) {
      const conversations = new Conversations();
      const visits = [
        await conversations.chat({ messages: first, tools }),
        await conversations.chat({ messages: [titleSystem, first[1]] }),
        await conversations.chat({
          messages: [titleSystem, first[1], assistant('4.'), user('Write the title.')],
        }),
        await conversations.chat({ messages: second, tools }),
      ];
      assert.deepEqual(accusations(visits), []);
      assert.equal(ancestorOf(visits[3]!), sequenceOf(visits[0]!));
    }
  });

  it('neither accuses nor follows a summary request at the end of the conversation', async () => {
    for (const tools of [[], [getWeather]]) {
      const conversations = new Conversations();
      const visits = [
        await conversations.chat({ messages: first, tools }),
        await conversations.chat({ messages: [...first, assistant('4.'), user('Summarise this.')] }),
        await conversations.chat({ messages: second, tools }),
      ];
      assert.deepEqual(accusations(visits), []);
    }
  });

  it('is silent about benchmarks that put a random head before the same question', async () => {
    const conversations = new Conversations();
    const visits: Visit[] = [];
    for (const nonce of ['7f3a', '01bc', 'e4d5', 'aa90', '33f1', '9c2e']) {
      visits.push(
        await conversations.chat({
          messages: [{ role: 'system', content: `trial ${nonce} You are terse.` }, first[1]],
        }),
      );
    }
    assert.deepEqual(accusations(visits), []);
  });

  it('is silent about such trials of several turns, whose answers are the same', async () => {
    const conversations = new Conversations();
    const visits: Visit[] = [];
    for (const nonce of ['7f3a', '01bc', 'e4d5']) {
      const head = { role: 'system', content: `trial ${nonce} You are terse.` };
      for (const turns of terseTurns)
        visits.push(await conversations.chat({ messages: [head, ...turns.slice(1)] }));
    }
    assert.deepEqual(accusations(visits), []);
  });

  it('is silent about the same request sent eight times, and keeps it once', async () => {
    const conversations = new Conversations();
    const visits: Visit[] = [];
    for (let time = 0; time < 8; time += 1) visits.push(await conversations.chat({ messages: second, n: 8 }));
    assert.deepEqual(accusations(visits), []);
    assert.equal(conversations.store.list(10)[0]!.heads, 1);
  });

  it('is silent about many users behind one client who begin alike', async () => {
    const conversations = new Conversations();
    const begin = [system, user('hi')];
    const visits: Visit[] = [];
    for (let person = 0; person < 6; person += 1) visits.push(await conversations.chat({ messages: begin }));
    for (let person = 0; person < 6; person += 1) {
      const asked = [...begin, assistant('Hello!'), user(`question ${person}`)];
      visits.push(await conversations.chat({ messages: asked }));
      visits.push(await conversations.chat({ messages: [...asked, assistant('answer'), user('thanks')] }));
    }
    assert.deepEqual(accusations(visits), []);
  });

  it('goes on from the conversation that ends there, not from a longer one that begins alike', async () => {
    const conversations = new Conversations();
    const begin = [system, user('hi')];
    const longer = [...begin, assistant('Hello!'), user('question 1'), assistant('answer'), user('thanks')];
    await conversations.chat({ messages: longer });
    const started = await conversations.chat({ messages: begin });
    const visit = await conversations.chat({ messages: [...begin, assistant('Hello!'), user('question 2')] });
    assert.equal(ancestorOf(visit), sequenceOf(started));
    assert.deepEqual([visit.exchange.session!.branches, visit.findings], [false, []]);
  });

  const words = 'You help people who write to a shop that sells tea, and you answer in one sentence.';
  const agent = (name: string): JsonObject => ({
    role: 'system',
    content: `${words}\nYour name is ${name}.`,
  });
  const said = (name: string, turns: readonly JsonObject[]): JsonObject => ({
    messages: [agent(name), ...turns.slice(1)],
  });

  it('keeps two agents apart to whom the same is said', async () => {
    const conversations = new Conversations();
    const visits = [
      await conversations.chat(said('Ada', first)),
      await conversations.chat(said('Bob', first)),
      await conversations.chat(said('Ada', second)),
      await conversations.chat(said('Bob', second)),
    ];
    assert.deepEqual(accusations(visits), []);
    assert.equal(ancestorOf(visits[3]!), sequenceOf(visits[1]!));
    assert.equal(visits[3]!.exchange.session!.session, visits[1]!.exchange.session!.session);
  });

  it('goes on from its own earlier turn, not from a later one of another agent to whom the same was said', async () => {
    const conversations = new Conversations();
    const visits = [
      await conversations.chat(said('Bob', first)),
      await conversations.chat(said('Ada', first)),
      await conversations.chat(said('Ada', second)),
      await conversations.chat(said('Bob', third)),
    ];
    assert.deepEqual(accusations(visits), []);
    assert.equal(ancestorOf(visits[3]!), sequenceOf(visits[0]!));
  });

  it('still finds instructions that change within the only conversation, and a clock among others', async () => {
    const conversations = new Conversations();
    await conversations.chat(said('Ada', first));
    const [renamed] = (await conversations.chat(said('Eve', second))).findings;
    assert.equal(renamed?.cause, 'volatile-text');
    const clocked = (time: string, turns: readonly JsonObject[]): JsonObject => ({
      messages: [{ role: 'system', content: `${words}\nIt is ${time}.` }, ...turns.slice(1)],
    });
    await conversations.chat(clocked('10:00', first));
    await conversations.chat(clocked('10:05', first));
    const [moved] = (await conversations.chat(clocked('10:07', second))).findings;
    assert.equal(moved?.cause, 'volatile-time');
  });

  const fourth = [...third, assistant('7.'), user('Times 2?')];

  it('is told of a salt that is another one for each turn, once that is sure', async () => {
    const conversations = new Conversations();
    const visits: Visit[] = [];
    for (const [index, messages] of [first, second, third, fourth].entries()) {
      visits.push(await conversations.chat({ messages }, { salt: String(index) }));
    }
    const causes = visits.map(({ findings }) => findings.map(({ cause }) => cause));
    assert.deepEqual(causes, [[], [], ['salt-changed'], ['salt-changed']]);
    assert.equal(visits[3]!.exchange.session!.commonTokens, 0);
    assert.equal(visits[3]!.exchange.session!.session, visits[1]!.exchange.session!.session);
  });

  it('accuses no tenants of their own salts, whatever they say alike', async () => {
    const tenants = ['one', 'two', 'three'];
    const conversations = new Conversations();
    const visits: Visit[] = [];
    for (const messages of [first, second, third, fourth]) {
      for (const salt of tenants) visits.push(await conversations.chat({ messages }, { salt }));
    }
    // Each goes on from its own, though nothing but the salt tells them apart.
    assert.deepEqual(accusations(visits), []);
    for (const [index, visit] of visits.entries()) {
      assert.equal(ancestorOf(visit), index < 3 ? undefined : sequenceOf(visits[index - 3]!));
    }
  });

  it('accuses nobody of a conversation that is handed on, or had no salt before, and both may go on', async () => {
    for (const salt of [{ salt: 'one' }, {}]) {
      const conversations = new Conversations();
      const visits = [
        await conversations.chat({ messages: second }, salt),
        await conversations.chat({ messages: third }, { salt: 'two' }),
        await conversations.chat({ messages: third }, salt),
        await conversations.chat({ messages: fourth }, { salt: 'two' }),
        await conversations.chat({ messages: fourth }, salt),
      ];
      assert.deepEqual(accusations(visits), []);
      assert.equal(ancestorOf(visits[4]!), sequenceOf(visits[2]!));
      assert.equal(ancestorOf(visits[3]!), sequenceOf(visits[1]!));
    }
  });

  it('needs a user message in common', async () => {
    const conversations = new Conversations();
    const visits = [
      await conversations.chat({
        messages: [system, assistant('Hello, how can I help?'), user('Name a river.')],
      }),
      await conversations.chat({
        messages: [system, assistant('Hello, how can I help?'), user('Name a lake.')],
      }),
    ];
    assert.equal(ancestorOf(visits[1]!), undefined);
  });

  it('never takes another client, nor another model, for an ancestor', async () => {
    const conversations = new Conversations();
    await conversations.chat({ messages: first }, { client: 'one' });
    const visit = await conversations.chat({ messages: second }, { client: 'two' });
    assert.equal(ancestorOf(visit), undefined);
    const match = conversations.store.lookup({ ...visit.query, client: 'one', model: 'another' });
    assert.equal(match.ancestor, undefined);
  });

  it('counts a begun reply of the client as the end of the prompt', async () => {
    const conversations = new Conversations();
    const begun = render({ messages: first }) + '<think>done</think>';
    const visits = [
      await conversations.begin(
        'chat',
        { messages: [...first, assistant('<think>done</think>')] },
        await tokenize(begun),
      ),
    ];
    visits[0]!.remember();
    visits.push(await conversations.chat({ messages: second }));
    assert.equal(ancestorOf(visits[1]!), sequenceOf(visits[0]!));
    assert.deepEqual(
      visits[1]!.findings.map(({ severity, cause }) => [severity, cause]),
      [['info', 'retokenised']],
    );
  });
});

describe('an edited message in a crowd that begins alike', () => {
  const alike = [system, user('Where do I start?'), assistant('At the door.')];
  const own = [user('Which key?'), assistant('The brass one.'), user('And then?')];
  const others = [user('Is it locked?'), assistant('It is not.'), user('Who says so?')];
  const more = [assistant('Up the stairs.'), user('How many?')];
  const edited = [...alike, user('Name the key.'), ...own.slice(1), ...more];

  it('is told of the conversation whose other messages are all there, whichever came first', async () => {
    for (const order of [
      [own, others],
      [others, own],
    ]) {
      const conversations = new Conversations();
      const visits: Visit[] = [];
      for (const turns of order) visits.push(await conversations.chat({ messages: [...alike, ...turns] }));
      const last = await conversations.chat({ messages: edited });
      assert.deepEqual(accusations(visits), []);
      assert.deepEqual(
        last.findings.map(({ cause, field }) => [cause, field]),
        [['history-edited', 'messages[3]']],
      );
      assert.equal(ancestorOf(last), sequenceOf(visits[order.indexOf(own)]!));
    }
  });

  it('goes before one that shares more tokens', async () => {
    const conversations = new Conversations();
    const visits = [
      await conversations.chat({ messages: [...alike, user('Name the door.'), ...others.slice(1)] }),
      await conversations.chat({ messages: [...alike, ...own] }),
      await conversations.chat({ messages: edited }),
    ];
    assert.equal(ancestorOf(visits[2]!), sequenceOf(visits[1]!));
    assert.deepEqual(accusations(visits.slice(0, 2)), []);
  });

  it('is none where not all that came after is there', async () => {
    const strangers = [[user('Which key?')], [...own.slice(0, 2), user('Who asks?')]];
    for (const turns of strangers) {
      const conversations = new Conversations();
      const visits = [
        await conversations.chat({ messages: [...alike, user('Name the door.'), ...others.slice(1)] }),
        await conversations.chat({ messages: [...alike, ...turns] }),
        await conversations.chat({ messages: edited }),
      ];
      assert.deepEqual(accusations(visits), []);
      assert.equal(ancestorOf(visits[2]!), sequenceOf(visits[0]!));
      assert.equal(visits[2]!.exchange.session!.branches, true);
    }
  });
});

describe('requests with examples before the question', () => {
  const examples = (question: string, ...shots: readonly [text: string, label: string][]): JsonObject => ({
    messages: [
      { role: 'system', content: 'Label the sentiment as good or bad.' },
      ...shots.flatMap(([text, label]) => [
        { role: 'user', content: text },
        { role: 'assistant', content: label },
      ]),
      { role: 'user', content: question },
    ],
  });
  const one = examples('Snow!', ['Fine.', 'good'], ['Rain again.', 'bad'], ['A gift!', 'good']);
  const sharingAnswers = examples('A gift?', ['Fine.', 'good'], ['Late train.', 'bad'], ['No seat.', 'good']);
  const askedBefore = examples('A gift?', ['Fine.', 'good'], ['Snow!', 'good'], ['Rain again.', 'bad']);

  it('are no edited history, though they begin alike and share answers', async () => {
    const conversations = new Conversations();
    const visits = [await conversations.chat(one), await conversations.chat(sharingAnswers)];
    assert.deepEqual(accusations(visits), []);
  });

  it('are none where the question before is an example now', async () => {
    const conversations = new Conversations();
    const visits = [await conversations.chat(one), await conversations.chat(askedBefore)];
    assert.deepEqual(accusations(visits), []);
  });
});

describe('best ancestor of a raw prompt', () => {
  const head = (text: string): string => `<|im_start|>system\n${text}<|im_end|>\n`;

  it('follows the turns that its role markers show', async () => {
    const conversations = new Conversations();
    const visits = [
      await conversations.raw(head('You are terse.') + rawTurns('What is 2 + 2?')),
      await conversations.raw(head('You are terse.') + rawTurns('What is 2 + 2?', '4.', 'And times 3?')),
      await conversations.raw(head('You are terse.') + rawTurns('Name a river.')),
    ];
    assert.deepEqual(accusations(visits), []);
    assert.equal(ancestorOf(visits[1]!), sequenceOf(visits[0]!));
    assert.equal(ancestorOf(visits[2]!), undefined);
  });

  it('finds a clock in front of the turns', async () => {
    const conversations = new Conversations();
    await conversations.raw(head('You are terse. It is 10:00:01 now.') + rawTurns('What is 2 + 2?'));
    const { findings } = await conversations.raw(
      head('You are terse. It is 10:00:19 now.') + rawTurns('What is 2 + 2?', '4.', 'And times 3?'),
    );
    assert.deepEqual(
      findings.map(({ cause, culprit, field }) => [cause, culprit, field]),
      [['volatile-time', 'client', 'prompt']],
    );
  });

  it('says nothing where the client changed its last message', async () => {
    const conversations = new Conversations();
    await conversations.raw(rawTurns('What is 2 + 2?', '4.', 'And times 3?'));
    const visit = await conversations.raw(rawTurns('What is 2 + 2?', '4.', 'And times 4?'));
    assert.deepEqual([visit.exchange.session!.branches, visit.findings], [true, []]);
  });

  it('takes a text without markers for a descendant only if it holds the whole of the earlier one', async () => {
    const conversations = new Conversations();
    const visits = [
      await conversations.raw('Once upon a time there was a river.'),
      await conversations.raw('Once upon a time there was a river. It was long.'),
      await conversations.raw('Once upon a time there was a lake.'),
    ];
    assert.equal(ancestorOf(visits[1]!), sequenceOf(visits[0]!));
    assert.equal(ancestorOf(visits[2]!), undefined);
    assert.deepEqual(accusations(visits), []);
  });

  it('is silent about fill-in prompts that change with each key press', async () => {
    const conversations = new Conversations();
    const visits: Visit[] = [];
    for (const typed of ['def a', 'def ad', 'def add(']) {
      visits.push(
        await conversations.raw(`<|fim_prefix|>${typed}<|fim_suffix|>return a + b<|fim_middle|>`, {
          key: 'editor',
        }),
      );
    }
    assert.deepEqual(accusations(visits), []);
  });
});

describe('tools and heads', () => {
  it('keeps the turn with tools live beside one that leaves them out', async () => {
    const conversations = new Conversations();
    const tools = [getWeather, getTime];
    const visits = [
      await conversations.chat({ messages: first, tools }, { key: 'one' }),
      await conversations.chat({ messages: second }, { key: 'one' }),
      await conversations.chat({ messages: second, tools }, { key: 'one' }),
    ];
    assert.equal(conversations.store.list(1)[0]!.heads, 2);
    assert.deepEqual(visits[2]!.findings, []);
  });
});
