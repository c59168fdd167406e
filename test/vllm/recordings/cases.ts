// What is asked of a vLLM to record its replies: requests as data, and the three servers that they go to.
import { getWeather, Q } from '../../support/conversations.ts';
import type { Family } from '../../support/gguf/families.ts';

/** A request to record; without a body it is a GET. */
export interface Asked {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RecordedServer {
  readonly family: Family;
  readonly args: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** By the name of the recording, without the family's. */
  readonly asked: Readonly<Record<string, Asked>>;
}

const chatPath = '/v1/chat/completions';
const completionsPath = '/v1/completions';
const limits = { seed: 1, temperature: 0, max_tokens: 2 };
const twice = { seed: 1, max_tokens: 2, n: 2 };
const ids = { return_token_ids: true };
const usage = { stream: true, stream_options: { include_usage: true } };
const usageAlways = { stream: true, stream_options: { include_usage: true, continuous_usage_stats: true } };
const answered = [...Q, { role: 'assistant', content: 'The answer' }];
const hi = [{ role: 'user', content: 'Hi' }];
const image = [
  {
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
  },
];
/** A tool with a field that the protocol does not know, and many templates would print. */
const returning = { ...getWeather, function: { ...getWeather.function, return: { type: 'string' } } };

const chat = (body: object): Asked => ({ path: chatPath, body: { messages: Q, ...limits, ...body } });
const completion = (body: object): Asked => ({
  path: completionsPath,
  body: { prompt: 'One, two', ...limits, ...body },
});
const tokenize = (body: object): Asked => ({ path: '/tokenize', body });
const responses = (body: object): Asked => ({
  path: '/v1/responses',
  body: { input: 'Hi', max_output_tokens: 2, temperature: 0, ...body },
});
const messages = (model: Family, body: object = {}): Asked => ({
  path: '/v1/messages',
  body: { model, max_tokens: 2, temperature: 0, messages: hi, ...body },
});
const attribution = 'x-anthropic-billing-header: cc_version=2.1.0; cch=0a1b2;';
const systemBlocks = [
  { type: 'text', text: attribution },
  { type: 'text', text: 'You are terse.' },
];
/** More tokens than any of the servers takes. */
const tooLong = 'One, two. '.repeat(9000);
const longSystem = 'You are terse. '.repeat(20);

/** Everything that the server can be switched to tell is on. */
const qwen3: RecordedServer = {
  family: 'qwen3',
  args: [
    ...['--enable-prompt-tokens-details', '--enable-tokenizer-info-endpoint', '--enable-scale-out'],
    ...['--enable-auto-tool-choice', '--tool-call-parser', 'hermes'],
  ],
  asked: {
    models: { path: '/v1/models' },
    version: { path: '/version' },
    health: { path: '/health' },
    'tokenizer-info': { path: '/tokenizer_info' },
    tokenize: tokenize({ prompt: 'Hi <|im_end|>', return_token_strs: true }),
    'tokenize-empty': tokenize({ prompt: '' }),
    'tokenize-list': tokenize({ prompt: ['a', 'b'] }),
    'tokenize-chat': tokenize({ messages: Q }),
    'tokenize-chat-tools': tokenize({ messages: Q, tools: [returning] }),
    'tokenize-chat-no-thinking': tokenize({ messages: Q, chat_template_kwargs: { enable_thinking: false } }),
    'tokenize-chat-unknown-fields': tokenize({
      messages: Q,
      documents: [{ text: 'x' }],
      reasoning_effort: 'none',
    }),
    'tokenize-chat-attribution': tokenize({
      messages: [{ role: 'system', content: `${attribution}\nYou are terse.` }, ...hi],
    }),
    'tokenize-unknown-model': tokenize({ model: 'nope', prompt: 'a' }),
    'tokenize-image': tokenize({ messages: image }),
    detokenize: { path: '/detokenize', body: { tokens: [9707, 151645] } },
    'render-chat': { path: `${chatPath}/render`, body: { messages: Q, ...limits } },
    'render-completion': {
      path: `${completionsPath}/render`,
      body: { prompt: ['One', 'One, two'], ...limits },
    },
    'render-responses': { path: '/v1/responses/render', body: { input: 'Hi' } },
    'render-messages': { path: '/v1/messages/render', body: messages('qwen3').body ?? {} },
    'count-tokens': { path: '/v1/messages/count_tokens', body: { model: 'qwen3', messages: hi } },
    completion: completion(ids),
    'completion-list': completion({ ...ids, prompt: ['One', 'One, two, three'] }),
    'completion-ids': completion({ ...ids, prompt: [3966, 11, 1378] }),
    'completion-id-lists': completion({ ...ids, prompt: [[3966], [3966, 11, 1378]] }),
    'completion-mixed': completion({ prompt: ['One', [3966]] }),
    'completion-embeds': { path: completionsPath, body: { prompt_embeds: 'AAAA', ...limits } },
    'completion-unknown-id': completion({ prompt: [99_999_999] }),
    'completion-too-long': completion({ prompt: tooLong }),
    'completion-limit-too-high': completion({ max_tokens: 40_000 }),
    'completion-echo': completion({ echo: true }),
    'completion-echo-ids': completion({ ...ids, echo: true }),
    'completion-truncated': completion({
      ...ids,
      prompt: 'One, two, three, four',
      truncate_prompt_tokens: 3,
    }),
    'completion-n2': { path: completionsPath, body: { prompt: ['One', 'One, two'], ...twice, ...ids } },
    'completion-n2-stream': {
      path: completionsPath,
      body: { prompt: ['One', 'One, two'], ...twice, ...ids, ...usageAlways },
    },
    'completion-stream': completion({ ...ids, ...usage }),
    'completion-again': completion({ prompt: Array<number>(40).fill(3966) }),
    'completion-cached': completion({ prompt: Array<number>(40).fill(3966) }),
    'completion-salted': completion({ prompt: Array<number>(40).fill(3966), cache_salt: 'salt' }),
    chat: chat({}),
    'chat-ids': chat(ids),
    'chat-prompt-text': chat({ return_prompt_text: true }),
    'chat-stream': chat({ stream: true }),
    'chat-stream-usage': chat({ ...ids, ...usage }),
    'chat-n2': { path: chatPath, body: { messages: Q, ...twice } },
    'chat-n2-stream': { path: chatPath, body: { messages: Q, ...twice, ...ids, ...usageAlways } },
    'chat-tools': chat({ ...ids, tools: [getWeather] }),
    'chat-tools-extra-field': chat({ ...ids, tools: [returning] }),
    'chat-tools-none': chat({ tools: [getWeather], tool_choice: 'none' }),
    'chat-no-thinking': chat({ ...ids, chat_template_kwargs: { enable_thinking: false } }),
    'chat-effort-none': chat({ ...ids, reasoning_effort: 'none' }),
    'chat-no-generation-prompt': chat({ ...ids, add_generation_prompt: false }),
    'chat-continued': chat({
      ...ids,
      messages: answered,
      add_generation_prompt: false,
      continue_final_message: true,
    }),
    'chat-continued-wrongly': chat({ messages: answered, continue_final_message: true }),
    'chat-documents': chat({ ...ids, documents: [{ title: 't', text: 'x' }] }),
    'chat-template': chat({ chat_template: '{{ messages[0].content }}' }),
    'chat-image': chat({ messages: image }),
    'chat-too-long': chat({ messages: [{ role: 'user', content: tooLong }] }),
    'chat-limit-too-high': chat({ max_tokens: 40_000 }),
    'chat-completion-limit-too-high': chat({ max_completion_tokens: 40_000 }),
    'chat-truncated': chat({ ...ids, truncate_prompt_tokens: 5 }),
    'chat-unknown-model': chat({ model: 'nope' }),
    'chat-invalid': chat({ messages: 'none' }),
    responses: responses({}),
    'responses-messages': responses({ enable_response_messages: true }),
    'responses-stream': responses({ stream: true }),
    'responses-invalid': responses({ input: 5 }),
    'responses-too-long': responses({ input: tooLong }),
    'responses-limit-too-high': responses({ max_output_tokens: 40_000 }),
    'responses-unknown': responses({ previous_response_id: 'resp_x' }),
    messages: messages('qwen3'),
    'messages-attribution': messages('qwen3', { system: systemBlocks }),
    'messages-long': messages('qwen3', { system: longSystem }),
    'messages-cached': messages('qwen3', { system: longSystem }),
    'messages-stream-cached': messages('qwen3', { system: longSystem, stream: true }),
    'messages-stream': messages('qwen3', { stream: true }),
    'messages-too-long': messages('qwen3', { system: tooLong }),
    'messages-limit-too-high': messages('qwen3', { max_tokens: 40_000 }),
    'messages-unknown-block': messages('qwen3', {
      messages: [{ role: 'user', content: [{ type: 'martian' }] }],
    }),
    'messages-unknown-model': messages('qwen3', { model: 'nope' }),
    metrics: { path: '/metrics' },
  },
};

/** What differs where the tokenizer adds BOS. `raw`: a prompt that has one already. */
function withBos(model: Family, raw: string): Record<string, Asked> {
  return {
    'tokenize-empty': tokenize({ prompt: '' }),
    'tokenize-raw': tokenize({ prompt: raw }),
    'tokenize-chat': tokenize({ messages: hi }),
    'tokenize-chat-special': tokenize({ messages: hi, add_special_tokens: true }),
    'completion-raw': completion({ ...ids, prompt: raw }),
    'completion-raw-no-special': completion({ ...ids, prompt: raw, add_special_tokens: false }),
    'completion-ids': completion({ ...ids, prompt: [100, 101] }),
    'completion-truncated': completion({
      ...ids,
      prompt: 'One, two, three, four',
      truncate_prompt_tokens: 3,
    }),
    'chat-ids': chat({ ...ids, messages: hi }),
    'chat-special': chat({ ...ids, messages: hi, add_special_tokens: true }),
    'chat-stream-usage': chat({ messages: hi, ...usage }),
    responses: responses({}),
    'responses-messages': responses({ enable_response_messages: true }),
    messages: messages(model),
    'messages-stream': messages(model, { stream: true }),
    'count-tokens': { path: '/v1/messages/count_tokens', body: { model, messages: hi } },
  };
}

/** As installed, but for the key. */
const llama31: RecordedServer = {
  family: 'llama3.1',
  args: ['--api-key', 'sk-test'],
  headers: { authorization: 'Bearer sk-test' },
  asked: {
    ...withBos('llama3.1', '<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>'),
    unauthorized: { ...chat({}), headers: { authorization: 'Bearer wrong' } },
    'unauthorized-messages': { ...messages('llama3.1'), headers: { authorization: '' } },
    'unauthorized-tokenize': { ...tokenize({ prompt: 'a' }), headers: { authorization: '' } },
    'tokenizer-info-off': { path: '/tokenizer_info' },
    'render-off': { path: `${chatPath}/render`, body: { messages: hi, ...limits } },
  },
};

const gemma3: RecordedServer = {
  family: 'gemma3',
  args: [],
  asked: withBos('gemma3', '<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n'),
};

export const recordedServers: readonly RecordedServer[] = [qwen3, llama31, gemma3];

/** The one whose own rendering conversions are compared with. */
export const renderingServer = qwen3;
