// Breaks of real Qwen3 conversations: every cause with its place, and the traffic that must never be accused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '../../src/exchange/finding.ts';
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
} from '../support/qwen3-sessions.ts';

/** The findings of each turn's request, in order, in one fresh store. */
async function findingsOf(bodies: readonly JsonObject[], key?: string): Promise<(readonly Finding[])[]> {
  const conversations = new Conversations();
  const all: (readonly Finding[])[] = [];
  for (const body of bodies) {
    all.push((await conversations.chat(body, key === undefined ? {} : { key })).findings);
  }
  return all;
}

async function onlyFinding(before: JsonObject, after: JsonObject): Promise<Finding> {
  const [first, second] = await findingsOf([before, after]);
  assert.deepEqual(first, []);
  assert.equal(second?.length, 1, JSON.stringify(second));
  return second[0]!;
}

const place = ({ cause, severity, culprit, tokens, lostTokens, field }: Finding): unknown[] => [
  cause,
  severity,
  culprit,
  tokens?.start,
  lostTokens,
  field,
];
const [first, second, third] = terseTurns;
const longSystem = (line: string): JsonObject => ({
  role: 'system',
  content: `You are a coding agent.\n${line}\nAnswer in one sentence. Never guess.\nUse the tools where they help.`,
});
const withSystem = (message: JsonObject, turns: readonly JsonObject[] = second): JsonObject => ({
  messages: [message, ...turns.slice(1)],
});

describe('prefix-break: the numbers of a real engine', () => {
  it('finds no break while thinking is on', async () => {
    assert.deepEqual(await findingsOf(terseTurns.map((messages) => ({ messages }))), [[], [], []]);
  });

  it('finds the empty think block of each turn, by design of the template', async () => {
    const bodies = terseTurns.map((messages) => ({
      messages,
      chat_template_kwargs: { enable_thinking: false },
    }));
    const [none, one, two] = await findingsOf(bodies);
    assert.deepEqual(none, []);
    assert.deepEqual(one!.map(place), [['empty-think-tail', 'info', 'template', 25, 4, undefined]]);
    assert.deepEqual(two!.map(place), [['empty-think-tail', 'info', 'template', 42, 4, undefined]]);
    assert.match(one![0]!.message, /25 of its 29/);
    assert.match(two![0]!.message, /42 of its 46/);
  });

  for (const key of [undefined, 'a session of the client']) {
    it(`finds reordered tools at 56 of 234, then peace (${key ?? 'no session key'})`, async () => {
      const tools = [getWeather, getTime];
      const reversed = [getTime, getWeather];
      const findings = await findingsOf(
        [
          { messages: first, tools },
          { messages: second, tools: reversed },
          { messages: third, tools: reversed },
        ],
        key,
      );
      assert.deepEqual(findings[0], []);
      assert.deepEqual(findings[1]!.map(place), [
        ['tools-reordered', 'warning', 'client', 56, 234 - 56, 'tools[0]'],
      ]);
      assert.match(findings[1]![0]!.message, /56 of its 234/);
      assert.deepEqual(findings[2], []);
    });
  }
});

