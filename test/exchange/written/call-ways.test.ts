import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallWays } from '../../../src/exchange/written/call-ways.ts';
import type { Json, JsonObject } from '../../../src/exchange/request/request.ts';

const call = (given: Json, name = 'read'): JsonObject => ({
  type: 'function',
  function: { name, arguments: JSON.stringify(given) },
});
const text = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
/** With a sign behind the last of them, where the call ends. */
const members = (given: JsonObject): (readonly [string, string])[] =>
  Object.entries(given).map(([key, value], index, all) => [
    key,
    text(value) + (index === all.length - 1 ? '¶' : ''),
  ]);

/** How templates write a call, each as some that are in use do. */
const tags = (given: JsonObject, name = 'read'): string =>
  `<function=${name}>\n${members(given)
    .map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
    .join('')}</function>\n`;
const pairs = (given: JsonObject, name = 'read'): string =>
  `<tool_call>${name}\n${members(given)
    .map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>\n`)
    .join('')}</tool_call>\n`;
const keywords = (given: JsonObject, name = 'read'): string =>
  `[${name}(${members(given)
    .map(([key, value]) => `${key}="${value}"`)
    .join(', ')})]\n`;
const literal = (given: JsonObject, name = 'read'): string =>
  `<tool_call>{"name": "${name}", "arguments": ${JSON.stringify(given)}¶}</tool_call>\n`;

/** The ends of calls that follow one another; a call that is not met moves nothing. */
function endsOf(marked: string, calls: readonly Json[]): (number | undefined)[] {
  const ways = new CallWays(marked.replaceAll('¶', ''));
  let at = 0;
  return calls.map((one) => {
    const end = ways.endOf(one, at);
    at = end ?? at;
    return end;
  });
}

function assertMet(marked: string, ...calls: readonly Json[]): void {
  const marks = marked.split('¶').slice(0, -1);
  const ends = marks.map((_, index) => marks.slice(0, index + 1).join('').length);
  assert.deepEqual(endsOf(marked, calls), ends);
}

const one = { path: 'src/one', limit: 120 };
const two = { path: 'src/two', limit: 250 };

describe('a call stands in a prompt', () => {
  for (const [name, write] of Object.entries({ tags, pairs, keywords, literal })) {
    it(`as ${name}, of the first call and of the next`, () => {
      assertMet(write(one) + write(two), call(one), call(two));
    });
  }

  it('as it was sent, and as tags, in one prompt', () => {
    assertMet(literal(one) + tags(two) + tags(one), call(one), call(two), call(one));
    const none = literal(one).replaceAll('{"path":"src/one","limit":120}', '{}').replace('read', 'read¶');
    const [first, second] = [none.replace('{}¶', '{}'), tags(two)];
    assertMet(second + first + second, call(two), call({}), call(two));
  });

  it('with other keys, and with other tools, each in its way', () => {
    const deep = { path: 'src/deep', from: 7, limit: 8 };
    const listed = { folder: 'src' };
    const rendered = tags(one) + tags(deep) + tags(listed, 'list') + tags(two) + tags(listed, 'list');
    assertMet(rendered, call(one), call(deep), call(listed, 'list'), call(two), call(listed, 'list'));
  });

  it('with flags and nothings as JSON or Python spells them', () => {
    const flags = { deep: true, only: false, base: null };
    const python = tags(flags).replace('true', 'True').replace('false', 'False').replace('null', 'None');
    assertMet(tags(flags) + tags(flags), call(flags), call(flags));
    assertMet(python, call(flags));
    assert.deepEqual(endsOf(python.replace('False', 'True'), [call(flags)]), [undefined]);
  });

  it('with lists and objects in whatever white space', () => {
    const given = { path: 'src', only: { kinds: ['ts', 'md'], deep: 2 } };
    const spaced = tags(given).replace(/\{.*\}/, '{"kinds": ["ts", "md"], "deep": 2}');
    assertMet(spaced + tags(given), call(given), call(given));
    assert.deepEqual(endsOf(spaced.replace('md', 'js'), [call(given)]), [undefined]);
  });

  it('without what is empty in it', () => {
    const given = { path: 'src', note: ' ', base: '', limit: 4 };
    const written = tags({ path: 'src', limit: 4 });
    assertMet(written + written, call(given), call(given));
  });

  it('without the white space at the ends of a value', () => {
    assertMet(
      tags(one) + tags(two),
      call({ ...one, path: ' src/one\n' }),
      call({ ...two, path: '\nsrc/two' }),
    );
  });
});

describe('a call does not stand in a prompt', () => {
  const unmet: readonly (readonly [string, string, JsonObject])[] = [
    ['without a value', tags({ path: '', limit: 120 }), call(one)],
    ['with another value in its last place', tags({ ...two, limit: 1 }), call(two)],
    ['with another value in its first place', tags({ ...two, path: 'src' }), call(two)],
    ['with half a value', tags({ ...two, path: 'src/t' }), call(two)],
    ['without an argument', tags({ path: 'src/two' }), call(two)],
    ['with an argument less', tags(two), call({ ...two, more: 'text' })],
    ['under another name', tags(two, 'view'), call(two)],
    ['under a longer name', tags(two, 'read_all'), call(two)],
    ['with other keys', tags({ file: 'src/two', limit: 250 }), call(two)],
    ['with the keys of others', tags(two), call({ file: 'src/two', limit: 250 })],
    ['with values that change their places', tags({ limit: 250, path: 'src/two' }), call(two)],
    ['that is far away', `${'-'.repeat(1100)}${tags(two)}`, call(two)],
    [
      'with a key that is far away',
      `<function=read>${'-'.repeat(300)}<parameter=path>src</parameter>`,
      call({ path: 'src' }),
    ],
    [
      'with a value that is far from its key',
      `<function=read><parameter=path>${'-'.repeat(80)}src`,
      call({ path: 'src' }),
    ],
    ['with values alone', '<function=read>src/one 120', call(one)],
    ['that has no name', tags(one), call(one, '')],
    ['whose arguments are no object', tags(one), call(['src/one', 120])],
    [
      'whose arguments are no JSON',
      tags(one),
      { type: 'function', function: { name: 'read', arguments: 'src/one' } },
    ],
  ];
  // Behind two others: by the second of them the way is known in which it would follow.
  for (const [name, rendered, given] of unmet) {
    it(name, () => {
      const calls = [call(one), call(one), given];
      assert.equal(endsOf(tags(one) + tags(one) + rendered, calls).at(-1), undefined);
    });
  }

  it('by a part of a longer name, without arguments', () => {
    assert.deepEqual(endsOf('<read> <read> <read_all>', [call({}), call({}), call({})]), [5, 12, undefined]);
    const ends = endsOf(`${tags(one)}<read> <read> <read_all>`, [call(one), call({}), call({}), call({})]);
    assert.equal(ends.indexOf(undefined), 3);
  });

  it('in a way that is learnt again and again', () => {
    const numbered = (given: JsonObject, id: number): string => tags(given).replace('>', ` id="${id}">`);
    const calls = Array.from({ length: 12 }, (_, index) => ({ path: `src/${index}`, limit: index }));
    const ends = endsOf(
      calls.map(numbered).join(''),
      calls.map((given) => call(given)),
    );
    assert.deepEqual(
      ends.map((end) => end !== undefined),
      calls.map((_, index) => index < 8),
    );
  });
});
