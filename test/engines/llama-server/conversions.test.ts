// The chat bodies that we have rendered for `/v1/messages` and `/v1/responses`. That they are the engine's own is shown by
// llama-dialects.test.ts; this is what to read, and what is known without an engine.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chatBodyOf } from '../../../src/engines/llama-server/chat-body.ts';
import { chatOfMessages } from '../../../src/engines/llama-server/messages.ts';
import { OracleFailure } from '../../../src/engines/oracle/oracle-failure.ts';
import { chatOfResponses } from '../../../src/engines/llama-server/responses.ts';
import type { ChatRequest, JsonObject } from '../../../src/exchange/request/request.ts';
import { typed } from '../engine-under-test.ts';

const hi = { role: 'user', content: 'Hi' };
const messagesOf = (body: object): unknown =>
  chatOfMessages(body as JsonObject, JSON.stringify)?.['messages'];
const itemsOf = (...input: object[]): unknown => chatOfResponses({ input } as JsonObject)?.['messages'];

describe('chatOfMessages', () => {
  it('joins the texts of the system, with a steady hash', () => {
    const header = 'x-anthropic-billing-header: cc_version=2; cch=a5145;';
    const system = [{ type: 'text', text: header }, { type: 'odd' }, { type: 'text', text: 'You' }];
    const content = 'x-anthropic-billing-header: cc_version=2; cch=fffff;You';
    assert.deepEqual(messagesOf({ system, messages: [hi] }), [{ role: 'system', content }, hi]);
  });

  it('gives results of tools messages of their own, after the text beside them', () => {
    const blocks = [
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'text', text: 'R' },
          { type: 'text', text: 'S' },
        ],
      },
      { type: 'text', text: 'And?' },
    ];
    assert.deepEqual(messagesOf({ messages: [{ role: 'user', content: blocks }] }), [
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
      { role: 'tool', tool_call_id: 'a', content: 'RS' },
    ]);
  });

  it('keeps thinking and calls beside the text', () => {
    const blocks = [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'tool_use', id: 'a', name: 'f', input: { b: 1, a: 2 } },
    ];
    assert.deepEqual(messagesOf({ messages: [{ role: 'assistant', content: blocks }] }), [
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"b":1,"a":2}' } }],
        reasoning_content: 'Hm.',
      },
    ]);
  });

  it('makes data URLs of images, also in a result', () => {
    const image = { type: 'image', source: { type: 'base64', data: 'AA==' } };
    const content = [image, { type: 'tool_result', tool_use_id: 'a', content: [image] }];
    const part = { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AA==' } };
    assert.deepEqual(messagesOf({ messages: [{ role: 'user', content }] }), [
      { role: 'user', content: [part] },
      { role: 'tool', tool_call_id: 'a', content: [part] },
    ]);
  });

  it('passes on nothing else that could reach a prompt', () => {
    const body = {
      messages: [hi],
      tools: [{ name: 'f', input_schema: { a: 1 }, cache_control: {} }],
      tool_choice: { type: 'any' },
      chat_template_kwargs: { a: 1 },
      reasoning_effort: 'none',
    };
    assert.deepEqual(chatOfMessages(body, JSON.stringify), {
      messages: [hi],
      tools: [{ type: 'function', function: { name: 'f', description: '', parameters: { a: 1 } } }],
      tool_choice: 'required',
      chat_template_kwargs: { a: 1 },
    });
  });
});

const answer = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Yo' }],
};
const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
const toolCall = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };

describe('chatOfResponses', () => {
  it('makes one message of what the assistant said, thought and called', () => {
    const thought = { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] };
    assert.deepEqual(itemsOf(thought, answer, call, call), [
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'Yo' }],
        reasoning_content: 'Hm',
        tool_calls: [toolCall, toolCall],
      },
    ]);
  });

  it('reads a string as one part, and results of tools as what they are', () => {
    const output = { type: 'function_call_output', call_id: 'c', output: 'Rain' };
    const parts = { ...output, output: [{ type: 'input_text', text: 'Rain' }] };
    assert.deepEqual(itemsOf(hi, call, output, parts), [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', tool_calls: [toolCall] },
      { role: 'tool', tool_call_id: 'c', content: 'Rain' },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'Rain' }] },
    ]);
  });

  it('renames the limit and the effort, and leaves out tools that are no functions', () => {
    const body = {
      input: 'Hi',
      instructions: 'S',
      tools: [{ type: 'web_search' }, { type: 'function', name: 'f', parameters: {} }],
      max_output_tokens: 5,
      reasoning: { effort: 'low' },
      top_p: 1,
    };
    assert.deepEqual(chatOfResponses(body), {
      top_p: 1,
      messages: [{ role: 'system', content: 'S' }, hi],
      tools: [{ type: 'function', function: { name: 'f', parameters: {}, strict: true } }],
      max_tokens: 5,
      reasoning_effort: 'low',
    });
  });

  it('refuses what the engine refuses', () => {
    for (const item of [
      { ...call, arguments: {} },
      { type: 'odd' },
      { ...answer, content: [{ type: 'odd' }] },
    ]) {
      assert.equal(itemsOf(item), undefined);
    }
    assert.equal(chatOfResponses({ input: 7 }), undefined);
    assert.equal(chatOfResponses({ input: 'Hi', previous_response_id: 'r' }), undefined);
  });
});

describe('chatBodyOf', () => {
  const chat = (kind: 'chat' | 'messages' | 'responses', body: object | string): ChatRequest =>
    typed(kind, body) as ChatRequest;

  it("leaves a chat's own bytes alone", () => {
    const request = chat('chat', '{ "messages": [{"role":"user","content":"Hi"}] }');
    assert.equal(chatBodyOf(request, request.body, 'm'), request.body);
  });

  it('names the model where a router must know it, and keeps numbers', () => {
    const request = chat(
      'messages',
      '{"messages":[{"role":"user","content":"Hi"}],"chat_template_kwargs":{"a":1.0}}',
    );
    assert.equal(
      chatBodyOf(request, request.body, 'm'),
      '{"messages":[{"role":"user","content":"Hi"}],"chat_template_kwargs":{"a":1.0},"model":"m"}',
    );
  });

  it('reads the bytes that it is given, with their media cut down', () => {
    const request = chat('responses', { input: 'long' });
    assert.match(String(chatBodyOf(request, Buffer.from('{"input":"short"}'), undefined)), /short/);
  });

  it('says why there is none', () => {
    const request = chat('responses', { input: [{ type: 'odd' }] });
    assert.throws(
      () => chatBodyOf(request, request.body, undefined),
      (error) => error instanceof OracleFailure && error.reason === 'unreadable-body',
    );
  });
});

describe('conversions of any body', () => {
  it('never throw', () => {
    const keys = [
      'system',
      'messages',
      'input',
      'role',
      'content',
      'type',
      'text',
      'output',
      'source',
      'tools',
      'reasoning',
    ];
    const words = [
      'user',
      'assistant',
      'text',
      'tool_use',
      'tool_result',
      'image',
      'base64',
      'message',
      'function',
    ];
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(fc.constantFrom(...words, 1, null, true), fc.string()),
        fc.dictionary(fc.constantFrom(...keys), tie('tree')),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), tree), (body) => {
        chatOfMessages(body as JsonObject, JSON.stringify);
        chatOfResponses(body as JsonObject);
      }),
    );
  });
});
