import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdsTooMuchText, mostMessageText } from '../../../src/exchange/request/message-text.ts';

const message = (content: unknown) => ({ messages: [{ role: 'user', content }] }) as never;

describe('holdsTooMuchText', () => {
  it('lets a long conversation through, up to the bound', () => {
    assert.equal(holdsTooMuchText(message('a'.repeat(mostMessageText - 100))), false);
    assert.equal(holdsTooMuchText(message('a'.repeat(mostMessageText + 1))), true);
  });

  it('adds up the texts of many messages and parts', () => {
    const part = { type: 'text', text: 'a'.repeat(mostMessageText / 4) };
    assert.equal(holdsTooMuchText(message([part, part, part])), false);
    assert.equal(holdsTooMuchText(message([part, part, part, part, part])), true);
  });

  it('does not count media', () => {
    const url = `data:image/png;base64,${'A'.repeat(mostMessageText * 2)}`;
    assert.equal(holdsTooMuchText(message([{ type: 'image_url', image_url: { url } }])), false);
  });

  it('survives bodies of any shape and depth', () => {
    let deep: unknown = 'a';
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    for (const json of [{}, { messages: 5 }, { messages: deep }, { prompt: 'a' }]) {
      assert.equal(holdsTooMuchText(json as never), false);
    }
  });
});
