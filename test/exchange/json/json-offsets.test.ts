// The scanner against JSON.parse: whatever JSON.parse reads at a path, the located bytes must say the same.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  locateListItem,
  locateString,
  locateStringPrefix,
  locateStrings,
  locateValue,
  readStringStart,
} from '../../../src/exchange/json/json-offsets.ts';
import { locateCharacters } from '../../../src/exchange/json/json-string.ts';
import type { Json, JsonPath } from '../../../src/exchange/request/request.ts';
import { chooser, writeJson, writeString } from './json-writing.ts';

const jsonValues = fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<Json>;

function* paths(value: Json, path: JsonPath = []): Generator<[JsonPath, Json]> {
  yield [path, value];
  if (Array.isArray(value)) {
    for (const [index, element] of (value as readonly Json[]).entries())
      yield* paths(element, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) yield* paths(member, [...path, key]);
  }
}

function slice(body: Buffer, range: { start: number; end: number } | undefined): string | undefined {
  return range && body.toString('utf8', range.start, range.end);
}

describe('locateValue', () => {
  it('finds every value that JSON.parse finds, in any white space and escapes', () => {
    fc.assert(
      fc.property(jsonValues, fc.nat(), (value, seed) => {
        const body = Buffer.from(writeJson(value, chooser(seed)));
        const parsed = JSON.parse(body.toString()) as Json;
        for (const [path, expected] of paths(parsed)) {
          const text = slice(body, locateValue(body, path));
          assert.ok(text !== undefined, JSON.stringify(path));
          assert.deepEqual(JSON.parse(text), expected);
          assert.equal(text.trim(), text);
        }
      }),
    );
  });

  it('takes the last of duplicate keys, as JSON.parse does', () => {
    const body = Buffer.from('{"prompt":"first","n":1,"pr\\u006fmpt":"second","prompts":3}');
    assert.equal(slice(body, locateValue(body, ['prompt'])), '"second"');
  });

  it('finds nothing where there is nothing', () => {
    const body = Buffer.from('{"a":[1,{"b":2}],"c":"x"}');
    for (const path of [['b'], ['a', 2], ['a', -1], ['a', 'b'], ['c', 0], ['a', 1, 'b', 0], [0]]) {
      assert.equal(locateValue(body, path), undefined, JSON.stringify(path));
    }
  });

  it('does not take a quote, comma or brace inside a string for structure', () => {
    const long = 'x'.repeat(200);
    const body = Buffer.from(JSON.stringify({ a: `\\","b":1}${long}\\\\"${long}`, b: `${long}\\` }));
    assert.equal(slice(body, locateValue(body, ['b'])), JSON.stringify(`${long}\\`));
  });

  it('survives any bytes', () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc
        .string({
          unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', 'u', '0', ' ', 'a', 't'),
          maxLength: 400,
        })
        .map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(noise, fc.array(fc.oneof(fc.constantFrom('a', 't', ''), fc.nat(3))), (bytes, path) => {
        const body = Buffer.from(bytes);
        const range = locateValue(body, path);
        if (range) assert.ok(range.start < range.end && range.end <= body.length);
        locateStringPrefix(body, path, 'at');
      }),
    );
  });

  it('does not recurse', () => {
    const deep = 1_000_000;
    const body = Buffer.from(`{"a":${'['.repeat(deep)}${']'.repeat(deep)},"b":7}`);
    assert.equal(slice(body, locateValue(body, ['b'])), '7');
  });
});

describe('locateString', () => {
  it('gives the bytes between the quotes, and nothing for other values', () => {
    const body = Buffer.from('{"s": "a\\"b" , "empty":"","n":1,"list":["é"]}');
    assert.equal(slice(body, locateString(body, ['s'])), 'a\\"b');
    assert.equal(slice(body, locateString(body, ['empty'])), '');
    assert.equal(slice(body, locateString(body, ['list', 0])), 'é');
    assert.equal(locateString(body, ['n']), undefined);
    assert.equal(locateString(Buffer.from('{"s":"open'), ['s']), undefined);
  });
});

describe('locateStrings', () => {
  it('finds at once what is found one by one', () => {
    fc.assert(
      fc.property(jsonValues, fc.nat(), fc.array(fc.nat()), (value, seed, picks) => {
        const body = Buffer.from(writeJson(value, chooser(seed)));
        const all = [...paths(JSON.parse(body.toString()) as Json)].map(([path]) => path);
        const picked = [...picks.map((pick) => all[pick % all.length]!), ['nowhere'], [7, 'x']];
        assert.deepEqual(
          locateStrings(body, picked),
          picked.map((path) => locateString(body, path)),
        );
      }),
    );
  });

  it('gives nothing for no paths', () => {
    assert.deepEqual(locateStrings(Buffer.from('{"a":1}'), []), []);
  });
});