describe('prefix-break: causes', () => {
  const cases: readonly [string, JsonObject, JsonObject, readonly unknown[]][] = [
    [
      'a clock at the head',
      withSystem(longSystem('Current time is 10:00:01.'), first),
      withSystem(longSystem('Current time is 10:00:19.')),
      ['volatile-time', 'warning', 'client', 'messages[0].content'],
    ],
    [
      'a clock in a prompt of one line',
      withSystem({ role: 'system', content: 'It is 10:00:01 on 2026-09-01. You are terse.' }, first),
      withSystem({ role: 'system', content: 'It is 10:00:19 on 2026-09-01. You are terse.' }),
      ['volatile-time', 'warning', 'client', 'messages[0].content'],
    ],
    [
      'a date',
      withSystem(longSystem('Today is Tuesday, September 1, 2026.'), first),
      withSystem(longSystem('Today is Wednesday, September 2, 2026.')),
      ['volatile-date', 'warning', 'client', 'messages[0].content'],
    ],
    [
      'another text',
      withSystem(longSystem('Status: clean'), first),
      withSystem(longSystem('Status: M src/a.py')),
      ['volatile-text', 'warning', 'client', 'messages[0].content'],
    ],
    [
      'an attribution line',
      withSystem(longSystem('x-anthropic-billing-header: cc_version=2.1; cch=0a1b2;'), first),
      withSystem(longSystem('x-anthropic-billing-header: cc_version=2.1; cch=1b2c3;')),
      ['attribution-line', 'warning', 'client', 'messages[0].content'],
    ],
    [
      'one tool more',
      { messages: first, tools: [getWeather] },
      { messages: second, tools: [getWeather, getTime] },
      ['tools-changed', 'info', 'client', 'tools[1]'],
    ],
    [
      'a tool with its keys in another order',
      { messages: first, tools: [getWeather] },
      { messages: second, tools: [{ function: getWeather.function, type: 'function' }] },
      ['unknown', 'warning', 'client', 'tools[0]'],
    ],
    [
      'an answer that came back changed',
      { messages: second },
      { messages: [system, first[1], assistant('Four.'), ...third.slice(3)] },
      ['history-edited', 'warning', 'client', 'messages[2]'],
    ],
    [
      'a reminder that moves to the newest turn',
      { messages: [...second.slice(0, 3), user('And times 3?\n<reminder>build</reminder>')] },
      { messages: [...third.slice(0, 5), user('Minus 5?\n<reminder>build</reminder>')] },
      ['history-edited', 'warning', 'client', 'messages[3]'],
    ],
  ];
  for (const [name, before, after, expected] of cases) {
    it(name, async () => {
      const [cause, severity, culprit, , , field] = place(await onlyFinding(before, after));
      assert.deepEqual([cause, severity, culprit, field], expected);
    });
  }

  it('names the client where it has its prompts cut, and the field', async () => {
    const conversations = new Conversations();
    const cutTurn = async (messages: readonly JsonObject[], last: number): Promise<readonly Finding[]> => {
      const whole = await tokenize(render({ messages }));
      const tokens = { known: true, ids: whole.ids.slice(-last), source: 'engine', cut: 'start' } as const;
      const body = { messages, truncate_prompt_tokens: last };
      const visit = await conversations.begin('chat', body, tokens);
      visit.remember();
      return visit.findings;
    };
    assert.deepEqual(await cutTurn(first, 10), []);
    const [finding] = await cutTurn(second, 10);
    assert.deepEqual(place(finding!), [
      'history-truncated',
      'info',
      'client',
      0,
      10,
      'truncate_prompt_tokens',
    ]);
    const { findings } = await conversations.chat({ messages: third });
    assert.deepEqual(findings.map(place), [['history-truncated', 'info', 'client', 0, 10, undefined]]);
  });

  it('names the change that is rendered first, not the one that stands first in the body', async () => {
    const clock = (time: string): JsonObject => longSystem(`It is ${time}.`);
    const finding = await onlyFinding(
      { ...withSystem(clock('10:00'), first), tools: [getWeather, getTime] },
      { tools: [getTime, getWeather], ...withSystem(clock('10:01')) },
    );
    assert.equal(finding.cause, 'volatile-time');
  });

  it('does not blame a change that the template did not show', async () => {
    const conversations = new Conversations();
    await conversations.chat({ messages: first, chat_template_kwargs: { enable_thinking: false } });
    const visit = await conversations.chat({
      messages: second,
      chat_template_kwargs: { enable_thinking: false, unused: 1 },
    });
    assert.deepEqual(
      visit.findings.map(({ cause }) => cause),
      ['empty-think-tail'],
    );
  });

  it('does not blame a change that stands before the break and is not seen in the ids', async () => {
    const conversations = new Conversations();
    const rendered = (answer: string): string =>
      `<|im_start|>system\nYou are terse.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n` +
      `<|im_start|>assistant\n${answer}<|im_end|>\n<|im_start|>user\nAnd times 3?<|im_end|>\n`;
    const before = await conversations.begin('chat', { messages: second }, await tokenize(rendered('4.')));
    before.remember();
    const trailing = { role: 'system', content: 'You are terse. ' };
    const { findings } = await conversations.begin(
      'chat',
      { messages: [trailing, ...third.slice(1)] },
      await tokenize(rendered('Four.')),
    );
    assert.deepEqual(
      findings.map(({ cause, culprit }) => [cause, culprit]),
      [['unknown', 'template']],
    );
  });

  it('takes a few ids at the end of a prompt without a learnt tail for retokenised', async () => {
    const conversations = new Conversations();
    const rendered =
      '<|im_start|>system\nYou are terse.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n';
    (await conversations.begin('chat', { messages: first }, await tokenize(rendered))).remember();
    const { findings } = await conversations.begin(
      'chat',
      { messages: second },
      await tokenize(`${rendered}\n<|im_start|>user\nAnd times 3?`),
    );
    assert.deepEqual(
      findings.map(({ cause, severity, lostTokens }) => [cause, severity, lostTokens]),
      [['retokenised', 'info', 1]],
    );
  });

  it('blames the client for a raw text that changed before its end, in a session that it named', async () => {
    const conversations = new Conversations();
    await conversations.raw('A river is long. A lake is wide. The sea is deep and cold and far.', {
      key: 'one',
    });
    const { findings } = await conversations.raw(
      'A river is long. A lake is wide. The sea is deep. And so on, and so on, and on, until the end of it.',
      { key: 'one' },
    );
    assert.deepEqual(
      findings.map(({ cause, culprit }) => [cause, culprit]),
      [['unknown', 'client']],
    );
  });
});

describe('prefix-break: cache salts', () => {
  it('blames the client for another salt in a conversation that it named, once', async () => {
    const conversations = new Conversations();
    const turn = (messages: readonly JsonObject[], salt?: string) =>
      conversations.chat({ messages }, { key: 'one', ...(salt !== undefined && { salt }) });
    assert.deepEqual((await turn(first, 'a')).findings, []);
    const [found, ...others] = (await turn(second, 'b')).findings;
    assert.deepEqual(others, []);
    assert.deepEqual(place(found!), ['salt-changed', 'warning', 'client', 0, 25, 'cache_salt']);
    assert.match(found!.message, /Nothing of the earlier turn's 25 ids can be reused/);
    assert.deepEqual((await turn(third, 'b')).findings, []);
  });

  it('keeps conversations that nobody named apart by their salts, as the engine does', async () => {
    const conversations = new Conversations();
    await conversations.chat({ messages: first }, { salt: 'a' });
    for (const options of [{ salt: 'b' }, {}]) {
      const { exchange, findings } = await conversations.chat({ messages: second }, options);
      assert.deepEqual(findings, []);
      assert.equal(exchange.session?.commonTokens, 0);
    }
    const { exchange, findings } = await conversations.chat({ messages: second }, { salt: 'a' });
    assert.deepEqual(findings, []);
    assert.equal(exchange.session?.commonTokens, 25);
  });
});
