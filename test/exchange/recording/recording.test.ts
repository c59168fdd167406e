// Recordings: what is frozen comes back as it was, and a file that somebody has mended by hand is refused with its line.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isRecording, readRecording } from '../../../src/exchange/recording/recording-reader.ts';
import { formatRecording, recordExchange } from '../../../src/exchange/recording/recording-writer.ts';
import type { RecordedReply } from '../../../src/exchange/recording/recorded-reply.ts';
import type { ModelFacts } from '../../../src/exchange/model-facts.ts';
import { buildExchange, factsOf } from '../../support/exchange-builder.ts';

const date = new Date('2026-03-01T12:00:00Z');

function recordingOf(facts: ModelFacts = factsOf.gemma3): string {
  const exchange = buildExchange({
    route: 'completion',
    body: '{"prompt": "<bos>Hi", "seed": 12345678901234567890}',
    facts,
    ids: [[2, 2, 10_979], 'media'],
    text: '<bos>Hi',
  });
  const entry = recordExchange(exchange, date, 'mine');
  assert.ok(entry);
  return formatRecording('tokenweir test', [entry, entry]);
}

const lines = recordingOf().trimEnd().split('\n');

describe('a recording', () => {
  it('keeps ids, text, reasons, facts and every byte of the body', () => {
    const { entries, mistakes } = readRecording(recordingOf());
    assert.deepEqual(mistakes, []);
    assert.equal(entries.length, 2);
    const [entry] = entries;
    assert.equal(entry?.line, 3);
    assert.deepEqual(entry.facts, factsOf.gemma3);
    assert.equal(entry.exchange.body, '{"prompt": "<bos>Hi", "seed": 12345678901234567890}');
    assert.deepEqual(entry.exchange.prompts, [
      { ids: [2, 2, 10_979], source: 'engine', text: '<bos>Hi' },
      { unknown: 'media' },
    ]);
    const { session, build, date: at } = entry.exchange;
    assert.deepEqual([session, build, at], ['mine', factsOf.gemma3.build, '2026-03-01T12:00:00.000Z']);
  });

  it('keeps what the engine put in front, where requests differ in that', () => {
    const exchange = buildExchange({ route: 'completion', body: { prompt: 'Hi' }, ids: [[2, 10_979]] });
    const added = { ids: [2], by: 'request', field: 'add_special_tokens' } as const;
    exchange.heads = [{ known: true, ids: [2, 10_979], added }];
    const entry = recordExchange(exchange, date);
    assert.ok(entry);
    const { entries, mistakes } = readRecording(formatRecording('tokenweir test', [entry]));
    assert.deepEqual(mistakes, []);
    assert.deepEqual(entries[0]?.exchange.prompts, [{ ids: [2, 10_979], source: 'engine', added }]);
  });

  it('keeps of a reply what detectors ask for, and neither a word nor an id of what was generated', () => {
    const exchange = buildExchange({ route: 'completion', body: { prompt: 'Hi' }, ids: [[2, 10_979]] });
    const told = {
      index: 0,
      finishReason: 'length',
      promptTokens: 2,
      cachedTokens: 0,
      completionTokens: 3,
      hasAnswerText: true,
      hasReasoning: false,
      hasToolCalls: false,
      turns: { seen: [{ role: 'user', form: 'marker', at: 12, words: 2 }], wordsAfter: 4 },
    } as const;
    const replyWith = (promptIds: readonly number[]): RecordedReply | undefined => {
      const choices = [{ ...told, promptIds, generatedIds: [7, 8, 9], prefillTokensPerSecond: 12.5 }];
      exchange.reply = { status: 200, started: true, complete: true, choices };
      const entry = recordExchange(exchange, date);
      assert.ok(entry);
      const { entries, mistakes } = readRecording(formatRecording('tokenweir test', [entry]));
      assert.deepEqual(mistakes, []);
      return entries[0]?.exchange.reply;
    };
    assert.deepEqual(replyWith([2, 10_979]), { status: 200, started: true, complete: true, choices: [told] });
    // The prompt's ids by the engine's account are told only where they are others.
    assert.deepEqual(replyWith([2, 11])?.choices, [{ ...told, promptIds: [2, 11] }]);
  });

  it('writes facts once, and calls them the same after a restart of the engine', () => {
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { type: string }).type),
      ['recording', 'facts', 'exchange', 'exchange'],
    );
    const hashOf = (facts: ModelFacts): string | undefined =>
      readRecording(recordingOf(facts)).entries[0]?.exchange.facts;
    const same = hashOf({ ...factsOf.gemma3, identity: 'another process', mediaMarker: '<other>' });
    assert.equal(same, hashOf(factsOf.gemma3));
    assert.notEqual(hashOf({ ...factsOf.gemma3, templateHash: 'other' }), same);
  });

  it('can be joined to another, and read past members that are not known yet', () => {
    const known = readRecording(`${recordingOf()}\n${recordingOf(factsOf.qwen3)}`);
    assert.deepEqual(known.mistakes, []);
    assert.equal(known.entries[3]?.facts.modelName, factsOf.qwen3.modelName);
    const later = lines.map((line) => line.replace(/^\{/, '{"later": 1, '));
    assert.deepEqual(readRecording(later.join('\n')).mistakes, []);
  });

  it('freezes nothing of which nothing is known', () => {
    const exchange = buildExchange({ route: 'completion', body: { prompt: 'a' } });
    delete exchange.facts;
    assert.equal(recordExchange(exchange, date), undefined);
  });

  it('says why nothing is known of prompts that the inspection did not come to', () => {
    const exchange = buildExchange({ route: 'completion', body: { prompt: ['a', 'b'] } });
    exchange.prompts = [];
    exchange.inspection = { result: 'unknown', reason: 'exempt' };
    const prompts = recordExchange(exchange, date)?.exchange.prompts;
    assert.deepEqual(prompts, [{ unknown: 'exempt' }, { unknown: 'exempt' }]);
  });

  it('is told by its first line', () => {
    assert.ok(isRecording(`\n${recordingOf()}`));
    for (const other of ['', '{"messages": []}', '{\n"type": "recording"}', '[]', 'type: recording']) {
      assert.equal(isRecording(other), false, other);
    }
  });
});

