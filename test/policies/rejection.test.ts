// The words and envelopes of rejections, per dialect. They are public: clients match on them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '../../src/exchange/finding.ts';
import { rejectFinding, rejectUnknown, type Rejection } from '../../src/policies/rejection.ts';

const finding: Finding = {
  kind: 'double-bos',
  severity: 'error',
  culprit: 'client',
  promptIndex: 0,
  tokens: { start: 0, end: 2 },
  field: 'prompt',
  message: 'Two of them.',
  advice: 'Send one.',
};
const parsed = ({ body }: Rejection): unknown => JSON.parse(body);

describe('rejectFinding', () => {
  it('says what, where and how to fix it, as OpenAI does', () => {
    const rejection = rejectFinding(finding, 'openai');
    assert.deepEqual([rejection.status, rejection.code], [400, 'double_bos']);
    assert.deepEqual(parsed(rejection), {
      error: {
        message: 'double-bos (in prompt, at tokens 0–1): Two of them. Send one.',
        type: 'invalid_request_error',
        param: 'prompt',
        code: 'double_bos',
      },
    });
    assert.deepEqual(parsed(rejectFinding(finding, 'native')), parsed(rejection));
    assert.deepEqual(parsed(rejectFinding(finding, 'responses')), parsed(rejection));
  });

  it('says it as Anthropic does', () => {
    assert.deepEqual(parsed(rejectFinding(finding, 'anthropic')), {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'double-bos (in prompt, at tokens 0–1): Two of them. Send one.',
        code: 'double_bos',
      },
    });
  });

  it('leaves out a place that there is none of', () => {
    const { kind, severity, culprit, promptIndex, message, advice } = finding;
    const placeless = { kind, severity, culprit, promptIndex, message, advice };
    assert.match(
      rejectFinding(placeless, 'openai').body,
      /"message":"double-bos: Two of them\..*"param":null/,
    );
  });
});

describe('rejectUnknown', () => {
  it('is a 503 that may be tried again', () => {
    const lacked = { kind: 'double-bos', reason: 'oracle-timeout' } as const;
    for (const dialect of ['openai', 'native', 'anthropic', 'responses'] as const) {
      const rejection = rejectUnknown(lacked, dialect);
      assert.deepEqual([rejection.status, rejection.code], [503, 'inspection_unknown']);
      assert.match(rejection.body, /double-bos \(oracle-timeout\)/);
      assert.match(rejection.body, /"code":"inspection_unknown"/);
    }
  });
});
