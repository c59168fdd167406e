/** Our own answers: the shape per dialect, the status per kind of failure, and that no address slips in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorEnvelope, upstreamFailure } from '../../src/proxy/error-envelope.ts';

const withCode = (code: string): Error =>
  Object.assign(new Error('connect to 10.1.2.3:8080 failed'), { code });

describe('upstreamFailure', () => {
  for (const [code, status, type] of [
    ['ECONNREFUSED', 502, 'upstream_unreachable'],
    ['ENOTFOUND', 502, 'upstream_unreachable'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 502, 'upstream_unreachable'],
    ['UND_ERR_SOCKET', 502, 'upstream_closed'],
    ['ECONNRESET', 502, 'upstream_closed'],
    ['HPE_INVALID_CONSTANT', 502, 'upstream_closed'],
    ['UND_ERR_CONNECT_TIMEOUT', 504, 'upstream_timeout'],
  ] as const) {
    it(`${code} is ${status} ${type}, without the address`, () => {
      const failure = upstreamFailure(withCode(code));
      assert.deepEqual([failure.status, failure.type, failure.code], [status, type, code]);
      assert.ok(!failure.message.includes('10.1.2.3'));
    });
  }

  for (const code of [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ]) {
    it(`${code} names the setting that says whom to trust`, () => {
      assert.match(upstreamFailure(withCode(code)).message, /certificate is not trusted.*upstream\.ca/);
    });
  }

  it('takes nothing but a code from an error, and copes with what is none', () => {
    for (const odd of [withCode('10.1.2.3:8080'), new Error('10.1.2.3'), 'text', undefined, { code: 7 }]) {
      const failure = upstreamFailure(odd);
      assert.equal(failure.status, 502);
      assert.ok(!failure.message.includes('10.1.2.3'), failure.message);
    }
  });
});

describe('errorEnvelope', () => {
  const failure = { status: 502, type: 'upstream_unreachable', message: 'm' } as const;
  for (const dialect of ['openai', 'native', 'responses'] as const) {
    it(`${dialect}: an error object with a numeric code`, () => {
      assert.deepEqual(JSON.parse(errorEnvelope(dialect, failure)), {
        error: { code: 502, message: 'm', type: 'upstream_unreachable' },
      });
    });
  }
  it('anthropic: a typed error', () => {
    assert.deepEqual(JSON.parse(errorEnvelope('anthropic', failure)), {
      type: 'error',
      error: { type: 'upstream_unreachable', message: 'm' },
    });
  });
});
