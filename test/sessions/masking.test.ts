// What counts as a clock or a calendar, and what must not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maskDates, maskTimes } from '../../src/sessions/masking.ts';

const equalTimes: readonly [string, string][] = [
  ['Current time is 10:00:01.', 'Current time is 9:59:59.'],
  ['It is 10:00', 'It is 23:59'],
  ['It is 9:05 PM', 'It is 11:15 a.m.'],
  ['now: 2026-09-01T10:00:01.123456Z', 'now: 2026-09-01T10:00:19Z'],
  ['now: 2026-09-01T10:00:01+02:00', 'now: 2026-09-01T22:10:00+02:00'],
  ['timestamp 1788220801', 'timestamp 1788220819'],
  ['epoch_ms=1788220801123', 'epoch_ms=1788220819456'],
];
const equalDates: readonly [string, string][] = [
  ["Today's date is 2026-09-01.", "Today's date is 2026-10-12."],
  ['Today: 01.09.2026', 'Today: 2.9.2026'],
  ['Today: 9/1/26', 'Today: 9/12/26'],
  ['Today is 1 Sep 2026', 'Today is 30 September 2026'],
  ['Today is Monday, September 1', 'Today is Tuesday, September 2'],
  ['Today is the 1st of May', 'Today is the 22nd of June'],
  ['It is September 2026', 'It is October 2026'],
  ['Mon Sep 1', 'Tue Sep 2'],
];
const untouched = [
  'You may answer in 3 words.',
  'Order 1788220801 was shipped.',
  'Version 2.1.36 of the tool, ratio 4:3',
  'A march of 20 miles; the sun is up.',
  '',
];

describe('maskTimes and maskDates', () => {
  for (const [one, other] of equalTimes) {
    it(`sees only a clock between "${one}" and "${other}"`, () => {
      assert.equal(maskTimes(one), maskTimes(other));
      assert.notEqual(maskTimes(one), one);
    });
  }
  for (const [one, other] of equalDates) {
    it(`sees only a date between "${one}" and "${other}"`, () => {
      assert.equal(maskTimes(one), one);
      assert.equal(maskDates(one), maskDates(other));
      assert.notEqual(maskDates(one), one);
    });
  }
  for (const line of untouched) {
    it(`leaves "${line}" alone`, () => {
      assert.equal(maskDates(maskTimes(line)), line);
    });
  }

  it('takes linear time on long lines', () => {
    const line = '1 of '.repeat(50_000) + '12:'.repeat(50_000) + '\t'.repeat(50_000);
    const started = performance.now();
    maskDates(maskTimes(line));
    assert.ok(performance.now() - started < 2000);
  });
});
