// What a body says, in every form that llama-server takes, and which bodies are left unread for the engine to refuse.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxValues } from '../../../src/exchange/json/body-reader.ts';
import type {
  ChatRequest,
  CompletionRequest,
  UnreadableReason,
} from '../../../src/exchange/request/request.ts';
import { locateString } from '../../../src/exchange/json/json-offsets.ts';
import { readRequest } from '../../../src/exchange/request/request-reader.ts';

function completion(body: string | Buffer): CompletionRequest {
  const reading = readRequest(Buffer.from(body), 'completion');
  assert.ok(reading.readable && reading.request.kind === 'completion', String(body));
  return reading.request;
}

function chat(fields: object): ChatRequest {
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], ...fields });
  const reading = readRequest(Buffer.from(body), 'chat');
  assert.ok(reading.readable && reading.request.kind === 'chat', body);
  return reading.request;
}

function refuses(kind: 'chat' | 'completion', body: string | Buffer, reason: UnreadableReason): void {
  const shown = body.toString().slice(0, 100);
  assert.deepEqual(readRequest(Buffer.from(body), kind), { readable: false, reason }, shown);
}

const prompt = ['prompt'];

describe('readRequest: prompts of a raw route', () => {
  const forms: [string, unknown, CompletionRequest['prompts']][] = [
    ['text', 'a', [{ form: 'text', text: 'a', path: prompt }]],
    ['empty text', '', [{ form: 'text', text: '', path: prompt }]],
    ['ids', [1, 2, 2147483647], [{ form: 'ids', ids: [1, 2, 2147483647], path: prompt }]],
    ['mixed', [1, 'a', 2], [{ form: 'mixed', items: [1, 'a', 2], path: prompt }]],
    [
      'two texts',
      ['a', 'b'],
      [
        { form: 'text', text: 'a', path: ['prompt', 0] },
        { form: 'text', text: 'b', path: ['prompt', 1] },
      ],
    ],
    [
      'two lists of ids',
      [[1, 2], [3]],
      [
        { form: 'ids', ids: [1, 2], path: ['prompt', 0] },
        { form: 'ids', ids: [3], path: ['prompt', 1] },
      ],
    ],
    [
      'three of a kind each',
      [{ prompt_string: 'p' }, 'a', [1, 'b']],
      [
        { form: 'text', text: 'p', path: ['prompt', 0, 'prompt_string'] },
        { form: 'text', text: 'a', path: ['prompt', 1] },
        { form: 'mixed', items: [1, 'b'], path: ['prompt', 2] },
      ],
    ],
    ['an object', { prompt_string: 'p' }, [{ form: 'text', text: 'p', path: ['prompt', 'prompt_string'] }]],
    [
      'an object with a mixed array',
      { prompt_string: ['a', 7] },
      [{ form: 'mixed', items: ['a', 7], path: ['prompt', 'prompt_string'] }],
    ],
    [
      'an object with ids',
      { prompt_string: [5, 7] },
      [{ form: 'ids', ids: [5, 7], path: ['prompt', 'prompt_string'] }],
    ],
    ['no ids', [[]], [{ form: 'ids', ids: [], path: ['prompt', 0] }]],
    [
      'an object without ids',
      { prompt_string: [] },
      [{ form: 'ids', ids: [], path: ['prompt', 'prompt_string'] }],
    ],
    [
      'an object with media',
      { prompt_string: 'a <__media__>', multimodal_data: ['AA=='] },
      [{ form: 'media', path: ['prompt', 'prompt_string'] }],
    ],
  ];
  for (const [name, value, prompts] of forms) {
    it(`reads ${name}`, () => {
      assert.deepEqual(completion(JSON.stringify({ prompt: value })).prompts, prompts);
    });
  }

  it('casts numbers to ids as the engine does, and says so', () => {
    const wide = [2 ** 32 + 2, 2 ** 40, 2 - 2 ** 32, 5];
    assert.deepEqual(completion(JSON.stringify({ prompt: wide })).prompts, [
      { form: 'ids', ids: [2, 0, 2, 5], path: prompt, cast: true },
    ]);
    assert.deepEqual(completion(JSON.stringify({ prompt: [2 ** 32 + 2, 'a'] })).prompts, [
      { form: 'mixed', items: [2, 'a'], path: prompt },
    ]);
    const [plain] = completion('{"prompt":[2,5]}').prompts;
    assert.ok(plain !== undefined && !('cast' in plain));
  });

  for (const value of [
    undefined,
    null,
    7,
    true,
    [],
    [null],
    ['a', null],
    [['a', 'b']],
    [1, null],
    [1, [2]],
    [-1, 2],
    [1.5],
    [2147483648],
    [1, 'a', -1],
    [2 ** 53],
    {},
    { prompt_string: 7 },
    { prompt_string: ['a', true] },
    { multimodal_data: ['AA=='] },
  ]) {
    it(`leaves ${value === undefined ? 'a missing prompt' : JSON.stringify(value)} to the engine`, () => {
      refuses('completion', JSON.stringify({ prompt: value }), 'wrong-shape');
    });
  }

  it('takes the last of duplicate keys', () => {
    assert.deepEqual(completion('{"prompt":"a","prompt":"b"}').prompts, [
      { form: 'text', text: 'b', path: prompt },
    ]);
  });
});

