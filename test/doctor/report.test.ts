// The report as text: every line fits, nothing from a model file reaches the terminal unescaped, colours on request only.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { adviseOn } from '../../src/doctor/advice.ts';
import type { Diagnosis, Serving } from '../../src/doctor/diagnosis.ts';
import { formatDiagnosis } from '../../src/doctor/report.ts';
import { tokenizationTable } from '../../src/doctor/tokenization-table.ts';
import { displayWidth } from '../../src/report/display-width.ts';
import { createPaint } from '../../src/report/layout.ts';
import { factsOf } from '../support/exchange-builder.ts';
import { servingOf } from './serving.ts';

const plain = createPaint(false);

const observed = [
  {
    id: 'content-lost;reasoning',
    severity: 'info',
    sends: 'reasoning of an earlier answer',
    message: `The prompt does not hold messages[1].reasoning_content: the template leaves out ${'a lot '.repeat(20)}there.`,
    advice: 'Nothing need be done.',
  },
] as const;

function diagnosisOf(serving: Serving, text?: string): Diagnosis {
  const view = { options: { a: true }, asPrompt: true, ids: [2, 9], pieces: ['<bos>', [0xe2, 0x80]] };
  return {
    known: true,
    upstream: 'http://127.0.0.1:8080',
    serving,
    advice: adviseOn(serving),
    observed,
    ...(text !== undefined && { explained: { text, views: [view] } }),
  };
}

describe('the report', () => {
  const hostile = '\u001b[2J\u001b]0;owned\u0007\u202e\u2028 漢字'.repeat(30);
  const hostileServing = servingOf('gemma3', {
    build: hostile,
    modelName: hostile,
    modelPath: hostile,
    templateFirstLine: hostile,
    bos: { text: hostile, id: 2 },
    markers: [{ text: hostile, id: 2 }],
    roleMarkers: [{ role: 'user', opening: hostile }],
    generationPrompt: { text: hostile, ids: Array.from({ length: 200 }, (_, index) => index) },
    thinkTail: { text: hostile, ids: [1] },
  });

  it('tells a template that is not shown from none, and names no slots where there are none', () => {
    const shown = (serving: Serving): string => formatDiagnosis(diagnosisOf(serving), plain);
    const hidden = { templateHash: '', templateFirstLine: '', slots: 0, contextTokens: 4096 };
    const report = shown(servingOf('gemma3', hidden));
    assert.match(report, /^ {2}template +not shown by the engine; this is what it writes$/m);
    assert.match(report, /^ {2}user +<start_of_turn>user\\n$/m);
    assert.match(report, /^ {2}context +4096 tokens$/m);
    for (const none of [
      { ...hidden, roleMarkers: [] },
      { ...hidden, templateOrigin: 'none' as const },
    ])
      assert.match(shown(servingOf('gemma3', none)), /^ {2}template +none$/m);
  });

  for (const [name, serving] of [
    ['Gemma 3', servingOf('gemma3')],
    ['Qwen3', servingOf('qwen3')],
    ['a hostile model file', hostileServing],
  ] as const) {
    it(`of ${name} has no line over 100 columns`, () => {
      for (const line of formatDiagnosis(diagnosisOf(serving, hostile), plain).split('\n')) {
        assert.ok(displayWidth(line) <= 100, line);
      }
    });
  }

  it('says how texts and JSON are written, in lines', () => {
    const { reading } = factsOf.rewriting;
    const lines = formatDiagnosis(diagnosisOf(servingOf('qwen3', { reading })), plain).split('\n');
    const start = lines.findIndex((line) => line.startsWith('  texts'));
    assert.deepEqual(lines.slice(start, start + 5), [
      '  texts              without "<"; without ">"; in capitals; with other white space inside; trimmed:',
      '                     instructions, question, answer, text-part',
      '                     "\\"" as "\\\\\\""; "\\n" as "\\\\n"; beyond ASCII as \\u00E9: tool-result',
      '  JSON               result: as Python writes it; ", " and ": "; members sorted',
      '',
    ]);
    const whole = formatDiagnosis(diagnosisOf(servingOf('qwen3')), plain);
    assert.match(whole, /^ {2}texts +not seen: the template refused to be tried$/m);
  });

  it('has no spaces at line ends', () => {
    assert.doesNotMatch(formatDiagnosis(diagnosisOf(servingOf('qwen3'), 'x'), plain), / $/m);
  });

  it('escapes control and bidirectional characters', () => {
    const text = formatDiagnosis(diagnosisOf(hostileServing, hostile), plain);
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u2028\u202e]/u);
    assert.match(text, /\\x1b\[2J/);
  });

  it('says the same with colours and without', () => {
    const diagnosis = diagnosisOf(servingOf('gemma3'), 'x');
    const coloured = formatDiagnosis(diagnosis, createPaint(true));
    assert.notEqual(coloured, formatDiagnosis(diagnosis, plain));
    assert.equal(stripVTControlCharacters(coloured), formatDiagnosis(diagnosis, plain));
  });

  it('of a model without template and markers says so', () => {
    const text = formatDiagnosis(diagnosisOf(servingOf('base', { templateHash: '' })), plain);
    assert.match(text, /^Template\n {2}template {2}none$/m);
    assert.match(text, /^Markers\n {2}0 {2}none found$/m);
  });

  it('does not claim to know the BOS of a chat prompt that was not rendered', () => {
    const { facts, routes } = servingOf('gemma3');
    const text = formatDiagnosis(diagnosisOf({ facts, routes, trainedContextTokens: 0 }), plain);
    assert.match(text, /\/v1\/chat\/completions {2}not known/);
  });
});

describe('the table of tokenizations', () => {
  const view = (flag: boolean, ids: readonly number[], pieces: readonly (string | readonly number[])[]) => ({
    options: { parse_special: flag },
    asPrompt: flag,
    ids,
    pieces,
  });

  it('lists equal ids once and shows markers bare, text in quotes, bytes as bytes', () => {
    const table = tokenizationTable(
      [view(true, [2, 7, 8], ['<bos>', '  a"', [0xf0, 0x9f]]), view(false, [5], ['<bos>'])],
      [{ text: '<bos>', id: 2 }],
    );
    assert.deepEqual(table, [
      '  parse_special  tokens  ids',
      '  true                3  A  as the routes that take text read it',
      '  false               1  B',
      '',
      String.raw`  A  2 <bos>  7 "  a\""  8 "\xf0\x9f"`,
      '  B  5 "<bos>"',
    ]);
  });

  it('keeps every space of a piece that is longer than a line', () => {
    const [, , , ...lines] = tokenizationTable([view(true, [9], [' '.repeat(150)])], []);
    assert.equal(lines.join('').replaceAll(/\S/g, '').length, 150 + 5 + 5);
  });

  it('says when there are no tokens', () => {
    assert.equal(tokenizationTable([view(true, [], [])], []).at(-1), '  A  (no tokens)');
  });
});
