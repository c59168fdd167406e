// What a check can be given, told apart by shape, and what it refuses: with the place, what is allowed, and no text of it.
import assert from 'node:assert/strict';
import { constants } from 'node:buffer';
import { describe, it } from 'node:test';
import type { CheckInput } from '../../src/check/input.ts';
import { readInput } from '../../src/check/read-input.ts';
import { formatRecording, recordExchange } from '../../src/exchange/recording/recording-writer.ts';
import { buildExchange } from '../support/exchange-builder.ts';

const read = (text: string, ...route: Parameters<typeof readInput>[2][]) =>
  readInput('a.json', Buffer.from(text), ...route);

function only(text: string): CheckInput {
  const { inputs, mistakes } = read(text);
  assert.deepEqual(mistakes, []);
  assert.equal(inputs.length, 1);
  return inputs[0]!;
}

const user = '{"role": "user", "content": "Hi"}';

describe('a request', () => {
  const guesses: readonly (readonly [kind: string, name: string, body: string])[] = [
    ['chat', 'messages', `{"messages": [${user}]}`],
    ['chat', 'messages and a prompt', `{"messages": [${user}], "prompt": "x"}`],
    [
      'chat',
      'a tool as chat completions have it',
      `{"messages": [${user}], "tools": [{"type": "function"}]}`,
    ],
    [
      'chat',
      'a tool in the form of Messages beside instructions',
      `{"messages": [{"role": "system", "content": "Be terse."}, ${user}], "tools": [{"input_schema": {}}]}`,
    ],
    [
      'chat',
      'a block in the form of Messages beside a call',
      `{"messages": [${user}, {"role": "assistant", "tool_calls": []}, {"role": "user", "content": [{"type": "tool_result"}]}]}`,
    ],
    [
      'messages',
      'a system text of its own beside a message of it',
      `{"messages": [{"role": "system", "content": "Be terse."}, ${user}], "system": "x"}`,
    ],
    ['messages', 'a system text of its own', `{"messages": [${user}], "system": "Be terse."}`],
    ['messages', 'a tool with an input schema', `{"messages": [${user}], "tools": [{"input_schema": {}}]}`],
    [
      'messages',
      'a block with the result of a tool',
      '{"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}]}',
    ],
    [
      'messages',
      'a stop of its own',
      `{"messages": [${user}], "tools": [{"input_schema": {}}], "stop_sequences": []}`,
    ],
    [
      'messages',
      'its choice of tools',
      `{"messages": [${user}], "seed": null, "tool_choice": {"type": "any"}}`,
    ],
    [
      'messages',
      'its picture',
      '{"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64"}}]}]}',
    ],
    ...[
      '"seed": 1',
      '"response_format": {"type": "json_object"}',
      '"tool_choice": "auto"',
      '"max_completion_tokens": 5',
    ].map((member) => {
      const body = `{"messages": [${user}], "tools": [{"input_schema": {}}], ${member}}`;
      return ['chat', `a tool in the form of Messages beside ${member}`, body] as const;
    }),
    [
      'chat',
      'a tool in the form of Messages beside one of its own',
      `{"messages": [${user}], "tools": [{"input_schema": {}}, {"type": "function", "function": {"name": "a"}}]}`,
    ],
    [
      'chat',
      'a tool in the form of Messages beside a picture of its own',
      '{"messages": [{"role": "user", "content": [{"type": "image_url"}]}], "tools": [{"input_schema": {}}]}',
    ],
    ['completion', 'a text', '{"prompt": "Hi"}'],
    ['completion', 'ids', '{"prompt": [1, 2]}'],
    ['responses', 'an input', '{"input": "Hi"}'],
  ];
  for (const [kind, name, body] of guesses) {
    it(`is for the route ${kind}: ${name}`, () => {
      assert.deepEqual([only(body).form, only(body).kind], ['request', kind]);
    });
  }

  it('says so where the form of its tools alone decided', () => {
    const tools = '"tools": [{"name": "a", "input_schema": {}}]';
    const openIn = (body: string, ...route: 'messages'[]): boolean[] =>
      read(body, ...route).inputs.map((input) => input.form === 'request' && input.byToolsAlone === true);
    assert.deepEqual(openIn(`{"messages": [${user}], ${tools}}`), [true]);
    assert.deepEqual(openIn(`{"messages": [${user}], ${tools}}`, 'messages'), [false]);
    assert.deepEqual(openIn(`{"messages": [${user}], ${tools}, "system": "x"}`), [false]);
    assert.deepEqual(openIn(`{"messages": [${user}], ${tools}, "stop": "x"}`), [false]);
    assert.deepEqual(openIn(`{"messages": [${user}]}`), [false]);
  });

  it('is for the route that is named, whatever its shape', () => {
    assert.equal(read(`{"messages": [${user}]}`, 'messages').inputs[0]?.kind, 'messages');
  });

  it('may start with a byte order mark, as for the engine', () => {
    for (const body of ['\ufeff{"prompt": "a"}', `\ufeff{"messages": [${user}],\n "n": 1}`]) {
      assert.equal(only(body).request.body.toString(), body);
    }
    assert.equal(read('\ufeff{"prompt": "a"}\n{"prompt": "b"}').inputs.length, 2);
  });

  it('keeps every byte', () => {
    const body = `{ "messages": [${user}],\n  "seed": 12345678901234567890, "temperature": 1.0 }\n`;
    assert.equal(only(body).request.body.toString(), body);
  });

  it('may stand beside others, one a line', () => {
    const { inputs, mistakes } = read(`{"prompt": "a"}\n\n{"input": "b"}\n{"messages": [${user}]}\n`);
    assert.deepEqual(mistakes, []);
    assert.deepEqual(
      inputs.map(({ source, kind }) => `${source} ${kind}`),
      ['a.json:1 completion', 'a.json:3 responses', 'a.json:4 chat'],
    );
  });
});

