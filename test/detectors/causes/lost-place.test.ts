// When no place is told of what is lost: a wrong one would be worse. Places themselves are in the tables of content-lost.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lostPlace } from '../../../src/detectors/causes/lost-place.ts';
import type { Json } from '../../../src/exchange/request/request.ts';
import { buildExchange, factsOf } from '../../support/exchange-builder.ts';

const user = (content: Json): Json => ({ role: 'user', content });
const answer: Json = { role: 'assistant', content: 'Ja, gerne.' };
const lost = ['messages', 2, 'content'];
const turns = (...texts: readonly string[]): string =>
  texts.map((text) => `<|im_start|>user\n${text}<|im_end|>\n`).join('');

function placeIn(messages: readonly Json[], text: string) {
  const exchange = buildExchange({ route: 'chat', body: { messages }, facts: factsOf.qwen3, text });
  return lostPlace(exchange, lost).tokens;
}

describe('the place of what is lost', () => {
  const gone = user('Weg bin ich.');

  it('is what stands between the texts around it', () => {
    const text = turns('Bist du da?', 'Ja, gerne.', 'Was nun?');
    // Twice <|im_start|>, "user\n" and a text; <|im_end|> and a line end; then <|im_end|> and a line end.
    const start = 6 + 'Bist du da?'.length + 2 + 6 + 'Ja, gerne.'.length;
    assert.deepEqual(placeIn([user('Bist du da?'), answer, gone, user('Was nun?')], text), {
      start,
      end: start + 2,
    });
  });

  it('reaches to the next text but one where the next is written otherwise', () => {
    const text = turns('Bist du da?', 'Ja, gerne.', 'WAS NUN?', 'Und dann?');
    const start = 6 + 'Bist du da?'.length + 2 + 6 + 'Ja, gerne.'.length;
    const messages = [user('Bist du da?'), answer, gone, user('Was nun?'), user('Und dann?')];
    assert.deepEqual(placeIn(messages, text), { start, end: start + 2 + 6 + 'WAS NUN?'.length + 2 });
  });

  it('is not told where the texts beside it stand in two places', () => {
    const messages = [answer, answer, gone, user('ok'), user('ok'), user('Was nun?')];
    assert.equal(placeIn(messages, turns('Ja, gerne.', 'Ja, gerne.', 'ok', 'ok', 'Was nun?')), undefined);
  });

  it('is not told where the template writes the messages in another order', () => {
    const text = turns('Was nun?', 'Bist du da?', 'Ja, gerne.');
    assert.equal(placeIn([user('Bist du da?'), answer, gone, user('Was nun?')], text), undefined);
  });

  it('is not told of a request with media, whose tokens are others', () => {
    const image: Json = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
    const messages = [user([image]), answer, gone, user('Was nun?')];
    assert.equal(placeIn(messages, turns('Ja, gerne.', 'Was nun?')), undefined);
  });
});
