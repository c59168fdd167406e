/** Header lists: what is taken out, and that the rest stays as it was. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endToEnd, firstValue } from '../../src/proxy/raw-headers.ts';

describe('endToEnd', () => {
  it('keeps order, case and repetition', () => {
    const headers = ['B', '1', 'a', '2', 'B', '3', 'Empty', ''];
    assert.deepEqual(endToEnd(headers), headers);
  });

  it('takes out hop-by-hop fields in any case', () => {
    const hop = [
      'Connection',
      'keep-alive',
      'KEEP-ALIVE',
      'x',
      'te',
      'y',
      'Trailer',
      'z',
      'transfer-Encoding',
      'chunked',
    ];
    assert.deepEqual(
      endToEnd([...hop, 'Upgrade', 'h2c', 'Proxy-Connection', 'a', 'Proxy-Authenticate', 'b', 'C', '1']),
      ['C', '1'],
    );
  });

  it('takes out what several Connection fields name', () => {
    assert.deepEqual(
      endToEnd(['X-One', '1', 'Connection', 'close, x-one', 'X-Two', '2', 'connection', 'X-TWO', 'C', '3']),
      ['C', '3'],
    );
  });

  it('takes out what it is told to', () => {
    assert.deepEqual(endToEnd(['Host', 'a', 'C', '1'], new Set(['host'])), ['C', '1']);
  });
});

describe('firstValue', () => {
  it('is the first of a repeated field, or empty', () => {
    assert.equal(firstValue(['A', '1', 'a', '2'], 'a'), '1');
    assert.equal(firstValue(['A', '1'], 'b'), '');
  });
});
