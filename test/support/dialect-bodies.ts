// Bodies for `/v1/messages` and `/v1/responses` in which every branch of an engine's conversion to chat shows.
// `refused` are those that llama-server answers with an error, whatever the model; of some templates refuse more.

type Body = Readonly<Record<string, unknown>>;

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const user = (content: unknown): object => ({ role: 'user', content });
const assistant = (content: unknown): object => ({ role: 'assistant', content });
const hi = [user('Hi')];
const text = (said: string, fields: object = {}): object => ({ type: 'text', text: said, ...fields });
const marked = { cache_control: { type: 'ephemeral' } };

const tools = [{ name: 'get_weather', description: 'Weather.', input_schema: schema }];
const use = (input: unknown, id = 'toolu_1'): object => ({
  type: 'tool_use',
  id,
  name: 'get_weather',
  input,
});
const result = (content?: unknown, id = 'toolu_1'): object => ({
  type: 'tool_result',
  tool_use_id: id,
  ...(content !== undefined && { content }),
});
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'x' };
const picture = { type: 'base64', media_type: 'image/png', data: 'AA==' };
const called = (input: unknown, ...results: object[]): Body => ({
  tools,
  messages: [...hi, assistant([use(input)]), user(results)],
});
const header = 'x-anthropic-billing-header: cc_version=2.1.101.e51; cc_entrypoint=cli; cch=';

export const messagesBodies: Readonly<Record<string, Body>> = {
  'a string': { messages: hi },
  'a system string': { system: 'You are terse.', messages: hi },
  'an empty system': { system: '', messages: hi },
  'no system': { system: null, messages: hi },
  'a system that is a number': { system: 5, messages: hi },
  'a system that is an object': { system: text('x'), messages: hi },
  'a system without blocks': { system: [], messages: hi },
  blocks: {
    system: [text('You are terse.', marked), text('Be kind.'), { type: 'odd', text: 'x' }],
    messages: [user([text('a'), text('b', marked)])],
  },
  'an attribution line': { system: [text(`${header}a5145;`), text('You are Claude.')], messages: hi },
  'an attribution line, in a string': { system: `${header}a5145; more cch=12345;`, messages: hi },
  'a hash of five bytes': { system: `${header}aé1x;`, messages: hi },
  'a hash of five characters and more bytes': { system: `${header}éé123;`, messages: hi },
  'a hash without an end': { system: `${header}12345`, messages: hi },
  'an attribution line that is not the first text': { system: ` ${header}12345;`, messages: hi },
  turns: { messages: [...hi, assistant('Hello'), user('More')] },
  tools: { tools, messages: hi },
  'a call beside text': {
    tools,
    messages: [...hi, assistant([text('Let me see.'), use({ city: 'Oslo' })]), user([result('Rain.')])],
  },
  'odd values in a call': called(
    { x: 1.5, z: [1, null, true, 'é\u2028"\\'] },
    result([text('R'), text('S')]),
  ),
  'results before text': called({}, result(), result([], 'toolu_2'), text('And?')),
  'a failed call without input': called(null, { ...(result('bad') as Body), is_error: true }),
  'a call whose input is a string': called('str', result(null), { type: 'odd' }),
  thinking: { messages: [...hi, assistant([thinking, text('Yes')]), user('More')] },
  'thinking alone': { messages: [...hi, assistant([thinking]), user('More')] },
  'thinking and a call': {
    tools,
    messages: [...hi, assistant([thinking, use({ city: 'Oslo' })]), user([result('x')])],
  },
  'thinking that is hidden': {
    messages: [...hi, assistant([{ type: 'redacted_thinking', data: 'x' }, text('Yes')]), user('More')],
  },
  'blocks that are all unknown': { messages: [...hi, assistant([{ type: 'odd' }]), user('More')] },
  'no blocks': { messages: [...hi, assistant([]), user('More')] },
  'a document': {
    messages: [user([{ type: 'document', source: { type: 'text', data: 'abc' } }, text('b')])],
  },
  'an image that the engine can not have': {
    messages: [user([{ type: 'image', source: { type: 'file', file_id: 'x' } }, text('b')])],
  },
  'a begun answer': { messages: [...hi, assistant('Pre')] },
  'a begun answer in blocks': { messages: [...hi, assistant([text('Pre')])] },
  ...Object.fromEntries(
    ['auto', 'any', 'tool', 'none'].map((type) => [
      `tool choice: ${type}`,
      { tools, tool_choice: { type, name: 'get_weather' }, messages: hi },
    ]),
  ),
  'template arguments': { chat_template_kwargs: { enable_thinking: false }, messages: hi },
  'thinking on': { thinking: { type: 'enabled', budget_tokens: 1024 }, messages: hi },
  'thinking off': { thinking: { type: 'disabled' }, messages: hi },
  'fields that the engine drops': {
    add_generation_prompt: false,
    metadata: { user_id: 'u' },
    output_config: { effort: 'low' },
    reasoning_effort: 'none',
    stop_sequences: ['x'],
    messages: hi,
  },
  'a tool of a server': {
    tools: [...tools, { type: 'web_search_20250305', name: 'web_search' }],
    messages: hi,
  },
  'tools without a schema': { tools: [{ name: 'x', input_schema: null }, { name: 'y' }], messages: hi },
  'no tools': { tools: [], messages: hi },
  'tools that are null': { tools: null, messages: hi },
  'a system message': { system: 'A.', messages: [{ role: 'system', content: 'B.' }, ...hi] },
  'content that is null': { messages: [user(null)] },
};

