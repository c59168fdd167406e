// Findings as people see them: each layout as a whole, and what must never reach a terminal.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createPaint } from '../../src/report/layout.ts';
import type { FindingRecord } from '../../src/exchange/finding-record.ts';
import { displayWidth } from '../../src/report/display-width.ts';
import { reportFinding, type ReportOptions } from '../../src/report/finding-report.ts';
import { findingRecord } from '../log/finding-under-test.ts';

const plain = createPaint(false);

function report(record: FindingRecord, options: Partial<ReportOptions> = {}): string {
  return reportFinding(record, { paint: plain, ...options });
}

function assertReport(actual: string, lines: readonly string[]): void {
  assert.deepEqual(actual.split('\n'), [...lines, '']);
}

/** A finding about the whole exchange: no field, no tokens, nothing lost. */
const placeless: FindingRecord = {
  time: '2026-01-31T12:00:00.000Z',
  requestId: 'r-1',
  model: 'qwen3',
  route: 'chat',
  client: 'c-1',
  kind: 'output-truncated',
  severity: 'info',
  culprit: 'client',
  promptIndex: 0,
  message: 'The reply ended at the limit of 16 tokens.',
  advice: 'Raise max_tokens.',
  action: 'pass',
};

const doubleBos: FindingRecord = {
  ...placeless,
  kind: 'double-bos',
  cause: 'literal',
  severity: 'error',
  model: 'gemma-3-4b-it',
  route: 'completion',
  field: 'prompt',
  tokens: { start: 0, end: 2 },
  message:
    'The prompt starts with 2 BOS tokens (<bos>, id 2) where the model was trained on one: the text starts with <bos>.',
  advice: 'Leave <bos> out of the start of the text, or send token ids.',
  action: 'reject',
  window: {
    start: 0,
    pieces: [
      { position: 0, class: 'control', text: '<bos>', tokenId: 2 },
      { position: 1, class: 'control', text: '<bos>', tokenId: 2 },
      { position: 2, class: 'control', text: '<start_of_turn>', tokenId: 105 },
      { position: 3, class: 'text', id: 'a3f91c' },
      { position: 4, class: 'text', id: 'a3f91c' },
      { position: 5, class: 'unknown' },
    ],
  },
};

