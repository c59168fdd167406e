// Taking apart and joining are one another's inverse for every JSON value, in pieces of every size.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { JsonJoiner, takeApart } from '../../../src/exchange/json/json-pieces.ts';
import type { Json } from '../../../src/exchange/request/request.ts';

function throughPieces(json: Json, pieceValues: number): Json | undefined {
  const joiner = new JsonJoiner();
  for (const piece of takeApart(json, pieceValues)) joiner.add(structuredClone(piece));
  return joiner.result;
}

describe('JSON pieces', () => {
  it('join to the value they were made from', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<Json>,
        fc.integer({ min: 1, max: 50 }),
        (json, size) => {
          const joined = throughPieces(json, size);
          assert.deepEqual(joined, json);
          assert.equal(JSON.stringify(joined), JSON.stringify(json));
        },
      ),
    );
  });

  it('keep a key named __proto__', () => {
    const json = JSON.parse('{"__proto__":{"a":1},"b":2}') as Json;
    assert.equal(JSON.stringify(throughPieces(json, 1)), '{"__proto__":{"a":1},"b":2}');
  });

  it('move a long string or key in fragments', () => {
    const long = '漢b'.repeat(5_000_000);
    const pieces = [...takeApart({ [long]: [long] }, 1000)];
    assert.ok(pieces.length > 4, `${pieces.length} pieces`);
    const joined = throughPieces({ [long]: [long], after: 'x' }, 1000) as Record<string, Json>;
    assert.deepEqual(
      Object.keys(joined).map((key) => key === long),
      [true, false],
    );
    assert.ok((joined[long] as string[])[0] === long);
    assert.equal(joined['after'], 'x');
  });

  it('are no larger than asked for, long strings aside', () => {
    const json = Array.from({ length: 1000 }, (_, index) => ({ index, text: 'x'.repeat(2560) }));
    const pieces = [...takeApart(json, 50)];
    assert.ok(pieces.length > 200, `${pieces.length} pieces`);
    for (const piece of pieces) assert.ok(piece.codes.length <= 50);
  });

  it('that do not fit are an error', () => {
    assert.throws(() => {
      new JsonJoiner().add({ codes: Uint8Array.of(0), values: [] });
    }, RangeError);
    assert.throws(() => {
      new JsonJoiner().add({ codes: Uint8Array.of(4), values: [] });
    }, RangeError);
  });
});
