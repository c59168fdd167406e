// What is left out is told from a short gap without looking for it in all forms: only where no piece of it is there.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { GapRuns } from '../../../src/exchange/written/gap-runs.ts';
import { isClearlyGone } from '../../../src/exchange/written/text-pieces.ts';

const markup = '<|im_end|>\n<|im_start|>assistant\n';
const said = 'I will look at the third part of it.';

describe('a text that is clearly gone', () => {
  const cases: [name: string, given: string, gap: string, isGone: boolean][] = [
    ['between markers', said, markup, true],
    ['beside a call', said, `${markup}{"name": "read", "arguments": {"path": "the third part"}}`, true],
    ['behind letters that forms may write otherwise', `漢字: ${said}`, markup, true],
    ['of which a piece is there', said, `${markup}look at the third part ${markup}`, false],
    ['that is there', said, `${markup}${said}${markup}`, false],
    ['that forms may write otherwise everywhere', said.replaceAll(' ', '"'), markup, false],
    ['in a gap that is not short', said, markup.repeat(70), false],
  ];
  for (const [name, given, gap, isGone] of cases) {
    it(`is ${isGone ? '' : 'not '}one ${name}`, () => {
      assert.equal(isClearlyGone(given, gap, [], new GapRuns()), isGone);
    });
  }

  it('shares no run of twenty characters with the gap', () => {
    const word = fc.constantFrom('ab', 'abab', 'cab', 'd', 'the part ', 'of it ', '<|', 'é');
    const text = fc.array(word, { minLength: 4, maxLength: 24 }).map((words) => words.join(''));
    let shared = 0;
    fc.assert(
      fc.property(text, text, text, (front, middle, behind) => {
        const given = `${front}${middle}`.trim();
        const gap = `${middle}${behind}`.slice(-256);
        const holds = hasCommonRun(given, gap, 20);
        shared += Number(holds);
        if (holds) assert.equal(isClearlyGone(given, gap, [], new GapRuns()), false, `${given}\n${gap}`);
        else
          assert.equal(
            isClearlyGone(given, gap, [], new GapRuns()),
            hasPlainRun(given, 28),
            `${given}\n${gap}`,
          );
      }),
      { numRuns: 3000 },
    );
    assert.ok(shared > 300 && shared < 2700, `${shared} of 3000`);
  });

  it('is told from the gaps of very long conversations too', () => {
    const gapRuns = new GapRuns();
    const wrong: number[] = [];
    for (let gap = 0; gap < 0x1_0010; gap += 1) {
      if (!gapRuns.shares(said, `${gap} ${said}`) || gapRuns.shares(said, `${gap} ${markup}`))
        wrong.push(gap);
    }
    assert.deepEqual(wrong, []);
  });
});

function hasCommonRun(one: string, other: string, length: number): boolean {
  for (let at = 0; at + length <= one.length; at += 1)
    if (other.includes(one.slice(at, at + length))) return true;
  return false;
}

function hasPlainRun(text: string, length: number): boolean {
  return text
    .slice(0, 256)
    .split(/[<é]/)
    .some((run) => run.length >= length);
}
