// Where a text stops being JSON: the same verdict as JSON.parse on anything, and a place that a person can go to.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '../../../src/exchange/json/body-reader.ts';
import { findJsonFault } from '../../../src/exchange/json/json-fault.ts';

const faults: readonly (readonly [name: string, text: string, line: number, column: number, says: RegExp])[] =
  [
    ['nothing at all', '', 1, 1, /^the text ends here; allowed: a value$/],
    ['a missing colon', '{"a" 1}', 1, 6, /^"1" stands here; allowed: ":"$/],
    [
      'a missing comma on the second line',
      '{\n "a": 1\n "b": 2}',
      3,
      2,
      /^"\\"" stands here; allowed: "," or "}"$/,
    ],
    ['a comma too many', '{"a": [1, 2,]}', 1, 13, /^"]" stands here; allowed: a value$/],
    ['a comma before the end', '{"a": 1,}', 1, 9, /allowed: a name in double quotes$/],
    ['single quotes', "{'a': 1}", 1, 2, /allowed: a name in double quotes or "}"$/],
    ['a comment', '{"a": 1} // one', 1, 10, /allowed: nothing more$/],
    ['a string that goes on', '{"a": "b', 1, 9, /^the text ends here; allowed: the rest of a string/],
    ['a line break in a string', '{"a": "b\nc"}', 1, 9, /write \\n$/],
    ['an escape that is none', '["\\x41"]', 1, 3, /after a backslash$/],
    ['a number with a leading zero', '[01]', 1, 2, /allowed: a value or "]"$/],
    ['a word', '{"a": None}', 1, 7, /^"N" stands here; allowed: a value$/],
    ['the wrong bracket', '[{"a": 1]]', 1, 9, /^"]" stands here; allowed: "," or "}"$/],
  ];

describe('a fault in JSON', () => {
  for (const [name, text, line, column, says] of faults) {
    it(`is found: ${name}`, () => {
      const fault = findJsonFault(text);
      assert.deepEqual([fault?.line, fault?.column], [line, column]);
      assert.match(fault?.message ?? '', says);
    });
  }

  it('is found exactly where JSON.parse finds none to be JSON', () => {
    const tokens = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-',
      '.5',
      'e3',
      'true',
      'nul',
      ' ',
      '\n',
      '\\',
    ];
    const soup = fc.array(fc.constantFrom(...tokens), { maxLength: 12 }).map((parts) => parts.join(''));
    const cut = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ...tokens)).map(([text, at, put]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + 1);
    });
    fc.assert(
      fc.property(fc.oneof(soup, cut, fc.json()), (text) => {
        assert.equal(findJsonFault(text) === undefined, parseJson(text) !== undefined);
      }),
      { numRuns: 3000 },
    );
  });

  it('is found in a text that is nested deeper than a stack is', () => {
    assert.equal(findJsonFault('['.repeat(1_000_000))?.column, 1_000_001);
  });
});
