// Folding: what is logged at once, what is counted, and that no count is lost. The clock is a number the test sets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { FindingRecord } from '../../src/exchange/finding-record.ts';
import { createFindingLog, type FindingLog } from '../../src/log/finding-log.ts';

import { findingRecord } from './finding-under-test.ts';

interface Line {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

function logUnderTest(foldSeconds = 60): { log: FindingLog; lines: Line[]; clock: { nowMs: number } } {
  const lines: Line[] = [];
  const clock = { nowMs: 0 };
  const log = createFindingLog({
    write: (level, fields, message) => lines.push({ level, fields: { ...fields }, message }),
    foldSeconds: () => foldSeconds,
    nowMs: () => clock.nowMs,
  });
  return { log, lines, clock };
}

const events = (lines: readonly Line[]): unknown[] => lines.map(({ fields }) => fields['event']);

describe('a new finding', () => {
  it('is logged at once, at the level of its severity', () => {
    const { log, lines } = logUnderTest();
    log.add(findingRecord({ severity: 'warning', message: 'What is wrong.' }));
    log.add(findingRecord({ kind: 'raw-prompt', severity: 'info' }));
    log.add(findingRecord({ kind: 'count-mismatch', severity: 'error' }));
    assert.deepEqual(
      lines.map(({ level }) => level),
      ['warn', 'info', 'error'],
    );
    assert.equal(lines[0]?.message, 'What is wrong.');
  });

  const different: Partial<FindingRecord>[] = [
    { kind: 'raw-prompt' },
    { cause: 'template' },
    { client: 'c-2' },
    { model: 'gemma' },
  ];
  for (const change of different) {
    it(`is one that differs in ${Object.keys(change).join()}`, () => {
      const { log, lines } = logUnderTest();
      log.add(findingRecord());
      log.add(findingRecord(change));
      assert.deepEqual(events(lines), ['finding', 'finding']);
    });
  }
});

describe('a repeated finding', () => {
  it('is counted, and told when the window closes', () => {
    const { log, lines, clock } = logUnderTest();
    log.add(findingRecord({ time: 't0' }));
    clock.nowMs = 20_000;
    log.add(findingRecord({ time: 't1', requestId: 'r-2', lostTokens: 5, savedTokens: 3 }));
    clock.nowMs = 59_999;
    log.add(findingRecord({ time: 't2', requestId: 'r-3', lostTokens: 7, savedTokens: 4 }));
    log.closeDue();
    assert.deepEqual(events(lines), ['finding']);
    clock.nowMs = 60_000;
    log.closeDue();
    assert.deepEqual(events(lines), ['finding', 'finding-repeated']);
    const { fields } = lines[1]!;
    assert.deepEqual([fields['lostTokens'], fields['savedTokens']], [12, 7]);
    assert.deepEqual(
      [fields['count'], fields['since'], fields['until'], fields['requestId']],
      [2, 't0', 't2', 'r-3'],
    );
  });

  it('is new again after the window has closed', () => {
    const { log, lines, clock } = logUnderTest();
    log.add(findingRecord());
    log.add(findingRecord());
    clock.nowMs = 60_000;
    log.add(findingRecord());
    assert.deepEqual(events(lines), ['finding', 'finding-repeated', 'finding']);
  });

  it('leaves no line if it never came', () => {
    const { log, lines, clock } = logUnderTest();
    log.add(findingRecord());
    clock.nowMs = 60_000;
    log.closeDue();
    log.closeAll();
    assert.deepEqual(events(lines), ['finding']);
  });

  it('is told at shutdown, and only once', () => {
    const { log, lines } = logUnderTest();
    log.add(findingRecord());
    log.add(findingRecord());
    log.closeAll();
    log.closeAll();
    assert.deepEqual(events(lines), ['finding', 'finding-repeated']);
  });

  it('is logged like a new one when folding is off', () => {
    const { log, lines } = logUnderTest(0);
    log.add(findingRecord());
    log.add(findingRecord());
    assert.deepEqual(events(lines), ['finding', 'finding']);
  });

  it('is told early rather than lost when too many clients have windows open', () => {
    const { log, lines } = logUnderTest();
    log.add(findingRecord({ client: 'first' }));
    log.add(findingRecord({ client: 'first' }));
    for (let client = 1; client <= 1000; client += 1) log.add(findingRecord({ client: `c${client}` }));
    const told = lines.filter(({ fields }) => fields['event'] === 'finding-repeated');
    assert.deepEqual(
      told.map(({ fields }) => fields['client']),
      ['first'],
    );
  });
});
