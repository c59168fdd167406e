// Facts of models whose templates and markers are unlike the usual ones, on the real server; the templates are ours.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import { byteModelFile, type ByteModel } from '../support/gguf/byte-model.ts';
import { realEngine } from '../support/real-engine.ts';
import { context, openAdapter } from './engine-under-test.ts';

const turns =
  '{% for m in messages %}{{ "<|" + m.role + "|>\n" + m.content + "<|end|>\n" }}{% endfor %}' +
  '{% if add_generation_prompt %}{{ "<|assistant|>\n" }}{% endif %}';
const turnMarkers = ['<|system|>', '<|user|>', '<|assistant|>', '<|end|>'];

interface Case {
  readonly model: ByteModel;
  readonly check: (facts: ModelFacts) => void;
}

/** Without the one that every byte model has for EOS. */
const textsOf = ({ markers, eos }: ModelFacts): string[] =>
  markers
    .map(({ text }) => text)
    .filter((text) => text !== eos?.text)
    .toSorted();

const cases: Readonly<Record<string, Case>> = {
  'BOS that the template writes without naming it': {
    model: {
      name: 'literal-bos',
      markers: ['@@BOS@@', ...turnMarkers],
      bos: '@@BOS@@',
      chatTemplate: `@@BOS@@${turns}`,
    },
    check: ({ bos, addedPrefix }) => {
      assert.equal(bos?.text, '@@BOS@@');
      assert.deepEqual(addedPrefix, { chat: [], completion: [] });
    },
  },
  'BOS that only metadata name': {
    model: { name: 'unused-bos', markers: ['<s>', ...turnMarkers], bos: '<s>', chatTemplate: turns },
    check: ({ bos }) => {
      assert.equal(bos, undefined);
    },
  },
  'markers of no known form': {
    model: {
      name: 'odd-markers',
      markers: [']~b]', '[e~['],
      chatTemplate:
        '{% for m in messages %}{{ "]~b]" + m.role + "\n" + m.content + "[e~[\n" }}{% endfor %}]~b]assistant\n',
    },
    check: (facts) => {
      assert.deepEqual(textsOf(facts), ['[e~[', ']~b]']);
      assert.equal(facts.roleMarkers.find(({ role }) => role === 'user')?.opening, ']~b]user\n');
      assert.deepEqual(facts.turnEnds, ['[e~[']);
    },
  },
  'ordinary tokens that look like nothing else': {
    // The vocabulary has one token for each of these, but none of them is a boundary.
    model: {
      name: 'ordinary-tokens',
      markers: turnMarkers,
      chatTemplate: turns.replace('{% for', 'the in er {% for'),
    },
    check: (facts) => {
      assert.deepEqual(textsOf(facts), turnMarkers.toSorted());
    },
  },
  'a date for those alone who send no instructions': {
    model: {
      name: 'dated',
      markers: turnMarkers,
      chatTemplate: `{% if messages[0].role != "system" %}{{ "<|system|>\n" + strftime_now("%Y-%m-%d") + "<|end|>\n" }}{% endif %}${turns}`,
    },
    check: ({ templateWritesDate }) => {
      assert.equal(templateWritesDate, true);
    },
  },
  'ids of calls that must have nine characters': {
    model: {
      name: 'nine-characters',
      markers: [...turnMarkers, '<|calls|>'],
      chatTemplate:
        '{% for m in messages %}{% if m.tool_calls %}{% for call in m.tool_calls %}' +
        '{% if call.id|length != 9 %}{{ raise_exception("nine") }}{% endif %}' +
        '{{ "<" + "|calls" + "|>" + call.function.name }}{% endfor %}' +
        '{% else %}{{ "<|" + m.role + "|>\n" + m.content + "<|end|>\n" }}{% endif %}{% endfor %}',
    },
    check: (facts) => {
      // Only a rendered call shows this one.
      assert.ok(textsOf(facts).includes('<|calls|>'));
    },
  },
};

const engines = new Map(
  await Promise.all(
    Object.entries(cases).map(
      async ([name, { model }]) => [name, await realEngine(() => byteModelFile(model))] as const,
    ),
  ),
);

describe('facts of a model with', { skip: [...engines.values()][0]!.skip }, () => {
  for (const [name, { check }] of Object.entries(cases)) {
    it(name, async () => {
      const { url } = await engines.get(name)!.server();
      const { engine } = openAdapter(url);
      const read = await engine.facts(undefined, context);
      assert.ok(read.known, read.known ? '' : read.reason);
      check(read.facts);
      await engine.close();
    });
  }
});