/** As text: JavaScript would write these numbers, and this order of keys, otherwise. */
export const exactMessagesBody = `{"max_tokens":2,"tools":[{"name":"x","description":"d","input_schema":{"type":"object",
"properties":{"10":{"type":"number","minimum":1.0,"maximum":1e5},"2":{"type":"string"},"b":{"multipleOf":0.00001}}}}],
"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":
{"10":1.0,"2":-0,"a":1e5,"b":1E-7,"c":12345678901234567890,"d":1e22,"e":0.1,"f":-1.50,"g":1e15,
"h":123456789012345678901234567890,"i":-0.0,"j":1e16,"k":123.456,"l":0.0001,"m":[ 1 , {"z" : "q"} ]}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}]}`;

export const refusedMessages: Readonly<Record<string, Body>> = {
  'no messages': { system: 'x' },
  'no role': { messages: [{ content: 'x' }] },
  'no content': { messages: [user('a'), { role: 'user' }] },
  'a text block without text': { messages: [user([{ type: 'text' }])] },
  'an image, without a projector': { messages: [user([{ type: 'image', source: picture }])] },
};

const functionTools = [{ type: 'function', name: 'get_weather', description: 'W.', parameters: schema }];
const item = (role: string, content: unknown): object => ({ type: 'message', role, content });
const input = (said: string): object => ({ type: 'input_text', text: said });
const answer = (said: string): object => ({
  id: 'msg_1',
  status: 'completed',
  ...item('assistant', [{ type: 'output_text', text: said, annotations: [], logprobs: [] }]),
});
const thought = (said: string): object => ({
  id: 'rs_1',
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text: said }],
  encrypted_content: '',
});
const call = (given: string, id = 'c1'): object => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: id,
  name: 'get_weather',
  arguments: given,
  status: 'completed',
});
const output = (given: unknown, id = 'c1'): object => ({
  type: 'function_call_output',
  call_id: id,
  output: given,
});

