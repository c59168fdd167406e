// Arbitrary exchanges for what must hold of every detector: requests in all dialects, facts that fit them or don't, prompts
// that are their renderings or nothing like them, sessions and replies. Texts are made of what detectors look for.
import fc, { type Arbitrary } from 'fast-check';
import type { Exchange } from '../../src/exchange/exchange.ts';
import type { Marker, ModelFacts } from '../../src/exchange/model-facts.ts';
import type { ChoiceReply, Reply } from '../../src/exchange/reply/reply.ts';
import type { Json, JsonObject } from '../../src/exchange/request/request.ts';
import { readableKinds, readRequest } from '../../src/exchange/request/request-reader.ts';
import type { SessionMatch } from '../../src/exchange/session-match.ts';
import { unknown, unknownReasons } from '../../src/exchange/token-read.ts';
import { RequestDigester } from '../../src/sessions/digest.ts';
import { buildExchange, factsOf, type ChoiceShape, type ExchangeShape } from './exchange-builder.ts';

/** Markers of several families, some that are parts of others, and some that a pattern would take for syntax. */
const markerTexts = [
  ...Object.values(factsOf).flatMap(({ markers }: ModelFacts) => markers.map(({ text }) => text)),
  ...['<|im_end|>x', '<|', '[.*+?](a|b)', '\\d{2}$', '^<s>', 'é😀', '</', '(?:'],
];
const words = [
  'hi',
  'a b',
  '\n',
  '\r\n',
  ' ',
  '"',
  '\\n',
  '{role}',
  'System:',
  '### Instruction:\n',
  'user\n',
  '漢',
  '😀',
];
const pieces = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...markerTexts) },
  { weight: 3, arbitrary: fc.constantFrom(...words) },
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
export const texts: Arbitrary<string> = fc.array(pieces, { maxLength: 10 }).map((all) => all.join(''));

const anyJson = fc.jsonValue({ maxDepth: 2 }) as Arbitrary<Json>;
const roles = fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'model', 'function');
const part: Arbitrary<Json> = fc.oneof(
  texts.map((text) => ({ type: 'text', text })),
  texts.map((content) => ({ type: 'tool_result', tool_use_id: 'a', content })),
  fc.constant({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }),
  anyJson,
);
const content: Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: texts },
  fc.array(part, { maxLength: 3 }),
  anyJson,
);
const call = texts.map((text) => ({ id: 'c', type: 'function', function: { name: 'f', arguments: text } }));
const message: Arbitrary<JsonObject> = fc.record(
  {
    role: roles,
    content,
    reasoning_content: texts,
    tool_calls: fc.array(call, { maxLength: 2 }),
    type: fc.constantFrom('message', 'function_call', 'reasoning'),
    name: texts,
  },
  { requiredKeys: ['role'] },
);
const tool: Arbitrary<Json> = fc.oneof(
  fc.record({
    type: fc.constant('function'),
    function: fc.record({ name: texts, description: texts, parameters: anyJson }),
  }),
  anyJson,
);
const ids = fc.array(fc.constantFrom(0, 1, 2, 3, 11, 105, 106, 107, 151_644, 151_645, 2_147_483_647), {
  maxLength: 8,
});
const rawPrompt: Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: texts },
  ids,
  fc.array(fc.oneof(texts, fc.constantFrom(1, 2, 151_644)), { maxLength: 4 }),
  fc.array(fc.oneof(texts, ids), { minLength: 1, maxLength: 3 }),
  texts.map((prompt_string) => ({ prompt_string })),
);
/** Fields that some engine ignores or that say how a prompt is meant. */
const options: Arbitrary<JsonObject> = fc.dictionary(
  fc.constantFrom(
    ...['add_special_tokens', 'documents', 'suffix', 'echo', 'truncate_prompt_tokens', 'options', 'thinking'],
    ...[
      'add_generation_prompt',
      'continue_final_message',
      'chat_template_kwargs',
      'chat_template',
      'logprobs',
    ],
    ...['max_tokens', 'n_predict', 'n', 'stream', 'model', 'reasoning_effort', 'stop', 'n_probs'],
  ),
  fc.oneof(fc.boolean(), fc.nat(9000), texts, fc.constant({ num_ctx: 9000, type: 'disabled' }), anyJson),
  { maxKeys: 4 },
);
const conversations = fc.record(
  {
    messages: fc.array(message, { minLength: 1, maxLength: 4 }),
    input: fc.oneof(texts, fc.array(message, { minLength: 1, maxLength: 3 })),
    system: content,
    instructions: texts,
    tools: fc.oneof(fc.array(tool, { maxLength: 3 }), anyJson),
    prompt: rawPrompt,
  },
  { requiredKeys: ['messages', 'input', 'prompt'] },
);

