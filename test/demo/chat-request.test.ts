// The prompt text of chat bodies: what the template writes, the BOS that is cut, and the refusals.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatPrompt } from '../../src/demo/chat-request.ts';
import { EngineError } from '../../src/demo/engine-error.ts';
import { loadDemoTokenizer } from '../../src/demo/tokenizer.ts';

const tokenizer = loadDemoTokenizer();
const prompt = (body: Readonly<Record<string, unknown>>): string => chatPrompt(body, tokenizer);
const system = { role: 'system', content: 'You are terse.' };
const user = { role: 'user', content: 'Hi' };
const assistant = { role: 'assistant', content: 'Ho' };
const tool = {
  type: 'function',
  function: { name: 'get_time', description: 'D', parameters: { type: 'object' }, return: 'dropped' },
};
const call = { type: 'function', function: { name: 'get_time', arguments: '{"a":1}' } };
const asked = '<|turn|>user\nHi<|end|>\n<|turn|>assistant\n';

function refuses(body: Readonly<Record<string, unknown>>, status: number, message: RegExp): void {
  assert.throws(
    () => prompt(body),
    (error) => error instanceof EngineError && error.status === status && message.test(error.message),
  );
}

describe('the prompt of a chat body', () => {
  it('has the turns and the generation prompt, without the BOS text that the template prints', () => {
    assert.equal(prompt({ messages: [system, user] }), `<|turn|>system\nYou are terse.<|end|>\n${asked}`);
    assert.equal(prompt({ messages: [user], add_generation_prompt: false }), '<|turn|>user\nHi<|end|>\n');
    assert.equal(prompt({ messages: [] }), '<|turn|>assistant\n');
  });

  it('keeps a BOS text that the client wrote', () => {
    assert.match(prompt({ messages: [{ role: 'user', content: '<bos>' }] }), /user\n<bos><\|end\|>/);
  });

  it('lists tools before the system text, one JSON object in each line, known fields only', () => {
    const text = prompt({ messages: [system, user], tools: [tool, tool], unknown: 1 });
    const line =
      '{"type": "function", "function": {"name": "get_time", "description": "D", "parameters": {"type": "object"}}}\n';
    assert.ok(text.startsWith('<|turn|>system\n# Tools\n'));
    assert.ok(text.includes(line + line));
    assert.ok(text.indexOf(line) < text.indexOf('You are terse.'));
  });

  it('writes an empty think block with thinking off, which the next turn does not repeat', () => {
    const off = { chat_template_kwargs: { enable_thinking: false } };
    assert.equal(prompt({ messages: [user], ...off }), `${asked}<think>\n\n</think>\n\n`);
    assert.equal(prompt({ messages: [user], reasoning_effort: 'none' }), `${asked}<think>\n\n</think>\n\n`);
    assert.ok(prompt({ messages: [user, assistant, user], ...off }).startsWith(`${asked}Ho<|end|>\n`));
  });

  it('writes reasoning and tool calls of the running turn, and drops reasoning once the user has spoken', () => {
    const thinking = { role: 'assistant', content: null, reasoning_content: 'why', tool_calls: [call] };
    const answered = [user, thinking, { role: 'tool', content: 'noon' }];
    const written = '<tool_call>\n{"name": "get_time", "arguments": {"a": 1}}\n</tool_call><|end|>\n';
    assert.ok(prompt({ messages: answered }).startsWith(`${asked}<think>\nwhy\n</think>\n\n${written}`));
    assert.ok(prompt({ messages: [...answered, user] }).startsWith(asked + written));
    assert.ok(prompt({ messages: answered }).includes('<tool_response>\nnoon\n</tool_response><|end|>'));
  });

  it('joins text parts and reads developer as system', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    assert.match(
      prompt({ messages: [{ role: 'developer', content: parts }] }),
      /^<\|turn\|>system\na\nb<\|end\|>/,
    );
  });

  it('continues a trailing assistant message', () => {
    const continued = `${asked}<think>\n\n</think>\n\nHo`;
    assert.equal(prompt({ messages: [user, assistant] }), continued);
    assert.equal(prompt({ messages: [user, assistant], reasoning_effort: 'none' }), continued);
    const thought = { ...assistant, reasoning_content: 'why' };
    assert.equal(prompt({ messages: [user, thought] }), `${asked}<think>\nwhy\n</think>\n\nHo`);
    refuses({ messages: [user, assistant, assistant] }, 400, /2 or more assistant messages/);
    refuses({ messages: [user, { ...assistant, tool_calls: [call] }] }, 400, /contains tool calls/);
    refuses(
      { messages: [user], add_generation_prompt: true, continue_final_message: true },
      400,
      /Cannot set both add_generation_prompt and continue_final_message/,
    );
  });

  it('is refused with what was wrong', () => {
    refuses({}, 400, /'messages' is required/);
    refuses({ messages: 'x' }, 400, /Expected 'messages' to be an array/);
    refuses({ messages: ['x'] }, 400, /must contain 'content'/);
    refuses({ messages: [{ role: 'assistant' }] }, 400, /either 'content' or 'tool_calls'/);
    refuses(
      { messages: [{ role: 'user', content: 5 }] },
      400,
      /Expected 'content' to be a string or an array/,
    );
    refuses({ messages: [{ role: 'user', content: [{ type: 'x' }] }] }, 400, /unsupported content\[\]\.type/);
    refuses({ messages: [{ role: 'narrator', content: 'x' }] }, 400, /not narrator/);
    refuses(
      { messages: [user], chat_template_kwargs: { enable_thinking: 'no' } },
      400,
      /expected boolean, got string/,
    );
  });

  it('fails with status 500 where the engine does', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
    const calling = (given: object): object => ({
      messages: [{ role: 'assistant', tool_calls: [given] }, user],
    });
    const badArguments = { type: 'function', function: { name: 'f', arguments: 'not json' } };
    refuses({ messages: [{ role: 'user', content: [image] }] }, 500, /image_url is not supported/);
    refuses({ messages: [{ content: 'x' }] }, 500, /Missing 'role' in message/);
    refuses({ messages: [user], tools: {} }, 500, /Expected 'tools' to be an array, got {}/);
    refuses({ messages: [user], tools: [{ type: 'x' }] }, 500, /Unsupported tool type/);
    refuses({ ...calling({ function: {} }) }, 500, /Missing tool call type/);
    refuses({ ...calling({ type: 'function' }) }, 500, /Missing tool call name/);
    refuses({ ...calling(badArguments) }, 500, /Failed to parse tool call arguments as JSON/);
  });
});