export const responsesBodies: Readonly<Record<string, Body>> = {
  text: { input: 'Hi' },
  'empty text': { input: '' },
  instructions: { instructions: 'Be terse.', input: 'Hi' },
  'no instructions': { instructions: null, input: 'Hi' },
  'empty instructions': { instructions: '', input: 'Hi' },
  'items of every role': {
    instructions: 'Be terse.',
    input: [item('developer', [input('Dev.')]), item('user', 'Hi'), answer('Yo'), ...hi],
  },
  'two parts': { input: [item('user', [input('a'), input('b')])] },
  'two answers': { input: [...hi, answer('Yo'), answer('Ya'), ...hi] },
  'reasoning before an answer': { input: [...hi, thought('Hm.'), answer('Yo'), ...hi] },
  'reasoning after an answer': { input: [...hi, answer('Yo'), thought('Hm.'), ...hi] },
  'reasoning before a call': {
    tools: functionTools,
    input: [...hi, thought('Hm.'), call('{"city":"Oslo"}'), output('Rain')],
  },
  'calls after an answer': {
    tools: functionTools,
    input: [
      ...hi,
      answer('Let me'),
      call('{"city":"Oslo"}'),
      call('{ "city" : 1.0 }', 'c2'),
      output([input('Rain'), input('Sun')]),
      output('x', 'c2'),
    ],
  },
  'an answer after a call': {
    tools: functionTools,
    input: [...hi, call('{"city":"Oslo"}'), answer('Let me'), output([])],
  },
  tools: { tools: functionTools, input: 'Hi' },
  'tools that are strict or not': {
    tools: [
      { ...functionTools[0], strict: false },
      { ...functionTools[0], name: 'b', strict: null },
    ],
    input: 'Hi',
  },
  'a tool of a server': { tools: [{ type: 'web_search' }], input: 'Hi' },
  'a tool of a server among others': { tools: [{ type: 'web_search' }, ...functionTools], input: 'Hi' },
  'no tools': { tools: [], input: 'Hi' },
  ...Object.fromEntries(
    ['required', 'none', { type: 'function', name: 'get_weather' }].map((choice) => [
      `tool choice: ${typeof choice === 'string' ? choice : choice.type}`,
      { tools: functionTools, tool_choice: choice, input: 'Hi' },
    ]),
  ),
  'no reasoning': { reasoning: { effort: 'none' }, input: 'Hi' },
  'little reasoning': { reasoning: { effort: 'low', summary: 'auto' }, input: 'Hi' },
  'reasoning as usual': { reasoning: null, input: 'Hi' },
  'template arguments': { chat_template_kwargs: { enable_thinking: false }, input: 'Hi' },
  'no generation prompt': { add_generation_prompt: false, input: 'Hi' },
  'a format': {
    text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' } } },
    input: 'Hi',
  },
  'a begun answer': { input: [...hi, answer('Pre')] },
  'a named user': { input: [{ ...item('user', 'Hi'), name: 'bob', id: 'msg_9' }] },
  'instructions in between': { input: [...hi, item('system', 'S.'), ...hi] },
  'fields of other routes': { messages: [user('x')], prompt_cache_key: 'x', store: false, input: 'Hi' },
};

export const refusedResponses: Readonly<Record<string, Body>> = {
  'no input': { instructions: 'x' },
  'input that is null': { input: null },
  'an answer without a type': { input: [...hi, assistant('Yo'), ...hi] },
  'reasoning without content': { input: [...hi, { type: 'reasoning', summary: [] }] },
  'reasoning with empty content': { input: [...hi, { type: 'reasoning', summary: [], content: [] }] },
  'arguments that are no JSON': { tools: functionTools, input: [...hi, call('{"city"'), output('x')] },
  'output of another type': { tools: functionTools, input: [...hi, call('{}'), output([text('x')])] },
  'an image, without a projector': {
    input: [item('user', [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }])],
  },
  'a file': { input: [item('user', [{ type: 'input_file', file_id: 'x' }])] },
  'a refusal': { input: [...hi, item('assistant', [{ type: 'refusal', refusal: 'no' }]), ...hi] },
  'tools that are null': { tools: null, input: 'Hi' },
  'an earlier response': { previous_response_id: 'resp_1', input: 'Hi' },
  'an unknown item': { input: [{ type: 'item_reference', id: 'x' }] },
};
