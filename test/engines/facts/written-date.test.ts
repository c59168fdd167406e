// A rendering that tells the day. What strftime writes is not the same in the first nine days of a month.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdsToday } from '../../../src/engines/facts/written-date.ts';

const early = new Date('2026-12-01T12:00:00Z');
const late = new Date('2026-11-21T12:00:00Z');

const cases: [text: string, now: Date, holds: boolean][] = [
  // Llama 3.1 to 3.3: `strftime_now("%d %b %Y")`.
  ['Today Date: 01 Dec 2026\n', early, true],
  ['Today Date: 21 Nov 2026\n', late, true],
  // Granite 3.3: `strftime_now('%B %d, %Y')`.
  ["Today's Date: December 01, 2026.\n", early, true],
  ["Today's Date: November 21, 2026.\n", late, true],
  // gpt-oss, Apertus: `strftime_now("%Y-%m-%d")`.
  ['Current date: 2026-12-01\n', early, true],
  ['今天是2026-12-01', early, true],
  // As people write it.
  ['Tuesday, December 1, 2026', early, true],
  ['Tuesday, 1 December 2026', early, true],
  ['01/12/2026', early, true],
  ['12/01/2026', early, true],
  ['01.12.2026', early, true],
  // The engine's clock may stand in another zone.
  ['30 Nov 2026', early, true],
  ['December 02, 2026', early, true],
  // Other days.
  ['21 Dec 2026', early, false],
  ['December 11, 2026', early, false],
  ['December 1, 20261', early, false],
  ['Cutting Knowledge Date: December 2023', early, false],
  ['01 Dec 2025', early, false],
  ['2026-12-011', early, false],
  ['2026-12-10', early, false],
  ['21/12/2026', early, false],
  ['28 Nov 2026', early, false],
  ['', early, false],
];

describe('the day that a rendering tells', () => {
  for (const [text, now, holds] of cases) {
    it(`${holds ? 'is seen' : 'is not taken for today'} in ${JSON.stringify(text)} on ${now.toISOString().slice(0, 10)}`, () => {
      assert.equal(holdsToday(text, now), holds);
    });
  }
});
