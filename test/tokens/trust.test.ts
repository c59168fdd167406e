import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { TokenTrust } from '../../src/tokens/trust.ts';

describe('TokenTrust', () => {
  it('stops memoising at the first mismatch, and says so once', () => {
    const trust = new TokenTrust();
    assert.deepEqual(trust.countMismatched('chat'), ['memoising-off']);
    assert.equal(trust.memoising, false);
    assert.deepEqual(trust.windowMismatched(), []);
    assert.equal(trust.verified(), true);
  });

  it('calls ids unverified after three mismatches of one kind in a row', () => {
    const trust = new TokenTrust();
    trust.countMismatched('chat');
    trust.countMismatched('chat');
    assert.deepEqual(trust.countMismatched('chat'), ['unverified']);
    assert.equal(trust.verified(), false);
  });

  it('keeps the routes apart, each with its own way back', () => {
    const trust = new TokenTrust();
    for (let turn = 0; turn < 3; turn += 1) trust.countMismatched('messages', false);
    assert.deepEqual(
      [trust.verified('messages'), trust.verified('chat'), trust.verified()],
      [false, true, false],
    );
    assert.equal(trust.memoising, true);
    for (let turn = 0; turn < 10; turn += 1) assert.deepEqual(trust.countMatched('chat'), []);
    assert.equal(trust.verified('messages'), false);
    const changes = Array.from({ length: 10 }, () => trust.countMatched('messages')).flat();
    assert.deepEqual(changes, ['verified']);
  });

  it('does not add up mismatches of different kinds, nor with matches between them', () => {
    const trust = new TokenTrust();
    for (const kind of ['chat', 'completion', 'chat', 'completion']) trust.countMismatched(kind);
    assert.equal(trust.verified(), true);
    trust.countMatched('chat');
    trust.countMismatched('chat');
    trust.countMismatched('chat');
    assert.equal(trust.verified(), true);
  });

  it('verifies again after ten matches in a row', () => {
    const trust = new TokenTrust();
    for (let turn = 0; turn < 3; turn += 1) trust.countMismatched('chat');
    const changes = Array.from({ length: 10 }, () => trust.countMatched('chat')).flat();
    assert.deepEqual(changes, ['verified']);
    assert.equal(trust.verified(), true);
    assert.equal(trust.memoising, false);
  });
});
