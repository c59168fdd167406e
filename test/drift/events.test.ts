// One name everywhere: the events that there are, docs/events.md, the metric's label and the fields that are told.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { changingFacts, engineEvents, type EngineEvent } from '../../src/exchange/engine-event.ts';
import { catalogue } from '../../src/metrics/catalogue.ts';
import { recordEvent } from '../../src/pipeline/engine-events.ts';
import { factsOf } from '../support/exchange-builder.ts';

const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
const modelName = 'qwen3';

/** One of each, with all that it may tell. */
const examples: { readonly [Name in (typeof engineEvents)[number]]: EngineEvent & { event: Name } } = {
  'engine-cache-lost': { event: 'engine-cache-lost', modelName, reason: 'restart' },
  'facts-changed': {
    event: 'facts-changed',
    modelName,
    what: 'context',
    from: '4096',
    to: '512',
    lastSeenMs: 0,
  },
  'facts-learnt': { event: 'facts-learnt', facts: factsOf.qwen3 },
  'ids-unverified': { event: 'ids-unverified', modelName, route: 'chat' },
  'ids-verified': { event: 'ids-verified', modelName, route: 'chat' },
  'memoising-off': { event: 'memoising-off', modelName },
  'oracle-available': { event: 'oracle-available', reason: 'oracle-timeout' },
  'oracle-unavailable': { event: 'oracle-unavailable', reason: 'oracle-timeout' },
  'slots-oversubscribed': { event: 'slots-oversubscribed', modelName, slots: 1, sessions: 3, flag: '--n' },
};

function sectionOf(event: string): string {
  return (page.split(`\n## ${event}\n`)[1] ?? '').split('\n## ')[0] ?? '';
}

describe('docs/events.md', () => {
  it('has a section for each event, in order, and for nothing else', () => {
    const headings = [...page.matchAll(/^## ([a-z-]+)$/gm)].map(([, heading]) => heading);
    assert.deepEqual(headings, [...engineEvents]);
  });

  for (const event of engineEvents) {
    it(`names the fields of ${event}, and how it is told`, () => {
      const { fields, trouble } = recordEvent(examples[event], new Date());
      const section = sectionOf(event);
      const named = [...section.matchAll(/^\| `(\w+)` /gm)].map(([, field]) => field);
      assert.deepEqual(named.toSorted(), Object.keys(fields).toSorted());
      assert.match(section, new RegExp(`^Level \`${trouble ? 'warn' : 'info'}\`\\.`, 'm'));
    });
  }

  it('names each fact that may change', () => {
    for (const what of changingFacts) assert.ok(sectionOf('facts-changed').includes(`\`${what}\``), what);
  });
});

describe('tokenweir_engine_events_total', () => {
  it('has a label value for each event', () => {
    assert.deepEqual(catalogue.engine_events_total.labels, { event: engineEvents });
  });
});
