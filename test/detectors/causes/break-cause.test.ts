// A reply that the client did not send back: whose doing the break at the earlier turn's end is.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '../../../src/exchange/finding.ts';
import type { JsonObject } from '../../../src/exchange/request/request.ts';
import {
  assistant,
  Conversations,
  getTime,
  render,
  terseTurns,
  tokenize,
  user,
} from '../../support/qwen3-sessions.ts';

const [first, second] = terseTurns;
const more = user('Are you there?');
const off = { chat_template_kwargs: { enable_thinking: false } };

/** What is found in the second of two turns. */
async function foundAfter(before: JsonObject, after: JsonObject): Promise<readonly Finding[]> {
  const conversations = new Conversations();
  await conversations.chat(before);
  return (await conversations.chat(after)).findings;
}

const named = (findings: readonly Finding[]): unknown[] =>
  findings.map(({ cause, severity, culprit, field }) => [cause, severity, culprit, field]);

describe('a reply that was left out of the history', () => {
  const cases: readonly [string, readonly JsonObject[], readonly JsonObject[], JsonObject][] = [
    ['at the end', first, [...first, more], {}],
    ['further back', second, [...second, more, assistant('Yes.'), user('And now?')], {}],
    ['behind an empty think block', first, [...first, more], off],
  ];
  for (const [name, before, after, options] of cases) {
    it(`is the client's doing: ${name}`, async () => {
      assert.deepEqual(
        named(await foundAfter({ messages: before, ...options }, { messages: after, ...options })),
        [['history-truncated', 'info', 'client', `messages[${before.length}]`]],
      );
    });
  }

  it("is the client's doing where it had begun the reply itself and took it back", async () => {
    const conversations = new Conversations();
    const begun = await tokenize(`${render({ messages: first })}I`);
    (await conversations.begin('chat', { messages: [...first, assistant('I')] }, begun)).remember();
    const { findings } = await conversations.chat({ messages: [...first, more] });
    assert.deepEqual(named(findings), [['history-truncated', 'info', 'client', 'messages[2]']]);
  });

  it('is not blamed for a break before the end of the earlier turn', async () => {
    const rendered = (day: string, end: string): string =>
      `<|im_start|>system\n${day}. You are terse.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n${end}`;
    const generation = '<|im_start|>assistant\n';
    const conversations = new Conversations();
    const monday = await tokenize(rendered('Monday', generation));
    (await conversations.begin('chat', { messages: first }, monday)).remember();
    const tuesday = await tokenize(
      rendered('Tuesday', `<|im_start|>user\nAre you there?<|im_end|>\n${generation}`),
    );
    const { findings } = await conversations.begin('chat', { messages: [...first, more] }, tuesday);
    assert.deepEqual(named(findings), [['unknown', 'warning', 'template', undefined]]);
  });
});

describe('a reply that came back', () => {
  const call = {
    role: 'assistant',
    content: '',
    tool_calls: [{ type: 'function', function: { name: 'get_time', arguments: { city: 'Oslo' } } }],
  };
  const replies: readonly [string, readonly JsonObject[]][] = [
    ['empty', [assistant('')]],
    ['as a call', [call, { role: 'tool', content: '10:00' }]],
  ];
  for (const [name, reply] of replies) {
    it(`${name} is nothing to be told`, async () => {
      const tools = [getTime];
      const after = { messages: [...first, ...reply, more], tools };
      assert.deepEqual(await foundAfter({ messages: first, tools }, after), []);
    });
  }

  it('is not taken for left out where the template forgets its think block', async () => {
    const after = { messages: second, ...off };
    assert.deepEqual(named(await foundAfter({ messages: first, ...off }, after)), [
      ['empty-think-tail', 'info', 'template', undefined],
    ]);
  });
});
