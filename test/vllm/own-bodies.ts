// Bodies in which the parts of vLLM's conversions show that llama-server's have not. What both have is in
// test/support/dialect-bodies.ts.

type Body = Readonly<Record<string, unknown>>;

const user = (content: unknown): object => ({ role: 'user', content });
const assistant = (content: unknown): object => ({ role: 'assistant', content });
const hi = [user('Hi')];
const text = (said: string): object => ({ type: 'text', text: said });
const schema = { properties: { city: { type: 'string' } } };
const tools = [{ name: 'get_weather', description: 'Weather.', input_schema: schema, strict: true }];
const use = { type: 'tool_use', id: 't1', name: 'get_weather', input: { city: 'Ålesund 👋' } };
const result = (content: unknown): object => ({ type: 'tool_result', tool_use_id: 't1', content });
const called = (...results: object[]): Body => ({
  tools,
  messages: [...hi, assistant([use]), user(results)],
});
const off = { thinking: { type: 'disabled' } };

export const ownMessagesBodies: Readonly<Record<string, Body>> = {
  'an attribution line in a block of its own': {
    system: [text('x-anthropic-billing-header: cc_version=2; cch=1;'), text('Be terse.'), text('Be kind.')],
    messages: hi,
  },
  'an attribution line in an instruction between': {
    messages: [...hi, { role: 'system', content: 'x-anthropic-billing-header: x' }, ...hi],
  },
  'instructions between': {
    system: 'A.',
    messages: [...hi, { role: 'system', content: [text('B.')] }, ...hi],
  },
  'a result of texts': called(result([text('Rain'), text('Sun')])),
  'a result and text': called(result('Rain'), text('And?')),
  'a result that names tools': called(
    result([text('x'), { type: 'tool_reference', tool_name: 'get_weather' }]),
  ),
  'a result in an answer': { messages: [...hi, assistant([result('Rain'), text('So.')]), ...hi] },
  'thinking off against an argument of the client': {
    ...off,
    chat_template_kwargs: { enable_thinking: true },
    messages: hi,
  },
  'thinking off and an effort': { ...off, output_config: { effort: 'high' }, messages: hi },
  'an effort': { output_config: { effort: 'low' }, messages: hi },
  'a salt': { cache_salt: 'salt', messages: hi },
  'special tokens that nobody asks for': { add_special_tokens: true, messages: hi },
  'an empty text block': { messages: [user([text(''), text('b')])] },
  'a user who says nothing': { messages: [...hi, assistant('Yo'), user([]), ...hi] },
};

/** The engine takes them; what it makes of them is not followed, so their ids are unknown where it has no rendering. */
export const unfollowedMessages: Readonly<Record<string, Body>> = {
  'a result in blocks in an answer': { messages: [...hi, assistant([result([text('Rain')])]), ...hi] },
  'a tool that comes later': {
    tools,
    messages: [
      ...hi,
      {
        role: 'system',
        content: [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'get_weather' } }],
      },
    ],
  },
};

const item = (role: string, content: unknown, fields: object = {}): object => ({
  type: 'message',
  role,
  content,
  ...fields,
});
const said = (words: string): object => ({ type: 'output_text', text: words, annotations: [] });
const call = (fields: object = {}): object => ({
  type: 'function_call',
  call_id: 'c1',
  name: 'get_weather',
  arguments: '{"city":"Oslo"}',
  ...fields,
});
const functions = [{ type: 'function', name: 'get_weather', parameters: schema }];
const custom = { type: 'custom', name: 'patch', description: 'Patches.' };
const namespace = { type: 'namespace', name: 'mcp', description: 'd', tools: functions };

export const ownResponsesBodies: Readonly<Record<string, Body>> = {
  'an answer without a type': { input: [...hi, assistant('Yo'), ...hi] },
  'an answer of two parts': { input: [...hi, item('assistant', [said('Yo'), said('Ya')]), ...hi] },
  'an answer of no parts': { input: [...hi, item('assistant', []), ...hi] },
  'a refusal': { input: [...hi, item('assistant', [{ type: 'refusal', refusal: 'no' }]), ...hi] },
  'an answer to go on with': {
    input: [...hi, item('assistant', [said('Yo')], { id: 'm1', status: 'incomplete' })],
  },
  'a thought that is only summed up': {
    input: [
      ...hi,
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      assistant('Yo'),
      ...hi,
    ],
  },
  'a thought without words': { input: [...hi, { type: 'reasoning', summary: [], content: [] }, ...hi] },
  'a thought that only its owner reads': {
    input: [...hi, { type: 'reasoning', summary: [], encrypted_content: 'x' }, ...hi],
  },
  'a call after a call, and two answers': {
    tools: functions,
    input: [...hi, call(), assistant('A'), call({ call_id: 'c2' }), assistant('B'), ...hi],
  },
  'a call to a tool of a namespace': {
    tools: [namespace],
    input: [...hi, call({ namespace: 'mcp' }), { type: 'function_call_output', call_id: 'c1', output: 'x' }],
  },
  'a tool that takes any text': {
    tools: [custom, ...functions],
    input: [
      ...hi,
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'diff "é"\n' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
    ],
  },
  'an effort against an argument of the client': {
    reasoning: { effort: 'none' },
    chat_template_kwargs: { enable_thinking: true },
    input: 'Hi',
  },
  'a prompt that may be cut': { truncation: 'auto', input: 'Hi' },
  'a salt': { cache_salt: 'salt', input: 'Hi' },
  'a stored prompt': { prompt: { id: 'x' }, input: 'Hi' },
};
