// Edits of several findings in one body, and what counts as a proof.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding, Repair } from '../../src/exchange/finding.ts';
import { isRepairProven, rewriteBody } from '../../src/policies/rewrite.ts';

const repaired = (promptIndex: number, repair?: Repair): Finding => ({
  kind: 'double-bos',
  severity: 'error',
  culprit: 'client',
  promptIndex,
  message: 'Found.',
  advice: 'Fix.',
  ...(repair && { repair }),
});
const cut = (start: number, end: number, removesLeadingTokens = 1): Repair => ({
  edits: [{ start, end, replacement: '' }],
  proof: { by: 'ids', removesLeadingTokens },
});
const body = Buffer.from('0123456789');

describe('rewriteBody', () => {
  it('makes all edits, in whichever order they come, and leaves the original alone', () => {
    const rewrite = rewriteBody(body, [repaired(1, cut(7, 9)), repaired(0, cut(1, 3, 2)), repaired(2)]);
    assert.equal(rewrite?.body.toString(), '034569');
    assert.deepEqual(
      [...rewrite.proofs],
      [
        [1, { by: 'ids', removesLeadingTokens: 1 }],
        [0, { by: 'ids', removesLeadingTokens: 2 }],
      ],
    );
    assert.equal(body.toString(), '0123456789');
  });

  it('makes an edit that two findings want once', () => {
    assert.equal(
      rewriteBody(body, [repaired(0, cut(1, 3)), repaired(0, cut(1, 3))])?.body.toString(),
      '03456789',
    );
  });

  it('asks for the proof that holds for all repairs of a prompt', () => {
    const reread: Repair = { edits: [{ start: 8, end: 9, replacement: '' }], proof: { by: 'rereading' } };
    const proofOf = (...repairs: Repair[]) =>
      rewriteBody(
        body,
        repairs.map((one) => repaired(0, one)),
      )?.proofs.get(0);
    assert.deepEqual(proofOf(cut(1, 2), cut(3, 5, 2)), { by: 'ids', removesLeadingTokens: 2 });
    assert.deepEqual(proofOf(cut(1, 2), reread), { by: 'rereading' });
    assert.deepEqual(proofOf(reread, cut(1, 2)), { by: 'rereading' });
  });

  it('does nothing without repairs, or if they contradict each other', () => {
    assert.equal(rewriteBody(body, [repaired(0)]), undefined);
    assert.equal(rewriteBody(body, [repaired(0, cut(1, 4)), repaired(1, cut(3, 5))]), undefined);
  });
});

describe('isRepairProven', () => {
  it('wants the old ids without the repetitions of the first', () => {
    assert.ok(isRepairProven(Uint32Array.of(2, 2, 105, 7), [2, 105, 7], 1));
    assert.ok(isRepairProven([2, 2, 2, 105], [2, 105], 2));
    assert.ok(isRepairProven([5, 6], [5, 6], 0), 'a prompt that was not to change');
  });

  it('refuses anything else', () => {
    assert.ok(!isRepairProven([2, 2, 105], [2, 106], 1), 'another id');
    assert.ok(!isRepairProven([2, 2, 105], [2, 105, 7], 1), 'one more');
    assert.ok(!isRepairProven([2, 2, 105], [105], 2), 'the last BOS gone too');
    assert.ok(!isRepairProven([3, 2, 105], [2, 105], 1), 'a leading id that was none');
    assert.ok(!isRepairProven([2, 2], [], 2), 'nothing left');
    assert.ok(!isRepairProven([5, 6], [5, 7], 0), 'a prompt that was not to change');
  });
});
