// Where a text stands whatever white space it has there: the same as if neither had any.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { spacedPlace } from '../../../src/exchange/written/spaced-place.ts';

const squeezed = (text: string): string => text.replaceAll(/\s+/g, '');
const piece = fc.constantFrom('a', 'b', 'ab', ' ', '\n', '  ', '\u2028', 'é', 'lock', '中');
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));

describe('a text among other white space', () => {
  it('is found where it stands, and nowhere else', () => {
    fc.assert(
      fc.property(text, text, text, fc.boolean(), (before, sought, after, isThere) => {
        fc.pre(sought.trim() !== '');
        const where = before + (isThere ? sought.replaceAll(/\s+/g, ' \n ') : '') + after;
        const found = spacedPlace(sought, where);
        assert.equal(found !== undefined, squeezed(where).includes(squeezed(sought)));
        if (found !== undefined)
          assert.equal(squeezed(where.slice(found.start, found.end)), squeezed(sought));
      }),
      { numRuns: 500 },
    );
  });

  it('is not given up where it is short, however often it begins', () => {
    const where = 'abababababab lock';
    assert.deepEqual(spacedPlace('ab lock', where), { start: 10, end: 17 });
    assert.equal(spacedPlace(`${'ab '.repeat(9)}é`, `${'ab'.repeat(30)} c`), undefined);
  });

  it('is not sought for ever where the text says the same again and again', () => {
    const same = 'a a '.repeat(20_000);
    const start = process.cpuUsage();
    const found = spacedPlace(`${same}b`, `${same}c`);
    assert.ok(found === undefined || found.start === found.end, 'given up, it has no place');
    const { user } = process.cpuUsage(start);
    assert.ok(user < 2_000_000, `${user} µs`);
  });
});