describe('a finding for people', () => {
  it('shows masked tokens by their pseudonyms, and what was done', () => {
    assertReport(report(doubleBos), [
      'error[double-bos;literal] model gemma-3-4b-it, route completion',
      '  --> prompt, tokens 0–1',
      '   |',
      ' 0 | <bos> <bos> <start_of_turn> ‹a3f› ‹a3f› ·',
      '   | ^^^^^^^^^^^',
      '   | The prompt starts with 2 BOS tokens (<bos>, id 2) where the model was trained on one: the text',
      '   | starts with <bos>.',
      '   |',
      '   = culprit: client',
      '   = action: reject',
      '   = ids from 0: 2 2 105 · · ·',
      '   = help: Leave <bos> out of the start of the text, or send token ids.',
    ]);
  });

  it('says what a break costs, in tokens and at the rate of the engine', () => {
    assertReport(report(findingRecord(), { prefillTokensPerSecond: 1780 }), [
      'warning[prefix-break;tools-reordered] model qwen3, route chat',
      '   --> tools, tokens 56–57',
      '    |',
      ' 55 | <|im_start|> ‹b2› ‹c3› ‹b2›',
      '    |              ^^^^^^^^^',
      '    | the earlier turn there:',
      ' 55 | <|im_start|> ‹d4›',
      '    |              ^^^^',
      '    | The prompt leaves the earlier turn at token 56 of 234.',
      '    |',
      '    = culprit: client',
      '    = lost: 178 tokens, 100 ms of prefill at 1,780 tokens/s',
      '    = saved: 170 tokens',
      '    = action: rewrite',
      '    = help: Send the tools in the same order on every turn.',
    ]);
    assert.match(
      report(findingRecord({ lostTokens: 30_000 }), { prefillTokensPerSecond: 1500 }),
      /= lost: 30,000 tokens, 20\.0 s of prefill at 1,500 tokens\/s$/m,
    );
    assert.match(report(findingRecord({ lostTokens: 1 })), /= lost: 1 token$/m);
  });

  it('aligns the carets under wide characters, and quotes the text that the operator chose to see', () => {
    const record: FindingRecord = {
      ...doubleBos,
      action: 'pass',
      tokens: { start: 2, end: 4 },
      window: {
        start: 0,
        pieces: [
          { position: 0, class: 'control', text: '<｜User｜>' },
          { position: 1, class: 'text', text: '水车' },
          { position: 2, class: 'text', text: ' {"' },
          { position: 3, class: 'text', text: '🙂' },
          { position: 4, class: 'text', text: `it's "x"` },
        ],
      },
    };
    const [, , , pieces = '', carets = ''] = report(record).split('\n');
    assert.equal(pieces, String.raw` 0 | <｜User｜> "水车" ' {"' "🙂" "it's \"x\""`);
    assert.equal(carets, '   |                   ^^^^^^^^^^');
    assert.equal(displayWidth(pieces.slice(0, pieces.indexOf("' {"))), carets.indexOf('^'));
  });

  it('wraps the window between tokens, with carets in the rows that they concern', () => {
    const pieces = Array.from({ length: 8 }, (_, index) => {
      return { position: 96 + index, class: 'text', text: `word${index}` } as const;
    });
    const record: FindingRecord = {
      ...doubleBos,
      tokens: { start: 99, end: 101 },
      window: { start: 96, pieces },
    };
    const lines = report(record, { columns: 42 }).split('\n');
    assert.deepEqual(lines.slice(0, 9), [
      'error[double-bos;literal] model',
      'gemma-3-4b-it, route completion',
      '    --> prompt, tokens 99–100',
      '     |',
      '  96 | "word0" "word1" "word2" "word3"',
      '     |                         ^^^^^^^',
      ' 100 | "word4" "word5" "word6" "word7"',
      '     | ^^^^^^^',
      '     | The prompt starts with 2 BOS tokens',
    ]);
  });

  it('names the request where the fact has no place, and the prompt of a batch where it has one', () => {
    assertReport(report(placeless), [
      'info[output-truncated] model qwen3, route chat',
      '  --> request r-1',
      '   |',
      '   | The reply ended at the limit of 16 tokens.',
      '   |',
      '   = culprit: client',
      '   = help: Raise max_tokens.',
    ]);
    assert.match(report({ ...placeless, promptIndex: 2 }), /--> prompt or choice 2$/m);
  });

  it('escapes whatever would move the cursor', () => {
    const evil = '\u001b[2J\r\u202e';
    const record: FindingRecord = {
      ...doubleBos,
      model: `m${evil}`,
      field: `f${evil}`,
      message: `Says ${evil}.`,
      advice: `Do ${evil}.`,
      window: {
        start: 0,
        pieces: [
          { position: 0, class: 'control', text: `<${evil}>` },
          { position: 1, class: 'text', text: `t"${evil}` },
        ],
      },
    };
    const text = report(record);
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{C}\p{Zl}\p{Zp}]/u);
    assert.equal(text.split(String.raw`\x1b[2J\r\u{202e}`).length, 7, 'each of the six is shown, escaped');
  });

  it('keeps within the columns, however narrow', () => {
    for (const columns of [40, 60, 80, 100]) {
      for (const record of [doubleBos, findingRecord(), { ...doubleBos, field: 'x'.repeat(300) }]) {
        const lines = report(record, { columns }).split('\n');
        assert.deepEqual(
          lines.filter((line) => displayWidth(line) > columns),
          [],
        );
      }
    }
  });

  it('differs in nothing but colours where colours are wanted', () => {
    const painted = reportFinding(doubleBos, { paint: createPaint(true) });
    assert.equal(stripVTControlCharacters(painted), report(doubleBos));
    assert.ok(painted.startsWith('\u001b[1m\u001b[31merror[double-bos;literal]'));
  });
});
