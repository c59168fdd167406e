// Loops of tools as agents run them, on each route, with tools and results as real ones are. Every turn only goes on.
import type { Dice } from './dice.ts';
import { chatOf, chatPath, type Message, type PlannedRequest, type Shape } from './requests.ts';
import { answer, oddText, sentence, systemText, text } from './texts.ts';

interface Definition {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: object;
}

const definitions: readonly Definition[] = [
  {
    name: 'fs.read-file_v2',
    description: 'Reads a file; "quoted", <b>100 %</b> & more.\nSecond line.',
    parameters: {
      type: 'object',
      properties: {
        path: {
          type: 'string',
          description: String.raw`A path, e.g. C:\temp\x or /a/b`,
          pattern: String.raw`^[^\\/:*?"<>|]+$`,
        },
        encoding: { enum: ['utf-8', 'latin1', null], default: 'utf-8' },
        range: {
          anyOf: [
            { type: 'null' },
            { type: 'object', properties: { from: { type: 'integer', minimum: 0 } } },
          ],
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
  },
  {
    name: 'mcp__git-hub__create-issue',
    description: '',
    parameters: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      $defs: {
        label: { type: 'object', properties: { color: { type: 'string', pattern: '^#?[a-f0-9]{6}$' } } },
      },
      properties: {
        title: { type: 'string' },
        labels: { type: 'array', items: { $ref: '#/$defs/label' }, maxItems: 10 },
        draft: { type: ['boolean', 'null'], default: false },
        weight: { type: 'number', exclusiveMinimum: 0, multipleOf: 0.5 },
      },
      required: ['title'],
    },
  },
  { name: 'now', description: 'No arguments.', parameters: { type: 'object', properties: {} } },
  { name: 'ping' },
  {
    name: '搜索',
    description: '搜索网页 — ünïcödé 🙂',
    parameters: { type: 'object', properties: { 查询: { type: 'string' }, größe: { type: 'integer' } } },
  },
];

/** As JSON texts: what comes back is what the model wrote. */
const given = [
  '{}',
  'null',
  '{"path":"/a/b c.txt"}',
  String.raw`{"path": "C:\\x\\y", "encoding": null}`,
  '{"n": 1.5, "b": true, "z": null, "l": [], "o": {"deep": ["x", 2]}}',
  String.raw`{"text":"line\nline\t\"q\" \u00e9 中 🙂 <b>&amp;</b>"}`,
  '{"查询":"天气"}',
  '{ "code" : "for (i = 0; i < 10; i++) { }" }',
];

const results = [
  '{"ok": true}',
  '[]',
  '',
  'null',
  '{"items":[{"id":1,"name":"x y"},{"id":2,"name":"é"}],"next":null}',
  '{"html":"<b>hi</b> &amp; \\"q\\"","n":12345678901234567890,"t":1.0}',
  '<!doctype html>\n<html>\n\t<body class="a"><p>5 &nbsp; 6</p></body>\n</html>\n',
  'exit status 1\r\n\tat foo (bar.js:1:2)\r\n',
];

function resultOf(dice: Dice): string {
  return dice.chance(0.4) ? dice.pick(results) : oddText(dice);
}

const tools = definitions.map((one) => ({ type: 'function', function: one }));

interface Step {
  readonly name: string;
  readonly input: string;
  readonly result: string;
}

function stepsOf(dice: Dice, count: number): Step[] {
  return dice.times(count, () => ({
    name: dice.pick(definitions).name,
    input: dice.pick(given),
    result: resultOf(dice),
  }));
}

/** The first `length` of the messages, for each length. */
function growing(messages: readonly object[], lengths: readonly number[], more: object): PlannedRequest[] {
  return lengths.map((length) => chatOf(messages.slice(0, length), more));
}

/** @param together how many calls each message has */
function loop(dice: Dice, together: number): PlannedRequest[] {
  const messages: object[] = [
    { role: 'system', content: systemText(dice) },
    { role: 'user', content: sentence(dice) },
  ];
  const lengths = [messages.length];
  for (const round of [1, 2, 3]) {
    const calls = stepsOf(dice, together).map((step, index) => ({ ...step, id: `call${round}${index}abc` }));
    messages.push({
      role: 'assistant',
      ...dice.pick<object>([{ content: '' }, { content: null }, {}]),
      tool_calls: calls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: input },
      })),
    });
    for (const { id, result } of calls) messages.push({ role: 'tool', tool_call_id: id, content: result });
    lengths.push(messages.length);
  }
  messages.push({ role: 'assistant', content: answer(dice).trim() }, { role: 'user', content: text(dice) });
  return growing(messages, [...lengths, messages.length], { tools });
}

