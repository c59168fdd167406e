// Two readings of a model's facts, and what is said to have changed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changesBetween } from '../../../src/engines/facts/facts-change.ts';
import type { ModelFacts } from '../../../src/exchange/model-facts.ts';
import { factsOf } from '../../support/exchange-builder.ts';

const old: ModelFacts = factsOf.gemma3;
const changed = (more: Partial<ModelFacts>): object[] => [...changesBetween(old, { ...old, ...more })];

describe('changesBetween', () => {
  it('is nothing where nothing differs that changes ids', () => {
    assert.deepEqual(changed({}), []);
    assert.deepEqual(changed({ mediaMarker: '<__media_2__>', slots: 9 }), []);
    assert.deepEqual(changed({ markers: old.markers.toReversed() }), []);
  });

  it('tells each fact before and after', () => {
    assert.deepEqual(changed({ templateHash: 'fedcba' }), [
      { what: 'template', from: '0123456789abcdef', to: 'fedcba' },
    ]);
    assert.deepEqual(changed({ templateHash: '' }), [
      { what: 'template', from: '0123456789abcdef', to: 'none' },
    ]);
    assert.deepEqual(changed({ contextTokens: 512 }), [{ what: 'context', from: '4096', to: '512' }]);
    assert.deepEqual(changed({ build: 'b2' }), [{ what: 'build', from: 'b1', to: 'b2' }]);
    const { bos, ...unmarked } = old;
    assert.equal(bos?.id, 2);
    const withoutBos = { ...unmarked, addedPrefix: { chat: [], completion: [] } };
    assert.deepEqual(changesBetween(old, withoutBos), [
      { what: 'bos', from: '"<bos>" (id 2), added by the tokenizer', to: 'none' },
    ]);
    assert.deepEqual(changed({ addedPrefix: { chat: [], completion: [] } }), [
      { what: 'bos', from: '"<bos>" (id 2), added by the tokenizer', to: '"<bos>" (id 2)' },
    ]);
  });

  it('names the markers that came and went, and counts what is too many', () => {
    const [first, ...rest] = old.markers;
    assert.deepEqual(changed({ markers: [...rest, { text: '<tool>', id: 7 }] }), [
      { what: 'markers', from: `${JSON.stringify(first?.text)} (id ${first?.id})`, to: '"<tool>" (id 7)' },
    ]);
    const many = Array.from({ length: 11 }, (_, id) => ({ text: `<${id}>`, id }));
    const [{ from, to } = { from: '', to: '' }] = changesBetween(
      { ...old, markers: [] },
      { ...old, markers: many },
    );
    assert.equal(from, 'none');
    assert.match(to, /^"<0>" \(id 0\), .*"<7>" \(id 7\), and 3 more$/);
  });
});
