// The short way to where texts stand: taken only where each is found as it was sent, one behind another.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { plainTexts } from '../../../src/exchange/written/plain-texts.ts';
import type { ChatMessage, JsonObject } from '../../../src/exchange/request/request.ts';

const message = (value: JsonObject & { readonly role: string }): ChatMessage => ({
  role: value.role,
  value,
  path: ['messages', 0],
  contentPath: ['messages', 0, 'content'],
});
const user = (content: string): ChatMessage => message({ role: 'user', content });
const answer = (content: string): ChatMessage => message({ role: 'assistant', content });
const turn = (role: string, content: string): string => `<|im_start|>${role}\n${content}<|im_end|>\n`;
const long = 'What is the weather like?';
const other = 'Nobody has looked outside yet.';

const found = (messages: readonly ChatMessage[], rendered: string): readonly string[] | undefined =>
  plainTexts(messages, rendered)?.map(({ start, end }) => rendered.slice(start, end));

describe('the short way', () => {
  it('finds texts in order, trimmed, wherever the first of them begins', () => {
    const tools = 'x'.repeat(10_000);
    const rendered = tools + turn('user', long) + turn('assistant', other) + turn('user', long);
    assert.deepEqual(found([user(` ${long}\n`), answer(other), user(long)], rendered), [long, other, long]);
  });

  it('goes over short texts, which are no place where nothing else is', () => {
    const rendered = turn('user', 'Hi') + turn('assistant', other) + turn('user', 'Bye');
    assert.deepEqual(found([user('Hi'), answer(other), user('Bye')], rendered), [other]);
  });

  it('goes by members that say nothing', () => {
    const said = message({ role: 'assistant', content: other, name: 'a', refusal: null, tool_calls: null });
    assert.deepEqual(found([said], turn('assistant', other)), [other]);
  });

  const declined: readonly [string, readonly ChatMessage[], string][] = [
    ['a text that is not there', [user(long), answer(other)], turn('user', long)],
    [
      'a text before the one that it follows',
      [user(long), answer(other)],
      turn('a', other) + turn('u', long),
    ],
    ['one text for two that are the same', [user(long), user(long)], turn('user', long)],
    ['a text that was escaped', [user('"Quoted" and more.')], turn('user', '\\"Quoted\\" and more.')],
    ['a short text that stands far away', [user('Hi')], `${'x'.repeat(10_000)}Hi`],
    [
      'a call',
      [message({ role: 'assistant', content: other, tool_calls: [{ function: { name: 'f' } }] })],
      turn('assistant', other),
    ],
    ['reasoning', [message({ role: 'assistant', content: other, reasoning_content: long })], other],
    ['a list of parts', [message({ role: 'user', content: [{ type: 'text', text: long }] })], long],
  ];
  for (const [name, messages, rendered] of declined) {
    it(`is not taken by ${name}`, () => {
      assert.equal(plainTexts(messages, rendered), undefined);
    });
  }

  it('is not taken where one of the texts is gone', () => {
    const text = fc.stringMatching(/^[a-z]{12,30}$/);
    fc.assert(
      fc.property(fc.uniqueArray(text, { minLength: 1, maxLength: 12 }), fc.nat(), (texts, pick) => {
        const messages = texts.map(user);
        const gone = pick % texts.length;
        const turns = texts.map((one) => turn('user', one));
        assert.deepEqual(found(messages, turns.join('')), texts);
        assert.equal(plainTexts(messages, turns.toSpliced(gone, 1).join('')), undefined);
      }),
    );
  });
});