const markers: Arbitrary<Marker[]> = fc.uniqueArray(
  fc.record(
    {
      text: fc.constantFrom(...markerTexts),
      id: fc.constantFrom(1, 2, 3, 105, 106, 151_644, 151_645),
      kind: fc.constantFrom('control', 'user-defined'),
    },
    { requiredKeys: ['text', 'id'] },
  ),
  { selector: ({ text }) => text, maxLength: 6 },
);
const tail = fc.record({ text: texts, ids });
const odd: Arbitrary<Partial<ModelFacts>> = fc.record(
  {
    markers,
    bos: fc.record({
      text: fc.constantFrom('<s>', '<bos>', '<|im_start|>'),
      id: fc.constantFrom(1, 2, 151_644),
    }),
    eos: fc.record({
      text: fc.constantFrom('</s>', '<eos>', '<|im_end|>'),
      id: fc.constantFrom(2, 1, 151_645),
    }),
    roleMarkers: fc.array(fc.record({ role: roles, opening: texts }), { maxLength: 3 }),
    turnEnds: fc.array(texts, { maxLength: 2 }),
    generationPrompt: tail,
    thinkTail: tail,
    templateWritesBos: fc.boolean(),
    contextTokens: fc.constantFrom(0, 8, 4096),
    mediaMarker: fc.constantFrom('', '<__media__>', '<|image|>'),
  },
  { requiredKeys: [] },
);
const facts: Arbitrary<ModelFacts> = fc
  .tuple(fc.constantFrom<ModelFacts>(...Object.values(factsOf)), fc.option(odd))
  .map(([family, some]) => ({ ...family, ...some }));

const choice: Arbitrary<ChoiceShape> = fc.record(
  {
    says: texts,
    finishReason: fc.constantFrom('stop', 'length', 'tool-calls', 'other'),
    promptTokens: fc.nat(60),
    cachedTokens: fc.nat(60),
    completionTokens: fc.nat(60),
    promptIds: ids,
    generatedIds: ids,
    toolArgumentsValid: fc.boolean(),
    hasAnswerText: fc.boolean(),
    hasReasoning: fc.boolean(),
    hasToolCalls: fc.boolean(),
  } satisfies Record<
    Exclude<keyof ChoiceReply, 'index' | 'prefillTokensPerSecond' | 'turns'> | 'says',
    unknown
  >,
  { requiredKeys: [] },
);
const reply: Arbitrary<NonNullable<ExchangeShape['reply']>> = fc.record(
  {
    status: fc.constantFrom(200, 400, 500),
    started: fc.boolean(),
    complete: fc.boolean(),
    choices: fc.array(choice, { maxLength: 4 }),
    unreadReason: fc.constantFrom<NonNullable<Reply['unreadReason']>>('engine-error', 'compressed'),
    refusal: fc.record(
      { promptTokens: fc.nat(), answerTokens: fc.nat(), contextTokens: fc.nat() },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['status'] },
);

const reading = fc.oneof({ weight: 5, arbitrary: ids }, fc.constantFrom(...unknownReasons));
const shapes: Arbitrary<ExchangeShape> = fc
  .record(
    {
      route: fc.constantFrom(...readableKinds),
      body: fc
        .tuple(conversations, options)
        .map(([conversation, more]): JsonObject => ({ ...more, ...conversation })),
      facts,
      text: texts,
      ids: fc.array(reading, { maxLength: 3 }),
      engine: fc.constant('vllm' as const),
      modelKind: fc.constantFrom('instruct', 'base'),
      reply,
    },
    { requiredKeys: ['route', 'body', 'facts'] },
  )
  // Only a body that the reader takes becomes an exchange.
  .filter(({ route, body }) => readRequest(Buffer.from(JSON.stringify(body)), route).readable);

const digester = new RequestDigester(Buffer.from('properties'));

/** A turn that the exchange may have grown from: of another conversation, and with ids of its own. */
function sessionOf(
  exchange: Exchange,
  earlier: Exchange,
  ancestorIds: readonly number[],
  at: number,
): SessionMatch {
  const digest = exchange.request?.kind === 'chat' ? digester.chat(exchange.request) : undefined;
  const before = earlier.request?.kind === 'chat' ? digester.chat(earlier.request) : undefined;
  return {
    session: 's',
    keySource: 'ancestor',
    sequence: 1,
    ancestor: {
      ids: Uint32Array.from(ancestorIds),
      generated: new Uint32Array(),
      ...(before && { digest: before }),
      tail: { generationPrompt: at % 4, think: at % 3 },
      sequence: 0,
    },
    commonMessages: Math.min(at, digest?.messages.length ?? 0, before?.messages.length ?? 0),
    commonTokens: Math.min(at, ancestorIds.length),
    ...(digest && { digest }),
    branches: at % 5 === 0,
  };
}

/** One read for each prompt, as a pipeline has them; none at all where nothing was read. */
function withAllPrompts(exchange: Exchange): Exchange {
  const { request, prompts, heads } = exchange;
  const count = request?.kind === 'completion' ? request.prompts.length : 1;
  if (prompts.length === 0) return exchange;
  const missing = Array.from({ length: Math.max(0, count - prompts.length) }, () => unknown('oracle-error'));
  return {
    ...exchange,
    prompts: [...prompts.slice(0, count), ...missing],
    heads: [...heads.slice(0, count), ...missing],
  };
}

export const exchanges: Arbitrary<Exchange> = fc
  .tuple(shapes, fc.option(fc.tuple(shapes, ids, fc.nat(20))))
  .map(([shape, grown]) => {
    const exchange = withAllPrompts(buildExchange(shape));
    const [read] = exchange.prompts;
    if (grown === null || exchange.prompts.length > 1 || read?.known !== true) return exchange;
    const [earlier, ancestorIds, at] = grown;
    return {
      ...exchange,
      session: sessionOf(exchange, buildExchange(earlier), ancestorIds, Math.min(at, read.ids.length)),
    };
  });
