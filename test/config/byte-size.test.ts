// Sizes read and written: what is written reads back equal, and nothing else than a whole number of bytes is a size.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatByteSize, parseByteSize } from '../../src/config/byte-size.ts';

describe('byte sizes', () => {
  it('reads back what it writes, for every size', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (bytes) => {
        assert.equal(parseByteSize(formatByteSize(bytes)), bytes);
      }),
    );
  });

  it('writes whole units with the largest one that keeps the value', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1023 }), fc.constantFrom('KiB', 'MiB', 'GiB'), (count, unit) => {
        const bytes = parseByteSize(`${count}${unit}`);
        assert.equal(formatByteSize(bytes ?? -1), `${count}${unit}`);
      }),
    );
  });

  const read: readonly (readonly [string, number])[] = [
    ['0', 0],
    ['512', 512],
    ['512B', 512],
    ['1KiB', 1024],
    ['64MiB', 67_108_864],
    ['64 mib', 67_108_864],
    ['1.5GiB', 1_610_612_736],
  ];
  for (const [text, bytes] of read)
    it(`reads "${text}"`, () => {
      assert.equal(parseByteSize(text), bytes);
    });

  for (const text of [
    '',
    '64MB',
    '64M',
    '-1',
    '1e6',
    '0.3KiB',
    '64MiB/s',
    'MiB',
    '9007199254740993',
    'NaN',
  ]) {
    it(`does not read "${text}"`, () => {
      assert.equal(parseByteSize(text), undefined);
    });
  }
});