describe('a trace', () => {
  it('has the conversation without the rendered prompt, every other byte kept', () => {
    const input = only(`{"messages": [${user}], "rendered_request": "<bos>Hi", "top_p": 1.0}`);
    assert.ok(input.form === 'trace');
    assert.equal(input.rendered, '<bos>Hi');
    const kept = `{"messages": [${user}], "rendered_request": null, "top_p": 1.0}`;
    assert.equal(input.request.body.toString(), kept);
  });

  it('may hold the prompt as ids', () => {
    const input = only(`{"messages": [${user}], "rendered_request": [2, 105]}`);
    assert.ok(input.form === 'trace');
    assert.deepEqual(input.rendered, [2, 105]);
  });
});

const exchange = buildExchange({ route: 'completion', body: { prompt: 'secret' }, ids: [[2, 5]] });
const entry = recordExchange(exchange, new Date(0))!;
const recording = formatRecording('test', [entry]);

describe('a recording', () => {
  it('has an input for each of its exchanges', () => {
    const input = only(recording);
    assert.ok(input.form === 'recorded');
    assert.deepEqual([input.source, input.kind], ['a.json:3', 'completion']);
    assert.equal(input.entry.exchange.facts, entry.exchange.facts);
  });
});

describe('what can not be read', () => {
  const allowedForms = /allowed: a request body \("messages", "prompt" or "input"\), a trace/;
  const withExchange = (changes: object): string =>
    formatRecording('test', [{ ...entry, exchange: { ...entry.exchange, ...changes } }]);
  const cases: readonly (readonly [name: string, text: string | Buffer, where: string, says: RegExp])[] = [
    ['nothing', ' \n', 'a.json', /^there is nothing in it; allowed: /],
    ['bytes', Buffer.from([0x7b, 0xff]), 'a.json', /^the bytes are no UTF-8/],
    [
      'broken JSON',
      '{"messages": [\n  {"role" "secret"}]}',
      'a.json:2:11',
      /^not valid JSON: .* allowed: ":"$/,
    ],
    [
      'a broken line',
      '{"prompt": "a"}\n{"prompt": secret}',
      'a.json:2:12',
      /^not valid JSON: "s" stands here/,
    ],
    ['a list', '["secret"]', 'a.json', /^it is no JSON object/],
    [
      'another object',
      '{"a": 1, "b": "secret"}',
      'a.json',
      /^its members are "a", "b", which say not what it is/,
    ],
    ['another object', '{"a": 1, "b": "secret"}', 'a.json', allowedForms],
    [
      'no messages in messages',
      '{"messages": ["secret"]}',
      'a.json',
      /^it is no body of the route "chat"; allowed there: "messages", a list/,
    ],
    ['half a surrogate pair', '{"prompt": "\\ud800"}', 'a.json', /half a surrogate pair/],
    [
      'a trace whose prompt is none',
      `{"messages": [${user}], "rendered_request": {"secret": 1}}`,
      'a.json',
      /^"rendered_request" is neither a text nor token ids; allowed: the prompt as one text, or its ids/,
    ],
    [
      'a trace without messages',
      '{"rendered_request": "secret"}',
      'a.json',
      /^it has "rendered_request", as traces have, and is no conversation; allowed beside that: "messages"/,
    ],
    [
      'a trace with an id that no engine has',
      `{"messages": [${user}], "rendered_request": [1, 4294967297]}`,
      'a.json',
      /^"rendered_request" is neither a text nor token ids; .* from 0 to 2147483647$/,
    ],
    [
      'more than one string holds',
      Buffer.alloc(constants.MAX_STRING_LENGTH + 1),
      'a.json',
      /^it holds more than 511 MiB; split it/,
    ],
    [
      'a recorded id that no engine has',
      withExchange({ prompts: [{ ids: [4294967297], source: 'engine' }] }),
      'a.json:3',
      /^"prompts\[0\]\.ids\[0\]" is another number; allowed: a token id, from 0 to 2147483647$/,
    ],
    [
      'a recording of nothing',
      recording.split('\n').slice(0, 2).join('\n'),
      'a.json',
      /^the recording holds no exchange/,
    ],
    ['a line of a recording', `${recording}{"type": 1}`, 'a.json:4', /^"type" is none of a recording/],
    [
      'pseudonyms',
      withExchange({ prompts: [{ pseudonyms: ['a', 'b'] }] }),
      'a.json:3',
      /^the exchange was recorded with pseudonyms/,
    ],
    ['no body', withExchange({ body: undefined }), 'a.json:3', /from which nothing can be judged/],
    [
      'a route that is not read',
      withExchange({ route: { kind: 'infill', inspected: false, dialect: 'native' } }),
      'a.json:3',
      /^the exchange is of the route "infill", which is not inspected; allowed: chat, completion/,
    ],
    [
      'a body of another route',
      withExchange({ body: '{"messages": "secret"}' }),
      'a.json:3',
      /^its "body": it is no body of the route "completion"/,
    ],
  ];
  const beside = ['a broken line', 'a line of a recording'];
  for (const [name, text, where, says] of cases) {
    it(`is named, with what is allowed: ${name}`, () => {
      const { inputs, mistakes } = readInput('a.json', Buffer.isBuffer(text) ? text : Buffer.from(text));
      // What can be read beside it is.
      assert.equal(inputs.length, beside.includes(name) ? 1 : 0);
      assert.deepEqual(
        mistakes.map((mistake) => mistake.where),
        [where],
      );
      assert.match(mistakes[0]?.message ?? '', says);
      assert.ok(!JSON.stringify(mistakes).includes('secret'));
    });
  }
});
