/**
 * Requests in which clients send what engines and templates are known to leave out, one thing each. What becomes of them the
 * detectors say, as of any request; nothing here judges. Data, made from the model's facts.
 */
import type { IgnoredEffect, IgnoredField, ModelFacts } from '../exchange/model-facts.ts';
import type { RequestKind } from '../exchange/request/request-reader.ts';
import type { Json, JsonObject } from '../exchange/request/request.ts';

export interface Probe {
  /** What a client sends, as a sentence goes on after "with". */
  readonly sends: string;
  readonly kind: RequestKind;
  readonly body: JsonObject;
  /** True for what every client sends: what goes wrong with it goes wrong with all. */
  readonly isPlain: boolean;
}

/** What every client sends, and what the facts of a template are read off. */
export const plainConversation = 'a plain conversation';

const question = { role: 'user', content: 'Which river flows through Dresden?' };
const answer = { role: 'assistant', content: 'The Elbe flows through Dresden.' };
const next = { role: 'user', content: 'And which one through Prague?' };
const thoughts = 'Dresden lies in Saxony, where the Elbe leaves the mountains behind.';

const tool = {
  type: 'function',
  function: {
    name: 'find_river',
    description: 'Finds the rivers of a city.',
    strict: true,
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Its name as the inhabitants write it.' },
        sort: { type: 'string', enum: ['longest', 'widest'], default: 'longest' },
        places: { type: 'array', items: { $ref: '#/$defs/place' } },
      },
      required: ['city'],
      additionalProperties: false,
      $defs: { place: { type: 'object', properties: { latitude: { type: 'number', minimum: -90 } } } },
    },
    return: { type: 'array', description: 'Names of rivers, the longest first.' },
  },
};
const call = {
  id: 'callWeir1',
  type: 'function',
  function: { name: 'find_river', arguments: '{"city":"Dresden"}' },
};
const result = { role: 'tool', tool_call_id: 'callWeir1', content: 'Elbe, Weisseritz, Priessnitz' };

const chats: readonly (readonly [sends: string, body: JsonObject])[] = [
  [
    'content as a list of parts',
    { messages: [{ role: 'user', content: parts(question.content, 'And Prague?') }] },
  ],
  [
    'a developer message',
    { messages: [{ role: 'developer', content: 'Answer in one sentence.' }, question] },
  ],
  [
    'a second system message',
    {
      messages: [
        { role: 'system', content: 'Answer in one sentence.' },
        question,
        answer,
        { role: 'system', content: 'Name the length of each river, too.' },
        next,
      ],
    },
  ],
  [
    'reasoning of an earlier answer',
    { messages: [question, { ...answer, reasoning_content: thoughts }, next] },
  ],
  [
    'names of several speakers',
    { messages: [{ ...question, name: 'Ada' }, answer, { ...next, name: 'Ben' }] },
  ],
  ['a tool', { messages: [question], tools: [tool] }],
  [
    'a loop of tools with reasoning',
    {
      messages: [
        question,
        {
          role: 'assistant',
          content: 'I shall look that up.',
          reasoning_content: thoughts,
          tool_calls: [call],
        },
        result,
      ],
      tools: [tool],
    },
  ],
];

const { name, description, parameters } = tool.function;

/** What agents send on the routes of other dialects. */
const dialects: readonly (readonly [sends: string, kind: RequestKind, body: JsonObject])[] = [
  [
    'a tool and its result in blocks on /v1/messages',
    'messages',
    {
      max_tokens: 16,
      system: parts('Answer in one sentence.', 'Name the length of each river, too.'),
      messages: [
        question,
        {
          role: 'assistant',
          content: [
            ...parts('I shall look that up.'),
            { type: 'tool_use', id: call.id, name, input: { city: 'Dresden' } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: call.id, content: parts(result.content) }],
        },
      ],
      tools: [{ name, description, input_schema: parameters }],
    },
  ],
  [
    'thinking of an earlier answer on /v1/messages',
    'messages',
    {
      max_tokens: 16,
      messages: [
        question,
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: thoughts, signature: '' }, ...parts(answer.content)],
        },
        next,
      ],
    },
  ],
  [
    'a tool and its result as items on /v1/responses',
    'responses',
    {
      instructions: 'Answer in one sentence.',
      input: [
        question,
        { type: 'function_call', call_id: call.id, ...call.function },
        { type: 'function_call_output', call_id: call.id, output: result.content },
      ],
      tools: [{ type: 'function', name, description, parameters }],
    },
  ],
];

function parts(...texts: readonly string[]): JsonObject[] {
  return texts.map((text) => ({ type: 'text', text }));
}

export function probesFor({ ignoredFields = [], contextTokens }: ModelFacts): Probe[] {
  return [
    {
      sends: plainConversation,
      kind: 'chat',
      body: { messages: [question, answer, next] },
      isPlain: true,
    },
    ...chats.map(([sends, body]): Probe => ({ sends, kind: 'chat', body, isPlain: false })),
    ...dialects.map(([sends, kind, body]): Probe => ({ sends, kind, body, isPlain: false })),
    ...ignoredFields.flatMap((field) => probeOf(field, contextTokens) ?? []),
  ];
}

/** On the first route that it is read over on, of those that take a body of ours. */
function probeOf({ path, routes, effect }: IgnoredField, contextTokens: number): Probe | undefined {
  const kind = routes.find((route) => route === 'chat' || route === 'completion');
  if (kind === undefined) return undefined;
  const field = path
    .toReversed()
    .reduce<Json>((inner, key) => ({ [key]: inner }), valueFor(effect, path, contextTokens));
  const base = kind === 'chat' ? { messages: [question] } : { prompt: question.content };
  return { sends: path.join('.'), kind, body: { ...base, ...(field as JsonObject) }, isPlain: false };
}

/** A value that asks for something; what the field does if it is heeded would show in the prompt. */
function valueFor(effect: IgnoredEffect, path: readonly string[], contextTokens: number): Json {
  switch (effect) {
    case 'bos':
      return false;
    case 'text':
      return path.at(-1) === 'documents' ? [{ title: 'Rivers', text: thoughts }] : thoughts;
    case 'template':
      return '{{ messages[0].content }}';
    case 'thinking-off':
      return path.at(-1) === 'thinking' ? { type: 'disabled' } : false;
    case 'context':
      return contextTokens + 1;
    case 'length':
      return 1;
    case 'reply':
      return true;
  }
}
