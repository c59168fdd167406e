// Bodies for `/v1/messages` and `/v1/responses` with values of the wrong type or of no known one, by what can be said of
// their prompts in front of llama-server: it reads some of them all the same, and refuses others, each in its own way.

type Body = Readonly<Record<string, unknown>>;

/** By the header `tokenweir-inspection`, then by name. */
export type OddBodies = Readonly<Record<string, Readonly<Record<string, Body>>>>;

const user = (content: unknown): object => ({ role: 'user', content });
const hi = [user('Hi')];
const text = (said: unknown): object => ({ type: 'text', text: said });
const tools = [{ name: 'f', description: 'F.', input_schema: { type: 'object' } }];
const called = (content: unknown): Body => ({
  tools,
  messages: [
    ...hi,
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
    user([{ type: 'tool_result', tool_use_id: 't', content }]),
  ],
});

/** Of `/v1/messages`. */
export const oddMessages: OddBodies = {
  ok: {
    'a system that is true': { system: true, messages: hi },
    'a system of strings': { system: ['A', 'B'], messages: hi },
    'a system with null in it': { system: [null, text('B')], messages: hi },
    'a system block without text': { system: [{ type: 'text' }, text('B')], messages: hi },
    'a system block whose text is a number': { system: [text(5)], messages: hi },
    'a system block of a list': { system: [[text('B')]], messages: hi },
    'an image in the system': { system: [{ type: 'image', source: {} }, text('B')], messages: hi },
    'an unknown role': { messages: [{ role: 'critic', content: 'Hi' }] },
    'a block that is text': { messages: [user(['Hi'])] },
    'a block that is null': { messages: [user([null, text('Hi')])] },
    'a block without a type': { messages: [user([{ text: 'Hi' }, text('B')])] },
    'a block whose type is a number': { messages: [user([{ type: 5 }, text('Hi')])] },
    'unknown blocks among known': {
      messages: [
        user([{ type: 'search_result', content: [text('x')] }, text('Hi'), { type: 'container_upload' }]),
      ],
    },
    'results in blocks, known and unknown': called([
      text('A'),
      { type: 'document' },
      { type: 'odd' },
      text('B'),
    ]),
    'a result of a reference': called([{ type: 'tool_reference', tool_name: 'f' }]),
    'a result that is a number': called(5),
    'a result that is an object': called({ type: 'text', text: 'A' }),
    'a result of strings': called(['A']),
    'a result without a call': { messages: [...hi, user([{ type: 'tool_result', content: 'A' }])] },
    'tools that are text': { tools: 'f', messages: hi },
    'a tool that is text': { tools: ['f'], messages: hi },
    'a tool choice that is text': { tools, tool_choice: 'auto', messages: hi },
    'messages that are an object': { messages: { role: 'user', content: 'Hi' } },
    'messages that are text': { messages: 'Hi' },
    'messages that are a number, after instructions': { system: 'S', messages: 5 },
    'no message': { messages: [] },
    'an unknown model': { model: 'nope', messages: hi },
    'a model that is a number': { model: 5, messages: hi },
    'a stream that is text': { stream: 'yes', messages: hi },
    'a limit that is text': { max_tokens: 'many', messages: hi },
    'template arguments that are text': { chat_template_kwargs: 'x', messages: hi },
  },
  'unknown;unreadable-body': {
    'no messages at all': {},
    'a message that is text': { messages: ['Hi'] },
    'a message that is null': { messages: [null] },
    'a role that is a number': { messages: [{ role: 5, content: 'Hi' }] },
  },
  'unknown;oracle-refused': {
    'content that is a number': { messages: [user(5)] },
    'content that is an object': { messages: [user(text('Hi'))] },
    'a schema that is text': { tools: [{ name: 'f', input_schema: 'x' }], messages: hi },
  },
};

const item = (content: unknown, role = 'user'): object => ({ type: 'message', role, content });
const calledItem = (output: unknown): Body => ({
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
  input: [
    ...hi,
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output },
  ],
});

/** Of `/v1/responses`. */
export const oddResponses: OddBodies = {
  ok: {
    'output of an unknown call': {
      input: [...hi, { type: 'function_call_output', call_id: 'x', output: 'A' }],
    },
    'no items': { input: [] },
    'no items after instructions': { instructions: 'S', input: [] },
    'instructions that are a number': { instructions: 5, input: 'Hi' },
    'instructions in blocks': { instructions: [{ type: 'input_text', text: 'A' }], input: 'Hi' },
    'a tool that is text': { tools: ['f'], input: 'Hi' },
    'an unknown model': { model: 'nope', input: 'Hi' },
    'a model that is a number': { model: 5, input: 'Hi' },
    'a limit that is text': { max_output_tokens: 'many', input: 'Hi' },
    'reasoning that is text': { reasoning: 'low', input: 'Hi' },
  },
  'unknown;unreadable-body': {
    'input that is a number': { input: 5 },
    'input that is an object': { input: { role: 'user', content: 'Hi' } },
    'an item that is text': { input: ['Hi'] },
    'an item that is null': { input: [null] },
    'an item without a role': { input: [{ content: 'Hi' }] },
    'an unknown role': { input: [item('Hi', 'critic')] },
    'content that is a number': { input: [item(5)] },
    'content that is null': { input: [item(null)] },
    'a part that is text': { input: [item(['Hi'])] },
    'an unknown part': { input: [item([{ type: 'odd' }, { type: 'input_text', text: 'Hi' }])] },
    'a part without text': { input: [item([{ type: 'input_text' }])] },
    'output that is a number': calledItem(5),
    'output that is an object': calledItem({ a: 1 }),
    'output in parts, known and unknown': calledItem([{ type: 'input_text', text: 'A' }, { type: 'odd' }]),
    'tools that are text': { tools: 'f', input: 'Hi' },
  },
  'unknown;oracle-error': {
    'a part whose text is a number': { input: [item([{ type: 'input_text', text: 5 }])] },
    'a function without a name': { tools: [{ type: 'function' }], input: 'Hi' },
  },
};