describe('a line that can not be read', () => {
  /** Line 3 of the recording, with a change. */
  const changed = (change: (line: string) => string): string =>
    [...lines.slice(0, 2), change(lines[2] ?? '')].join('\n');
  const facts = (change: (line: string) => string): string => [lines[0], change(lines[1] ?? '')].join('\n');

  const mistakes: readonly (readonly [name: string, text: string, line: number, says: RegExp])[] = [
    [
      'broken JSON',
      changed((line) => line.slice(0, -1)),
      3,
      /^not valid JSON: the text ends here; allowed: ","/,
    ],
    ['a list', changed(() => '[1]'), 3, /^the line is no object; allowed: one JSON object a line$/],
    [
      'a foreign object',
      changed(() => '{"a": 1}'),
      3,
      /^"type" is none of a recording; allowed: "recording"/,
    ],
    [
      'another version',
      '{"type":"recording","version":2,"writtenBy":"x"}',
      1,
      /^"version" is not 1, the only one/,
    ],
    [
      'no date',
      changed((line) => line.replace(/"date":"[^"]*"/, '"date":"once"')),
      3,
      /^"date" is another text; allowed: a date such as/,
    ],
    [
      'a route of no engine',
      changed((line) => line.replace('"kind":"completion"', '"kind":"chatter"')),
      3,
      /^"route.kind" is another text; allowed: "chat", /,
    ],
    [
      'an id that is none',
      changed((line) => line.replace('10979', '"Hi"')),
      3,
      /^"prompts\[0\].ids\[2\]" is another text; allowed: a token id/,
    ],
    [
      'a prompt of no form',
      changed((line) => line.replace('"unknown"', '"unknwon"')),
      3,
      /^"prompts\[1\]" is another object; allowed: an object with one of ids, pseudonyms, unknown$/,
    ],
    [
      'a reason that is none',
      changed((line) => line.replace('"media"', '"lost"')),
      3,
      /^"prompts\[1\].unknown" is another text/,
    ],
    [
      'a reply whose counts are none',
      changed((line) =>
        line.replace(
          /\}$/,
          ',"reply":{"status":200,"started":true,"complete":true,"choices":[{"index":0,"promptTokens":-1}]}}',
        ),
      ),
      3,
      /^"reply.choices\[0\].promptTokens" is another number; allowed: a whole number, 0 or more$/,
    ],
    [
      'facts that lack one',
      facts((line) => line.replace('"slots":', '"slot":')),
      2,
      /^"facts.slots" is missing; allowed: a whole number/,
    ],
    [
      'a marker without its id',
      facts((line) => line.replace(/"id":2\}/, '"id":null}')),
      2,
      /^"facts\.[a-z.[\]0-9]+id" is null/,
    ],
    [
      'facts that are not there',
      [lines[0], lines[2]].join('\n'),
      2,
      /^the exchange names the facts "[0-9a-f]{12}", and no line above has them/,
    ],
  ];
  for (const [name, text, line, says] of mistakes) {
    it(`is named with what is allowed: ${name}`, () => {
      const { mistakes: found } = readRecording(text);
      assert.deepEqual(
        found.map((mistake) => mistake.line),
        [line],
      );
      assert.match(found[0]?.message ?? '', says);
    });
  }

  it('does not hide the others, and repeats nothing of what stands in it', () => {
    const { entries, mistakes: found } = readRecording(
      [...lines, '{"type":"exchange","id":"secret"}', '{"secret"', lines[3]].join('\n'),
    );
    assert.equal(entries.length, 3);
    assert.deepEqual(
      found.map(({ line, column }) => [line, column]),
      [
        [5, undefined],
        [6, 10],
      ],
    );
    assert.ok(!JSON.stringify(found).includes('secret'));
  });
});

