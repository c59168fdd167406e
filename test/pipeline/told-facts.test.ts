// A fact of a model is told once per engine process; what is no fact is told each time.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Exchange } from '../../src/exchange/exchange.ts';
import type { Finding } from '../../src/exchange/finding.ts';
import { ToldFacts } from '../../src/pipeline/told-facts.ts';
import { buildExchange, factsOf } from '../support/exchange-builder.ts';

const exchangeOf = (identity: string): Exchange =>
  buildExchange({
    route: 'completion',
    body: { prompt: 'Hi' },
    facts: { ...factsOf.qwen3, identity },
  });
const finding = (fact?: string): Finding => ({
  kind: 'raw-prompt',
  severity: 'info',
  culprit: 'template',
  promptIndex: 0,
  message: 'It is so.',
  advice: 'Leave it.',
  ...(fact !== undefined && { fact }),
});

describe('facts of a model', () => {
  it('are new once, each by itself', () => {
    const told = new ToldFacts();
    const asked = ['a', 'a', 'b', 'a'].map((fact) => told.isNew(exchangeOf('one'), finding(fact)));
    assert.deepEqual(asked, [true, false, true, false]);
  });

  it('are new again on another engine process', () => {
    const told = new ToldFacts();
    const asked = ['one', 'two', 'one'].map((identity) => told.isNew(exchangeOf(identity), finding('a')));
    assert.deepEqual(asked, [true, true, false]);
  });

  it('that were told longest ago are forgotten first, when there are too many', () => {
    const told = new ToldFacts();
    const exchange = exchangeOf('one');
    for (let number = 0; number <= 1000; number += 1) told.isNew(exchange, finding(String(number)));
    assert.equal(told.isNew(exchange, finding('1000')), false);
    assert.equal(told.isNew(exchange, finding('0')), true);
  });
});

it('a finding that is no fact is always new', () => {
  const told = new ToldFacts();
  const asked = [1, 2].map(() => told.isNew(exchangeOf('one'), finding()));
  assert.deepEqual(asked, [true, true]);
});