describe('readRequest: chat', () => {
  it('reads messages, tools and model', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const request = chat({ model: 'm', tools, prompt: 7 });
    const path = ['messages', 0];
    assert.deepEqual(request.messages, [
      { role: 'user', value: { role: 'user', content: 'hi' }, path, contentPath: [...path, 'content'] },
    ]);
    assert.equal(request.dialect, 'openai');
    assert.deepEqual(request.tools, tools);
    assert.equal(request.model, 'm');
    assert.equal(request.hasMedia, false);
  });

  it('sees media among the parts', () => {
    for (const type of ['image_url', 'input_audio', 'input_video', 'video_url']) {
      const content = [{ type: 'text', text: 'see' }, { type }];
      assert.equal(chat({ messages: [{ role: 'user', content }] }).hasMedia, true, type);
    }
    const text = [{ type: 'text', text: 'image_url' }, null, 7];
    assert.equal(chat({ messages: [{ role: 'user', content: text }] }).hasMedia, false);
  });

  it('reads a chat without messages', () => {
    assert.deepEqual(chat({ messages: [] }).messages, []);
  });

  it('leaves wrong messages to the engine', () => {
    for (const messages of [undefined, null, 'hi', {}, ['hi'], [null], [[]], [{}], [{ role: 1 }]]) {
      refuses('chat', JSON.stringify({ messages }), 'wrong-shape');
    }
  });
});

describe('readRequest: options', () => {
  it('streams only for true', () => {
    assert.equal(chat({ stream: true }).stream, true);
    for (const stream of [false, 1, 'true', null]) assert.equal(chat({ stream }).stream, false);
  });

  it('counts the choices', () => {
    assert.equal(chat({ n: 3 }).choices, 3);
    assert.equal(chat({ n_cmpl: 2 }).choices, 2);
    for (const n of [undefined, null, 0, -1, 1.5, '2']) assert.equal(chat({ n }).choices, 1);
  });

  it('takes the first token limit that is not null', () => {
    assert.equal(chat({ max_tokens: 5 }).maxTokens, 5);
    assert.equal(chat({ max_tokens: 5, max_completion_tokens: 6 }).maxTokens, 6);
    assert.equal(chat({ max_tokens: 5, max_completion_tokens: 6, n_predict: 0 }).maxTokens, 0);
    assert.equal(chat({ n_predict: null, max_tokens: 5 }).maxTokens, 5);
    assert.equal('maxTokens' in chat({ n_predict: -1, max_tokens: 5 }), false);
    assert.equal('maxTokens' in chat({}), false);
    assert.equal(chat({ max_tokens: null, n_predict: 3 }).maxTokensField, 'n_predict');
  });
});

describe('readRequest: what is JSON to the engine', () => {
  const prompt = '{"prompt":"a"}';
  for (const [name, body] of Object.entries({
    'a byte order mark in front': Buffer.from(`\ufeff${prompt}`),
    'a byte order mark and space in front': Buffer.from(`\ufeff \n${prompt}`),
    'a NUL behind': Buffer.from(`${prompt}\0`),
    'anything behind a NUL': Buffer.concat([
      Buffer.from(`${prompt}\n\0{"prompt":"b"} `),
      Buffer.from([0xff]),
    ]),
  })) {
    it(`may have ${name}`, () => {
      const request = completion(body);
      assert.deepEqual(request.prompts, [{ form: 'text', text: 'a', path: ['prompt'] }]);
      const range = locateString(body, ['prompt']);
      assert.equal(range && body.toString('utf8', range.start, range.end), 'a');
    });
  }
});

describe('readRequest: unreadable bodies', () => {
  const nested = (depth: number): string => `{"prompt":"a","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;

  it('says why', () => {
    refuses('chat', '{"messages":', 'not-json');
    refuses('chat', '', 'not-json');
    refuses('completion', '[{"prompt":"a"}]', 'wrong-shape');
    refuses('completion', 'null', 'wrong-shape');
    refuses('completion', '\ufeff\ufeff{"prompt":"a"}', 'not-json');
    refuses('completion', ' \ufeff{"prompt":"a"}', 'not-json');
    refuses('completion', '\0{"prompt":"a"}', 'not-json');
    refuses('completion', '{"prompt":"a\0"}', 'not-json');
    refuses('completion', '{"prompt":"a",\0"n":1}', 'not-json');
    refuses('completion', Buffer.from('{"prompt":"\xff"}', 'latin1'), 'not-utf8');
    refuses(
      'completion',
      Buffer.from([...Buffer.from('{"prompt":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d]),
      'not-utf8',
    );
  });

  it('refuses half surrogate pairs, in any value or key', () => {
    for (const body of [
      '{"prompt":"\\ud800"}',
      '{"prompt":"\\uDFFF\\uD800"}',
      '{"prompt":"a","\\udc00":1}',
      '{"prompt":"a","x":[{"y":["\\ud83d"]}]}',
    ]) {
      refuses('completion', body, 'lone-surrogate');
    }
    assert.equal(completion('{"prompt":"\\ud83d\\ude00"}').prompts.length, 1);
    assert.equal(completion('{"prompt":"\\\\ud800"}').prompts.length, 1);
  });

  it('leaves out members that are too deep to be followed, if the prompt is not in them', () => {
    for (const depth of [511, 512, 100_000]) {
      const { prompts, json } = completion(nested(depth));
      assert.equal(prompts.length, 1);
      assert.equal('x' in json, depth === 511);
    }
    for (const [kind, body] of [
      ['completion', `{"prompt":${'['.repeat(512)}${']'.repeat(512)}}`],
      ['chat', `{"messages":[],"tools":${'['.repeat(512)}${']'.repeat(512)}}`],
      ['chat', `{"messages":[],"chat_template_kwargs":${'{"a":'.repeat(512)}1${'}'.repeat(512)}}`],
    ] as const) {
      refuses(kind, body, 'too-deep');
    }
    refuses('completion', `{"prompt":"a","x":${'['.repeat(2_000_000)}}`, 'not-json');
  });

  it('builds no object of more values than any prompt needs', () => {
    refuses('completion', `{"prompt":[${'1,'.repeat(maxValues)}1]}`, 'too-many-values');
  });
});
