// What the bodies of `/v1/messages` and `/v1/responses` say, with each part under the name that the client gave it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatPath } from '../../../src/exchange/json/json-path.ts';
import { readRequest } from '../../../src/exchange/request/request-reader.ts';
import type { ChatRequest } from '../../../src/exchange/request/request.ts';
import { contentText } from '../../../src/exchange/request/system-text.ts';

function read(kind: 'messages' | 'responses', body: object): ChatRequest | string {
  const reading = readRequest(Buffer.from(JSON.stringify(body)), kind);
  if (!reading.readable) return reading.reason;
  assert.equal(reading.request.kind, 'chat');
  return reading.request;
}

/** Role, place and text of each message. */
function shown(request: ChatRequest | string): unknown {
  if (typeof request === 'string') return request;
  return request.messages.map(({ role, path, value }) => [
    role,
    formatPath(path),
    contentText(value['content']),
  ]);
}

const hi = { role: 'user', content: 'Hi' };
const result = { type: 'tool_result', tool_use_id: 't', content: 'Rain.' };
const block = (text: string): object => ({ type: 'text', text, cache_control: { type: 'ephemeral' } });
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };

const conversations: [string, object, unknown][] = [
  [
    'a system string',
    { system: 'S', messages: [hi] },
    [
      ['system', 'system', 'S'],
      ['user', 'messages[0]', 'Hi'],
    ],
  ],
  [
    'system blocks',
    { system: [block('A'), { type: 'odd' }, block('B')], messages: [hi] },
    [
      ['system', 'system[0].text', 'A'],
      ['system', 'system[2].text', 'B'],
      ['user', 'messages[0]', 'Hi'],
    ],
  ],
  [
    'results of tools, alone and not',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
        { role: 'user', content: [result, result] },
        { role: 'user', content: [result, block('And?')] },
        { role: 'user', content: [] },
      ],
    },
    [
      ['assistant', 'messages[0]', ''],
      ['tool', 'messages[1]', ''],
      ['user', 'messages[2]', 'And?'],
      ['user', 'messages[3]', ''],
    ],
  ],
  ['odd instructions', { system: 7, messages: [hi] }, [['user', 'messages[0]', 'Hi']]],
  ['no messages', { system: 'S' }, 'wrong-shape'],
  ['empty messages', { messages: [] }, []],
  ['messages that are no list', { system: 'S', messages: 'Hi' }, [['system', 'system', 'S']]],
  ['a message that is none', { messages: [hi, 'Hi'] }, 'wrong-shape'],
  ['a message without a role', { messages: [{ content: 'Hi' }] }, 'wrong-shape'],
];

describe('readRequest: messages', () => {
  for (const [name, body, expected] of conversations) {
    it(name, () => {
      assert.deepEqual(shown(read('messages', body)), expected);
    });
  }

  it('knows the dialect, the limit, and one answer', () => {
    const request = read('messages', {
      messages: [hi],
      max_tokens: 5,
      n: 3,
      tools: [{ name: 'f' }],
    }) as ChatRequest;
    assert.deepEqual(
      [request.dialect, request.maxTokens, request.maxTokensField, request.choices, request.tools],
      ['anthropic', 5, 'max_tokens', 1, [{ name: 'f' }]],
    );
  });

  it('sees media, in results of tools too', () => {
    for (const content of [[image], [{ ...result, content: [image] }]]) {
      const request = read('messages', { messages: [{ role: 'user', content }] }) as ChatRequest;
      assert.equal(request.hasMedia, true);
    }
    const request = read('messages', {
      messages: [{ role: 'user', content: [{ ...result, content: 'image' }] }],
    });
    assert.equal((request as ChatRequest).hasMedia, false);
  });
});

const items: [string, object, unknown][] = [
  ['text', { input: 'Hi' }, [['user', 'input', 'Hi']]],
  [
    'instructions and items',
    {
      instructions: 'S',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'D' }] },
        hi,
        { id: 'rs', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] },
        { id: 'msg', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yo' }] },
        { id: 'fc', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'Rain.' },
      ],
    },
    [
      ['system', 'instructions', 'S'],
      ['developer', 'input[0]', 'D'],
      ['user', 'input[1]', 'Hi'],
      ['assistant', 'input[2]', 'Hm'],
      ['assistant', 'input[3]', 'Yo'],
      ['assistant', 'input[4]', ''],
      ['tool', 'input[5]', 'Rain.'],
    ],
  ],
  ['no input', { instructions: 'S' }, 'wrong-shape'],
  ['empty input', { input: [] }, []],
  ['odd input', { input: 7 }, 'wrong-shape'],
  ['an item that is none', { input: [hi, 'Hi'] }, 'wrong-shape'],
];

describe('readRequest: responses', () => {
  for (const [name, body, expected] of items) {
    it(name, () => {
      assert.deepEqual(shown(read('responses', body)), expected);
    });
  }

  it('leaves out what a server gave its items for itself', () => {
    const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yo' }] };
    const given = { id: 'msg_1', status: 'completed', ...item };
    const valueOf = (one: object): object =>
      (read('responses', { input: [one] }) as ChatRequest).messages[0]!.value;
    assert.deepEqual(valueOf(given), valueOf(item));
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
    assert.deepEqual(valueOf({ ...call, id: 'fc_1', status: 'completed' }), { ...call, role: 'assistant' });
  });

  it('knows the dialect, the limit and where a result stands', () => {
    const output = [{ type: 'input_image', image_url: 'data:,' }];
    const input = [{ type: 'function_call_output', call_id: 'c', output }];
    const request = read('responses', { input, max_output_tokens: 5, max_tokens: 7 }) as ChatRequest;
    assert.deepEqual(
      [request.dialect, request.maxTokens, request.maxTokensField, request.hasMedia],
      ['responses', 5, 'max_output_tokens', true],
    );
    assert.equal(formatPath(request.messages[0]!.contentPath), 'input[0].output');
  });
});

describe('readRequest: bodies of any shape', () => {
  it('never throws, and names only places that are there', () => {
    const keys = ['system', 'messages', 'input', 'instructions', 'role', 'content', 'type', 'text', 'output'];
    const words = [
      'user',
      'assistant',
      'text',
      'tool_result',
      'message',
      'function_call_output',
      'reasoning',
    ];
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(fc.constantFrom(...words, 1, null, true), fc.string()),
        fc.dictionary(fc.constantFrom(...keys), tie('tree')),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }));
    const bodies = fc.dictionary(fc.constantFrom(...keys), tree);
    fc.assert(
      fc.property(bodies, fc.constantFrom('messages' as const, 'responses' as const), (body, kind) => {
        const request = read(kind, body);
        if (typeof request === 'string') return;
        for (const { path } of request.messages) {
          const found = path.reduce<unknown>(
            (value, step) => (value as Record<string, unknown>)[step],
            request.json,
          );
          assert.notEqual(found, undefined);
        }
      }),
    );
  });
});
