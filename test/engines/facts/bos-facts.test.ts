// What probing concludes about BOS, from what engines have been seen to say.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bosFactsOf, type BosProbe } from '../../../src/engines/facts/bos-facts.ts';

const bos = { text: '<s>', id: 1 };
const turn = '<|user|>Hi<|end|>';
const probe = (more: Partial<BosProbe>): BosProbe => ({
  bosText: bos.text,
  template: '{{ bos_token }}{{ messages }}',
  rendered: turn,
  hidesBos: false,
  markers: [bos],
  addedPrefix: [],
  ...more,
});

describe('what is known about BOS', () => {
  it('is what a rendering shows', () => {
    assert.deepEqual(bosFactsOf(probe({ rendered: `<s>${turn}`, template: undefined })), {
      templateWritesBos: true,
      bos,
    });
    assert.deepEqual(bosFactsOf(probe({ template: '{{ messages }}' })), { templateWritesBos: false });
  });

  it('is read in the template where the engine hides what it renders', () => {
    const hidden = { hidesBos: true, addedPrefix: [1] };
    assert.deepEqual(bosFactsOf(probe(hidden)), { templateWritesBos: true, bos });
    assert.deepEqual(bosFactsOf(probe({ ...hidden, template: '<s>{{ messages }}' })), {
      templateWritesBos: true,
      bos,
    });
    assert.deepEqual(bosFactsOf(probe({ ...hidden, template: '{{ messages }}' })), {
      templateWritesBos: false,
      bos,
    });
    assert.deepEqual(bosFactsOf(probe({ ...hidden, template: undefined })), { bos });
  });

  it('is nothing without a template, but for what the tokenizer adds', () => {
    assert.deepEqual(bosFactsOf(probe({ template: '', rendered: '', addedPrefix: [1] })), { bos });
    assert.deepEqual(bosFactsOf(probe({ template: '', rendered: '' })), {});
  });

  it('is no BOS that metadata name and nobody uses', () => {
    const named = probe({ bosText: '<|endoftext|>', template: '{{ messages }}' });
    assert.deepEqual(bosFactsOf({ ...named, markers: [{ text: '<|endoftext|>', id: 151_643 }] }), {
      templateWritesBos: false,
    });
  });

  it('is no BOS that the template writes as the end of a turn', () => {
    const end = { bosText: '<s>', template: '{{ "<|user|>" + m.content + "<s>" }}' };
    assert.deepEqual(bosFactsOf(probe(end)), { templateWritesBos: false });
  });

  it('is an ordinary token where a default took the place of a name', () => {
    const comma = { bosText: ',', template: '{{ messages[0], messages[1] }}', addedPrefix: [11] };
    const ordinary = { templateWritesBos: false, ordinaryBos: { text: ',', id: 11 } };
    assert.deepEqual(bosFactsOf(probe({ ...comma, hidesBos: true })), ordinary);
    assert.deepEqual(bosFactsOf(probe({ ...comma, markers: [{ text: ',', id: 11 }] })), ordinary);
  });

  it('is no ordinary token if it is spelled as a marker, or if the template writes it', () => {
    const odd = { bosText: ']~!b[', addedPrefix: [1], hidesBos: true };
    for (const more of [{ template: '{{ messages }}' }, { ...odd, template: ']~!b[{{ messages }}' }]) {
      assert.equal(bosFactsOf(probe({ addedPrefix: [1], hidesBos: true, ...more })).ordinaryBos, undefined);
    }
    assert.equal(bosFactsOf(probe({ ...odd, template: '', rendered: '' })).ordinaryBos, undefined);
  });
});
