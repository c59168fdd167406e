// What a template reads of what it is given: by its source, and that the real server's rendering heeds no other name.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { templateInputs } from '../../../src/engines/facts/template-inputs.ts';
import { modelOf } from '../../families/vocabulary.ts';
import { send } from '../../support/exchanges.ts';
import { byteModelFile } from '../../support/gguf/byte-model.ts';
import { realEngine } from '../../support/real-engine.ts';
import { publishedTemplates } from '../../support/templates/published.ts';
import { context, openAdapter } from '../engine-under-test.ts';

describe('the inputs of a template', () => {
  const cases: readonly (readonly [name: string, source: string, inputs: readonly string[] | undefined])[] = [
    ['values, with signs that cut white space', '{{- a }}{%+ if b -%}{%- endif %}{{ -c }}', ['a', 'b', 'c']],
    [
      'members, filters, tests and names of arguments are none',
      '{{ a.b | c(d=e) }}{% if f is not g and h is i %}',
      ['a', 'e', 'f', 'h'],
    ],
    ['texts and comments hold none', String.raw`{{ 'a %} }} \' b' ~ "c" }}{# {{ d }} #}e`, []],
    ['brackets inside of a tag do not end it', "{{ {'a': {'b': c}} }} d {{ e }}", ['c', 'e']],
    [
      'what is set is none',
      '{% set a = 1 %}{% set b, c = d %}{{ a ~ b ~ c }}{% set e %}{{ f }}{% endset %}{{ e }}',
      ['d', 'f'],
    ],
    [
      'what is set where it was not given is one',
      '{% if not a is defined %}{% set a = false %}{% endif %}{{ a }}',
      ['a'],
    ],
    ['a default is one', '{% set a = a or false %}', ['a']],
    ['a member that is set is none, nor does it set its name', '{% set a.b = c %}{{ b }}', ['b', 'c']],
    ["a loop's names end with it", '{% for a, b in c if a %}{{ b }}{% endfor %}{{ a }}', ['a', 'c']],
    [
      "a macro's names end with it, its own does not",
      '{% macro a(b, c=d) %}{{ b ~ c }}{% endmacro %}{{ a(b) }}',
      ['b', 'd'],
    ],
    ['what is set in a condition comes out of it', '{% if a %}{% set b = 1 %}{% endif %}{{ b }}', ['a']],
    ['literals and operators are none', '{{ true and not None or false if x else none }}', ['x']],
    ['a text without tags', 'chatml', undefined],
    ['a tag without an end', "{{ a }}{{ 'b }}", undefined],
    ['a comment without an end', '{{ a }}{# b', undefined],
  ];
  for (const [name, source, inputs] of cases) {
    it(name, () => {
      assert.deepEqual(templateInputs(source), inputs);
    });
  }

  it('are read of a large source in its time', () => {
    const source = "{% if a %}{{ 'b' }}{% endif %}".repeat(40_000);
    const started = process.cpuUsage();
    assert.deepEqual(templateInputs(source), ['a']);
    assert.ok(process.cpuUsage(started).user < 3_000_000);
  });
});

const found = await publishedTemplates();
const all = 'missing' in found ? [] : found;
const tried = [
  'Qwen-Qwen3-0.6B',
  'deepseek-ai-DeepSeek-V4',
  'ibm-granite-granite-3.3-2B-Instruct',
  'meta-llama-Llama-3.2-3B-Instruct',
  'openai-gpt-oss-120b',
  'tencent-Hy3',
];
const templates = all.filter(({ name }) => tried.includes(name));
const engines = new Map(
  await Promise.all(
    templates.map(async (one) => [one.name, await realEngine(() => byteModelFile(modelOf(one)))] as const),
  ),
);
const skip = 'missing' in found ? found.missing : [...engines.values()][0]?.skip;

/** What every chat is rendered with. */
const given = ['messages', 'tools', 'bos_token', 'eos_token', 'add_generation_prompt'];

describe('a name that a template is not seen to read', { skip: skip ?? false }, () => {
  const names = new Set(all.flatMap(({ text }) => templateInputs(text) ?? []));
  for (const name of given) names.delete(name);
  const everHeeded = new Set<string>();
  for (const template of tried) {
    it(`changes nothing in what ${template} writes, on the real server`, async () => {
      const { url } = await engines.get(template)!.server();
      const { engine } = openAdapter(url);
      const read = await engine.facts(undefined, context);
      await engine.close();
      assert.ok(read.known && read.facts.templateInputs !== undefined);
      const { read: inputs, byEngine } = read.facts.templateInputs;
      const messages = [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Ho' },
        { role: 'user', content: 'And?' },
      ];
      const render = async (more: object): Promise<unknown> =>
        (await send(`${url}/apply-template`, { messages, ...more })).json['prompt'];
      const plain = await render({});
      assert.equal(typeof plain, 'string');
      const heeded = new Set<string>();
      for (const name of names) {
        for (const value of [true, 'low', [{ title: 'Weir', text: 'Weirtext' }]]) {
          const changed = (await render({ chat_template_kwargs: { [name]: value } })) !== plain;
          if (changed) heeded.add(name);
          if (changed) everHeeded.add(name);
        }
      }
      assert.deepEqual(
        [...heeded].filter((name) => ![...inputs, ...byEngine].includes(name)),
        [],
      );
    });
  }

  it('is no name of those that were seen to change something', () => {
    for (const name of ['thinking', 'date_string', 'documents', 'reasoning_effort'])
      assert.ok(everHeeded.has(name), name);
  });
});