export const agentShapes: Readonly<Record<string, Shape>> = {
  'loop of odd tools': (dice) => loop(dice, 1),
  'parallel calls': (dice) => loop(dice, 3),
  'the same call again': (dice) => {
    const call = (id: string): Message => ({
      role: 'assistant',
      content: '',
      tool_calls: [{ id, type: 'function', function: { name: 'now', arguments: '{}' } }],
    });
    const result = (id: string): Message => ({ role: 'tool', tool_call_id: id, content: 'the same' });
    const messages = [
      { role: 'user', content: sentence(dice) },
      ...['call00001', 'call00002'].flatMap((id) => [call(id), result(id)]),
    ];
    return growing(messages, [1, 3, 5], { tools });
  },
  'reasoning in a loop': (dice) => {
    const messages = [
      { role: 'user', content: sentence(dice) },
      {
        role: 'assistant',
        content: '',
        reasoning_content: 'The clock must be asked before anything is said.',
        tool_calls: [{ id: 'call00001', type: 'function', function: { name: 'now', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call00001', content: resultOf(dice) },
      { role: 'assistant', content: 'It is noon.', reasoning_content: 'Now it can be said.' },
      { role: 'user', content: sentence(dice) },
    ];
    return growing(messages, [1, 3, 5], { tools });
  },
  'choices of tools': (dice) =>
    ['none', 'auto', { type: 'function', function: { name: 'now' } }].map((choice) =>
      chatOf([{ role: 'user', content: text(dice) }], { tools, tool_choice: choice }),
    ),
  'loop on the messages route': (dice) => {
    const offered = definitions.map(({ name, description, parameters }) => ({
      name,
      description: description ?? 'Says nothing.',
      input_schema: parameters ?? { type: 'object', properties: {} },
    }));
    const messages: object[] = [{ role: 'user', content: [{ type: 'text', text: text(dice) }] }];
    const lengths = [1];
    for (const [index, { name, result }] of stepsOf(dice, 2).entries()) {
      const id = `toolu_${index}`;
      messages.push(
        {
          role: 'assistant',
          content: [
            ...(dice.chance(0.5) ? [{ type: 'text', text: 'Let me look at that.' }] : []),
            { type: 'tool_use', id, name, input: { path: '/a/b' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
      );
      lengths.push(messages.length);
    }
    return lengths.map((length) => ({
      path: '/v1/messages',
      body: { messages: messages.slice(0, length), tools: offered, max_tokens: 1 },
    }));
  },
  'loop on the responses route': (dice) => {
    const offered = definitions.map((one) => ({
      type: 'function',
      ...one,
      parameters: one.parameters ?? { type: 'object', properties: {} },
    }));
    const items: object[] = [{ role: 'user', content: [{ type: 'input_text', text: text(dice) }] }];
    const lengths = [1];
    for (const [index, { name, input, result }] of stepsOf(dice, 2).entries()) {
      const id = `fc_${index}`;
      items.push(
        { type: 'function_call', call_id: id, name, arguments: input === 'null' ? '{}' : input },
        { type: 'function_call_output', call_id: id, output: result },
      );
      lengths.push(items.length);
    }
    return lengths.map((length) => ({
      path: '/v1/responses',
      body: {
        instructions: 'Be brief.',
        input: items.slice(0, length),
        tools: offered,
        max_output_tokens: 1,
      },
    }));
  },
};

/** The routes without tools, as their clients use them. */
export const dialectShapes: Readonly<Record<string, Shape>> = {
  'growing on the messages route': (dice) => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: text(dice) },
          { type: 'text', text: sentence(dice) },
        ],
      },
      { role: 'assistant', content: answer(dice).trim() },
      { role: 'user', content: text(dice) },
    ];
    const system = [{ type: 'text', text: systemText(dice), cache_control: { type: 'ephemeral' } }];
    return [1, 3].map((length) => ({
      path: '/v1/messages',
      body: { system, messages: messages.slice(0, length), max_tokens: 1, stream: dice.chance(0.5) },
    }));
  },
  'answer in a form': (dice) => [
    chatOf([{ role: 'user', content: text(dice) }], { response_format: { type: 'json_object' } }),
  ],
  'streamed with options': (dice) => [
    {
      path: chatPath,
      body: {
        messages: [{ role: 'user', content: text(dice) }],
        ...{ max_completion_tokens: 1, stream: true, stream_options: { include_usage: true } },
        ...{ top_p: 1.0, presence_penalty: 0, logit_bias: {}, user: 'u-1', metadata: { a: 'b' }, tools: [] },
      },
    },
  ],
};
