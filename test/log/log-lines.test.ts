// The lines as they are written, against docs/logs.md in both directions; and what must never stand in one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { findingLine } from '../../src/log/finding-line.ts';
import { createFindingLog } from '../../src/log/finding-log.ts';
import { createLogger, type LogLevel, type Logger } from '../../src/log/logger.ts';

import { findingRecord } from './finding-under-test.ts';

type Line = Readonly<Record<string, unknown>>;

function loggerUnderTest(level: LogLevel = 'info'): {
  logger: Logger;
  text: () => string;
  lines: () => Line[];
} {
  let text = '';
  const logger = createLogger({ level, destination: { write: (line) => (text += line) } });
  const lines = (): Line[] => {
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  };
  return { logger, text: () => text, lines };
}

function documentedFields(event: string): string[] {
  const page = readFileSync(new URL('../../docs/logs.md', import.meta.url), 'utf8');
  const start = page.indexOf(`<!-- fields: ${event} -->`);
  const end = page.indexOf(`<!-- end: ${event} -->`);
  assert.ok(start >= 0 && end > start, `docs/logs.md has a table for ${event}`);
  return [...page.slice(start, end).matchAll(/^\| `(\w+)` /gm)].map((match) => match[1]!);
}

function findingLines(): { lines: Line[]; text: string } {
  const { logger, lines, text } = loggerUnderTest();
  const log = createFindingLog({
    write: (level, fields, message) => {
      logger[level](fields, message);
    },
    foldSeconds: () => 60,
  });
  log.add(findingRecord());
  log.add(findingRecord());
  log.closeAll();
  return { lines: lines(), text: text() };
}

describe('the lines about findings', () => {
  for (const event of ['finding', 'finding-repeated']) {
    it(`of ${event} have the documented fields and no others`, () => {
      const line = findingLines().lines.find((each) => each['event'] === event);
      assert.ok(line);
      const everyLine = ['level', 'time', 'msg'];
      assert.deepEqual(Object.keys(line).toSorted(), [...documentedFields(event), ...everyLine].toSorted());
    });
  }

  it('hold nothing of the token window', () => {
    assert.equal(/im_start|window|"b2"/.test(findingLines().text), false);
  });

  it('have no cause, session or place where the finding has none', () => {
    const {
      time,
      requestId,
      model,
      route,
      client,
      kind,
      severity,
      culprit,
      promptIndex,
      message,
      advice,
      action,
    } = findingRecord();
    const line = findingLine({
      time,
      requestId,
      model,
      route,
      client,
      kind,
      severity,
      culprit,
      promptIndex,
      message,
      advice,
      action,
    });
    const absent = ['traceId', 'cause', 'session', 'tokens', 'lostTokens', 'field', 'window'];
    assert.deepEqual(
      absent.filter((field) => field in line),
      [],
    );
  });
});

describe('the logger', () => {
  it('writes the level as a word, the time as ISO 8601, and neither process id nor host', () => {
    const { logger, lines } = loggerUnderTest();
    logger.warn({ event: 'test' }, 'Said.');
    const [line] = lines();
    assert.ok(line);
    assert.deepEqual(Object.keys(line), ['level', 'time', 'event', 'msg']);
    assert.equal(line['level'], 'warn');
    assert.match(String(line['time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('cuts out secrets at the top and one or two levels below', () => {
    const { logger, text } = loggerUnderTest();
    logger.info({
      authorization: 'Bearer hush',
      headers: { authorization: 'Bearer hush', cookie: 'hush', 'x-api-key': 'hush' },
      request: { headers: { 'proxy-authorization': 'hush' } },
      upstream: { apiKey: 'hush', url: 'http://engine' },
      admin: { token: 'hush' },
    });
    assert.equal(text().includes('hush'), false);
    assert.equal(text().split('[redacted]').length - 1, 7);
    assert.ok(text().includes('http://engine'));
  });

  it('writes nothing below its level', () => {
    const { logger, text } = loggerUnderTest('error');
    logger.warn('Not this.');
    logger.error('This.');
    assert.equal(text().includes('Not this.'), false);
    assert.ok(text().includes('This.'));
  });
});