describe('docs/recordings.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/recordings.md'), 'utf8');

  it('shows a recording that can be read, but for the facts that it leaves out', () => {
    const example = /^```json\n([^]*?)^```$/m.exec(page)?.[1] ?? '';
    const whole = example.replace(/"facts":\{.*\}\}$/m, `"facts":${JSON.stringify(factsOf.gemma3)}}`);
    const { entries, mistakes: found } = readRecording(whole);
    assert.deepEqual(found, []);
    assert.equal(entries.length, 1);
  });

  it('lists the members of a reply and of its choices', () => {
    for (const name of ['unreadReason', 'refusal', 'finishReason', 'cachedTokens', 'promptIds', 'turns'])
      assert.ok(page.includes(`\`${name}\``), name);
  });

  it('lists the members of every line and of every form of a prompt', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` +\|(.*)\|$/gm)].map(([, name, cells]) => [name, cells]);
    for (const line of lines) {
      const { type, ...members } = JSON.parse(line) as { type: string };
      const row = rows.find(([name]) => name === type)?.[1] ?? '';
      for (const name of Object.keys(members)) assert.ok(row.includes(`\`${name}\``), `${type}: ${name}`);
    }
    for (const form of ['ids', 'pseudonyms', 'unknown']) assert.ok(rows.some(([name]) => name === form));
  });
});

describe('the facts of a recording', () => {
  it('keep how the template was seen to write texts, and need none of it', () => {
    const { entries, mistakes } = readRecording(recordingOf(factsOf.rewriting));
    assert.deepEqual(mistakes, []);
    assert.deepEqual(entries[0]?.facts.reading, factsOf.rewriting.reading);
    const older = readRecording(recordingOf(factsOf.forgetful));
    assert.deepEqual(older.mistakes, []);
    assert.equal(older.entries[0]?.facts.reading?.forms, undefined);
    const odd = recordingOf(factsOf.rewriting).replace('"json-upper"', '"rot13"');
    assert.match(JSON.stringify(readRecording(odd).mistakes), /forms\[1\]\.beyondAscii/);
  });
});
