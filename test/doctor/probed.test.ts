// What probe requests are made of a model's facts, and how the doctor tells what became of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { observationsOf, untoldIn, type ProbeOutcome } from '../../src/doctor/probed.ts';
import { probesFor, type Probe } from '../../src/doctor/probes.ts';
import type { FindingRecord } from '../../src/exchange/finding-record.ts';
import { readRequest } from '../../src/exchange/request/request-reader.ts';
import { factsOf } from '../support/exchange-builder.ts';

const record = (members: Partial<FindingRecord>): FindingRecord => ({
  time: '2026-03-01T12:00:00.000Z',
  requestId: 'probe-0',
  model: 'model',
  route: 'chat',
  client: 'client',
  kind: 'content-lost',
  cause: 'call',
  severity: 'error',
  culprit: 'template',
  promptIndex: 0,
  message: 'The call is lost.',
  advice: 'Serve another template.',
  action: 'pass',
  ...members,
});
const probe = (sends: string): Probe => ({ sends, kind: 'chat', body: {}, isPlain: sends === 'all' });
const outcome = (sends: string, ...findings: readonly FindingRecord[]): ProbeOutcome => ({
  probe: probe(sends),
  findings,
});
const toldOf = (...outcomes: readonly ProbeOutcome[]) =>
  observationsOf(outcomes).map(({ id, severity, sends }) => `${severity} ${id} with ${sends}`);

describe('probe requests', () => {
  it('are bodies that the product reads, one for each field that the engine reads over', () => {
    for (const facts of [factsOf.gemma3, factsOf.base]) {
      const probes = probesFor(facts);
      for (const { sends, kind, body } of probes)
        assert.ok(readRequest(Buffer.from(JSON.stringify(body)), kind).readable, sends);
      assert.equal(new Set(probes.map(({ sends }) => sends)).size, probes.length);
    }
    const fields = probesFor(factsOf.gemma3).slice(probesFor(factsOf.base).length);
    assert.deepEqual(
      fields.map(({ sends }) => sends),
      factsOf.gemma3.ignoredFields.map(({ path }) => path.join('.')),
    );
    assert.deepEqual(fields.find(({ sends }) => sends === 'options.num_ctx')?.body['options'], {
      num_ctx: factsOf.gemma3.contextTokens + 1,
    });
  });
});

describe('what became of them', () => {
  it('is told once, the gravest first', () => {
    const reasoning = record({ cause: 'reasoning', severity: 'info', message: 'The reasoning is lost.' });
    assert.deepEqual(toldOf(outcome('a', reasoning), outcome('b', record({})), outcome('c', record({}))), [
      'warning content-lost;call with b',
      'info content-lost;reasoning with a',
    ]);
  });

  it('is no more than a note where a client would have to do it first', () => {
    assert.deepEqual(toldOf(outcome('a', record({ culprit: 'client', severity: 'warning' }))), [
      'info content-lost;call with a',
    ]);
  });

  it('is an error only where it happens to every client', () => {
    assert.deepEqual(toldOf(outcome('all', record({}))), ['error content-lost;call with all']);
  });

  it('leaves out what a rule says of every prompt', () => {
    assert.deepEqual(
      toldOf(outcome('a', record({ kind: 'double-bos' }), record({ kind: 'raw-prompt' }))),
      [],
    );
  });

  it('says so where the engine refuses the request, and nothing where it could not be asked', () => {
    assert.deepEqual(
      toldOf(
        { ...outcome('a second system message'), unknown: 'oracle-refused' },
        { ...outcome('a developer message'), unknown: 'oracle-error', engineSays: 'no such role' },
        { ...outcome('a tool'), unknown: 'oracle-timeout' },
      ),
      ['info refused with a second system message', 'info refused with a developer message'],
    );
    assert.deepEqual(toldOf({ ...outcome('all'), unknown: 'oracle-refused' }), ['warning refused with all']);
  });

  it('says why it refuses it, in its own words', () => {
    const refused = { ...outcome('a tool'), unknown: 'oracle-refused' } as const;
    const messageOf = (engineSays: string): string | undefined =>
      observationsOf([{ ...refused, engineSays }])[0]?.message;
    assert.equal(messageOf('Roles must alternate'), 'The engine refuses the request: Roles must alternate.');
    assert.equal(messageOf('Only a/b/...'), 'The engine refuses the request: Only a/b/...');
  });
});

describe('a probe request of which nothing is known', () => {
  for (const [unknown, engineSays, is] of [
    ['engine-unreachable', undefined, 'untold'],
    ['engine-loading', undefined, 'untold'],
    ['oracle-timeout', undefined, 'untold'],
    ['engine-busy', 'Rate limit reached', 'untold'],
    // A gateway's page.
    ['oracle-error', undefined, 'untold'],
    ['oracle-error', 'no such role', 'refused'],
    ['oracle-refused', undefined, 'refused'],
    ['oracle-refused', 'no such role', 'refused'],
    ['engine-cannot', undefined, 'left out'],
  ] as const) {
    it(`by ${unknown}, ${engineSays ?? 'without a word'}, is ${is}`, () => {
      const told = { ...outcome('a'), unknown, ...(engineSays !== undefined && { engineSays }) };
      assert.equal(untoldIn(told)?.reason, is === 'untold' ? unknown : undefined);
      assert.equal(observationsOf([told]).length, is === 'refused' ? 1 : 0);
    });
  }

  it('by no reason is told', () => {
    assert.equal(untoldIn(outcome('a')), undefined);
  });
});