describe('locateCharacters', () => {
  it('finds the bytes of each character, in long stretches and short, however they are escaped', () => {
    const pieces = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.nat(9000).map((length) => 'a漢é'.repeat(length / 3)),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 4 }), fc.nat(), fc.array(fc.nat()), (texts, seed, picks) => {
        const text = texts.join('');
        const body = Buffer.from(`[${writeString(text, chooser(seed))}]`);
        const isStart = (at: number): boolean => at === 0 || (text.codePointAt(at - 1) ?? 0) <= 0xffff;
        const offsets = [...new Set(picks.map((pick) => pick % (text.length + 1)))]
          .filter(isStart)
          .toSorted((a, b) => a - b);
        const string = locateString(body, [0])!;
        const places = locateCharacters(body, string, offsets);
        assert.ok(places !== undefined);
        for (const [index, place] of places.entries()) {
          const rest = `"${body.toString('utf8', place, string.end)}"`;
          assert.equal(JSON.parse(rest), text.slice(offsets[index]));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('finds none inside a surrogate pair or outside the string', () => {
    const body = Buffer.from('["ab😀"]');
    const string = locateString(body, [0])!;
    assert.deepEqual(locateCharacters(body, string, [0, 2, 4]), [2, 4, 8]);
    assert.equal(locateCharacters(body, string, [3]), undefined);
    assert.equal(locateCharacters(body, string, [5]), undefined);
  });
});

describe('locateStringPrefix', () => {
  it('cuts exactly the prefix, however it is escaped', () => {
    const texts = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(texts, texts, fc.nat(), (prefix, rest, seed) => {
        const body = Buffer.from(`[${writeString(prefix + rest, chooser(seed))}]`);
        const range = locateStringPrefix(body, [0], prefix);
        assert.ok(range !== undefined);
        const without = Buffer.concat([body.subarray(0, range.start), body.subarray(range.end)]);
        assert.deepEqual(JSON.parse(without.toString()), [rest]);
        assert.equal(locateStringPrefix(body, [0], `${prefix + rest}x`), undefined);
      }),
    );
  });

  it('maps escapes to characters', () => {
    const body = Buffer.from('{"prompt":"\\u003cbos\\u003E<bos>hi"}');
    assert.equal(slice(body, locateStringPrefix(body, ['prompt'], '<bos>')), '\\u003cbos\\u003E');
    assert.equal(locateStringPrefix(body, ['prompt'], '<eos>'), undefined);
  });

  it('does not cut a surrogate pair in half', () => {
    const body = Buffer.from('["😀"]');
    assert.equal(locateStringPrefix(body, [0], '\ud83d'), undefined);
    assert.equal(slice(body, locateStringPrefix(body, [0], '😀')), '😀');
  });
});

describe('locateListItem', () => {
  it('takes exactly one item out of any list of several, in any white space', () => {
    const lists = fc.array(jsonValues, { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(lists, fc.nat(), fc.nat(), (list, place, seed) => {
        const body = Buffer.from(writeJson({ list }, chooser(seed)));
        const index = place % list.length;
        const range = locateListItem(body, ['list', index]);
        assert.ok(range !== undefined);
        const without = Buffer.concat([body.subarray(0, range.start), body.subarray(range.end)]);
        const { list: all } = JSON.parse(body.toString()) as { list: Json[] };
        assert.deepEqual(JSON.parse(without.toString()), { list: all.toSpliced(index, 1) });
      }),
    );
  });

  it('takes neither the only item, nor one that is not there, nor a member of an object', () => {
    const body = Buffer.from('{"one":[1],"two":[1,2],"object":{"a":1,"b":2}}');
    for (const path of [['one', 0], ['two', 2], ['object', 'a'], ['two'], []]) {
      assert.equal(locateListItem(body, path), undefined, JSON.stringify(path));
    }
  });
});

describe('readStringStart', () => {
  it('reads what the string begins with, never half a character or escape', () => {
    const anyText = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(anyText, fc.nat(), fc.nat(40), (text, seed, most) => {
        const body = Buffer.from(`{"n":1,"prompt":${writeString(text, chooser(seed))}}`);
        const start = readStringStart(body, ['prompt'], most);
        assert.ok(start !== undefined && text.startsWith(start));
        // The longest way to write a character is an escape of six bytes.
        assert.ok(start.length === text.length || start.length >= Math.floor(most / 6) - 1);
      }),
    );
  });

  it('reads nothing of what is no string', () => {
    assert.equal(readStringStart(Buffer.from('{"prompt":[1]}'), ['prompt'], 10), undefined);
    assert.equal(readStringStart(Buffer.from('{}'), ['prompt'], 10), undefined);
  });
});
