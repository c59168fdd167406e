// A long text is looked at by its bytes: the text itself may be no more than the fragments that a thread has sent.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { textStart } from '../../src/exchange/text-start.ts';

describe('textStart', () => {
  const body = Buffer.from(JSON.stringify({ prompt: `<s>${'x'.repeat(5_000_000)}` }));

  it('is what the bytes of a long text say, and no more than a part of it', () => {
    const text = (JSON.parse(body.toString()) as { prompt: string }).prompt;
    const start = textStart(body, ['prompt'], text);
    assert.ok(start.startsWith('<s>xxx') && start.length < 100_000 && text.startsWith(start));
  });

  it('is a short text itself', () => {
    assert.equal(textStart(body, ['prompt'], 'short'), 'short');
  });

  it('is the text where the body holds none at that place', () => {
    const text = 'y'.repeat(5_000_000);
    assert.equal(textStart(body, ['elsewhere'], text), text);
  });
});
