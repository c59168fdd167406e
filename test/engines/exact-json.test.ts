// Bodies written again: nothing that JavaScript would write otherwise may change.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { exactJson } from '../../src/engines/exact-json.ts';
import type { JsonObject } from '../../src/exchange/request/request.ts';

function exact(text: string): ReturnType<typeof exactJson> {
  return exactJson(Buffer.from(text), JSON.parse(text) as JsonObject);
}

describe('exactJson: write', () => {
  const kept = [
    '{"a":1.0,"b":[1e5,-0,0.10],"c":12345678901234567890}',
    '{"b":1,"10":2,"2":{"1":1.0}}',
    '{"a":"1.0","b":"10\\":1","c":[true,null,"é\\u2028"]}'.replace('\\u2028', '\u2028'),
    '{"1":"#exact","a":1.50,"#exact":{"#exact":"1.0"}}',
  ];
  for (const text of kept) {
    it(text, () => {
      const { json, write } = exact(text);
      assert.equal(write(json), text);
    });
  }

  it('leaves the parsed body alone where nothing needs guarding', () => {
    const parsed = { a: [1, -7, 0, 'x', 999_999_999_999_999] };
    assert.equal(exactJson(Buffer.from(JSON.stringify(parsed)), parsed).json, parsed);
  });

  it('reads what the engine reads of a body, whatever stands around it', () => {
    const { json, write } = exactJson(Buffer.from('\ufeff{"a":1.0}\0 1.0'), { a: 1 });
    assert.equal(write(json), '{"a":1.0}');
  });

  it('leaves out what was too deep to be read', () => {
    const x = `${'['.repeat(100_000)}1.0${']'.repeat(100_000)}`;
    const { json, write } = exactJson(Buffer.from(`{"a":1.0,"x":${x}}`), { a: 1 });
    assert.equal(write(json), '{"a":1.0}');
  });

  it('keeps any JSON, whatever its numbers and keys', () => {
    const number = fc.stringMatching(/^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,5})?(?:[eE][+-]?\d{1,2})?$/);
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        fc.oneof(
          number,
          fc.string().map((text) => JSON.stringify(text)),
          fc.constantFrom('true', 'null'),
        ),
        fc.array(tie('tree'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
        fc
          .uniqueArray(fc.oneof(fc.nat().map(String), fc.string()), { maxLength: 3 })
          .chain((keys) =>
            fc.tuple(...keys.map((key) => tie('tree').map((value) => `${JSON.stringify(key)}:${value}`))),
          )
          .map((members) => `{${members.join()}}`),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const text = `{"a":${value}}`;
        const { json, write } = exact(text);
        // A key __proto__ makes no member in an object literal; JSON.parse makes one, and so it is kept.
        assert.equal(write(json), text);
      }),
    );
  });
});

describe('exactJson: dump', () => {
  /** As written → as nlohmann writes it again. */
  const numbers: Record<string, string> = {
    '1': '1',
    '-0': '0',
    '18446744073709551615': '18446744073709551615',
    '18446744073709551616': '1.8446744073709552e+19',
    '-9223372036854775808': '-9223372036854775808',
    '-9223372036854775809': '-9.223372036854776e+18',
    '1.0': '1.0',
    '-0.0': '-0.0',
    '0.10': '0.1',
    '1e5': '100000.0',
    '1e15': '1e+15',
    '123456789012345.0': '123456789012345.0',
    '1E-4': '0.0001',
    '1e-5': '1e-05',
    '1.25e-7': '1.25e-07',
    '1e22': '1e+22',
    '1.5e300': '1.5e+300',
    '-123.456': '-123.456',
  };
  for (const [written, dumped] of Object.entries(numbers)) {
    it(`${written} → ${dumped}`, () => {
      const { json, dump } = exact(`{ "a" : [ ${written} , "x" ] }`);
      assert.equal(dump(json), `{"a":[${dumped},"x"]}`);
    });
  }
});
