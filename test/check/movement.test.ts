// How far two prompts agree, and what the depth of the first difference says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareIds } from '../../src/check/movement.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import { factsOf } from '../support/exchange-builder.ts';

function moved(then: readonly number[], now: readonly number[], facts: ModelFacts = factsOf.qwen3) {
  const side = (ids: readonly number[]) => ({ ids: Uint32Array.from(ids), facts });
  return compareIds(side(then), side(now));
}

const [start, end, newline, think, endThink] = [151_644, 151_645, 198, 151_667, 151_668] as const;
const user = [start, 872, newline, 13_048, end, newline];
const opening = [start, 77_091, newline];
const tail = [think, 271, endThink, 271];

describe('two prompts', () => {
  it('have not moved if their ids are the same', () => {
    assert.equal(moved(user, user), undefined);
    assert.equal(moved([], []), undefined);
  });

  const cases: readonly (readonly [
    name: string,
    then: readonly number[],
    now: readonly number[],
    position: number,
    depth: string,
    says: RegExp,
  ])[] = [
    [
      'at token 0',
      [1, ...user],
      user,
      0,
      'wire-format',
      /differ from the first token on: .* the wire format/,
    ],
    [
      'behind markers alone',
      [start, 8948, newline, 2610, end],
      user,
      1,
      'wire-format',
      /differ after 1 control token: /,
    ],
    [
      'in a text',
      [...user, ...opening],
      [start, 872, newline, 9707, end, newline, ...opening],
      3,
      'content',
      /the same for 3 tokens of 9, so the wire format is; then the content differs/,
    ],
    [
      'where the generation prompt is missing',
      user,
      [...user, ...opening],
      6,
      'generation-prompt',
      /^Today's prompt goes on where the other ends, with 3 tokens: exactly the generation prompt\.$/,
    ],
    [
      'where a think tail is no longer written',
      [...user, ...opening, ...tail],
      [...user, ...opening],
      9,
      'generation-prompt',
      /^The recorded prompt goes on where the other ends, with 4 tokens: exactly the think tail\.$/,
    ],
    [
      'where both are missing',
      user,
      [...user, ...opening, ...tail],
      6,
      'generation-prompt',
      /exactly the generation prompt and the think tail\.$/,
    ],
    [
      'where a whole turn is missing',
      user,
      [...user, ...user, ...opening],
      6,
      'generation-prompt',
      /with 9 tokens: more than a generation prompt: a turn, or a tail/,
    ],
    ['where there was nothing', [], user, 0, 'generation-prompt', /^Today's prompt goes on/],
    [
      'in the last turn, which only begins alike',
      [...user, start, 872, newline, 13_048],
      [...user, ...opening],
      7,
      'content',
      /the same for 7 tokens/,
    ],
  ];
  for (const [name, then, now, position, depth, says] of cases) {
    it(`differ ${name}`, () => {
      const movement = moved(then, now);
      assert.deepEqual([movement?.position, movement?.depth], [position, depth]);
      assert.deepEqual([movement?.thenTokens, movement?.nowTokens], [then.length, now.length]);
      assert.match(movement?.message ?? '', says);
    });
  }

  it('differ in the generation prompt if each ends with its own', () => {
    const side = (name: number) => ({
      ids: Uint32Array.from([...user, start, name, newline]),
      facts: { ...factsOf.qwen3, generationPrompt: { text: '', ids: [start, name, newline] } },
    });
    const movement = compareIds(side(77_091), side(2528));
    assert.deepEqual([movement?.position, movement?.depth], [7, 'generation-prompt']);
    assert.match(movement?.message ?? '', /the same for 7 tokens and differ in the generation prompt/);
  });

  it('of a model without tails end in more than those', () => {
    assert.match(
      moved([1], [1, 2], factsOf.base)?.message ?? '',
      /with 1 token: more than a generation prompt/,
    );
  });
});
