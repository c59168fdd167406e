// What tools-dropped reports and what it leaves alone: tools in whatever form a template writes them, and names that the
// conversation itself speaks of.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toolsDropped } from '../../src/detectors/tools-dropped.ts';
import type { Json, JsonObject } from '../../src/exchange/request/request.ts';
import { testDetector } from '../support/detector-tester.ts';
import { buildExchange, factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const turn = (role: string, content: string): string => `<|im_start|>${role}\n${content}<|im_end|>\n`;
const ask = '<|im_start|>assistant\n';

function tool(
  name: string,
  parameters: JsonObject = schema,
  description = `Calls ${name} for a city.`,
): JsonObject {
  return { type: 'function', function: { name, description, parameters } };
}
const schema: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string', description: 'The name of the city.' } },
  required: ['city'],
};
const weather = tool('get_weather');
const time = tool('get_time');
const returning: JsonObject = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Calls get_weather for a city.',
    parameters: schema,
    return: { type: 'string', description: 'The weather in words.' },
  },
};
const written = (...tools: readonly JsonObject[]): string =>
  turn('system', tools.map((one) => JSON.stringify(one)).join('\n'));
const question: JsonObject = { role: 'user', content: 'What is the weather in Lisbon?' };
const asked = turn('user', 'What is the weather in Lisbon?');

/** Without its schema. */
const ofAnthropic: JsonObject = { name: 'get_weather', description: 'Calls get_weather for a city.' };
const nameOnly = `${turn('system', JSON.stringify(ofAnthropic))}\n`;

function messages(tools: readonly JsonObject[], text: string): ExchangeShape {
  return {
    route: 'messages',
    body: { max_tokens: 8, messages: [question], tools: [...tools] },
    facts: factsOf.qwen3,
    text,
  };
}

function chat(tools: readonly JsonObject[], text: string, more: JsonObject = {}): ExchangeShape {
  return {
    route: 'chat',
    body: { messages: [question], tools: tools as Json, ...more },
    facts: factsOf.qwen3,
    text,
  };
}

const bare: JsonObject = { type: 'function', function: { name: 'ping' } };
const calling = (name: string, id: string): JsonObject => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
});
const lostCalls = [
  turn('assistant', ''),
  turn('tool', 'It is a quarter past ten.'),
  turn('assistant', ''),
  turn('tool', 'The server has answered in time.'),
];
const called: readonly JsonObject[] = [
  question,
  {
    role: 'assistant',
    content: '',
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Lisbon"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'It is sunny there.' },
];
const call = turn('assistant', '{"name": "get_weather", "arguments": {"city": "Lisbon"}}');
const given = turn('tool', 'It is sunny there.');

/** As a few templates write them, with nothing but names, types and comments. */
const asTypes = turn(
  'system',
  '// Calls get_weather for a city.\ntype get_weather = (_: {\n// The name of the city.\ncity: string,\n}) => any;',
);

function bounded(field: JsonObject): JsonObject {
  return tool('get_weather', { type: 'object', properties: { city: { type: 'string', ...field } } });
}

const circular = tool('get_tree', {
  type: 'object',
  properties: { root: { $ref: '#/$defs/Node' } },
  $defs: { Node: { type: 'object', properties: { child: { $ref: '#/$defs/Node' } } } },
});

const nothingDropped = {
  dropped: [],
  droppedFields: [],
  mergesInstructions: false,
  developerAsSystem: false,
  reasoningMembers: [],
} as const;

/** A request of the Responses route whose prompt names the function and nothing else. */
function responses(tools: readonly JsonObject[], text = written(weather) + asked + ask): ExchangeShape {
  return {
    route: 'responses',
    body: { input: [question], tools: tools as Json },
    facts: factsOf.qwen3,
    text,
  };
}
const flat: JsonObject = {
  type: 'function',
  name: 'get_weather',
  description: 'Calls get_weather for a city.',
};
const patch: JsonObject = { type: 'custom', name: 'apply_patch', description: 'Edits files by a patch.' };

testDetector(toolsDropped, {
  clean: [
    { name: 'functions of the Responses route', exchange: responses([flat]) },
    {
      name: 'a hosted tool that the prompt tells of',
      exchange: responses([flat, { type: 'web_search' }], `${written(weather)}web_search${asked}${ask}`),
    },
    {
      name: 'hosted tools where no tool may be called',
      exchange: {
        ...responses([]),
        body: { input: [question], tools: [{ type: 'local_shell' }], tool_choice: 'none' },
      },
    },
    { name: 'no tools', exchange: chat([], asked + ask) },
    { name: 'tools as JSON', exchange: chat([weather, time], written(weather, time) + asked + ask) },
    {
      name: 'a definition with more than three members, written whole',
      exchange: chat([returning], written(returning) + asked + ask),
    },
    { name: 'tools in another order', exchange: chat([weather, time], written(time, weather) + asked + ask) },
    { name: 'tools behind the question', exchange: chat([weather], asked + written(weather) + ask) },
    { name: 'tools as types and comments', exchange: chat([weather], asTypes + asked + ask) },
    { name: 'a circular schema', exchange: chat([circular], written(circular) + asked + ask) },
    {
      name: 'a description of several lines, written as comments',
      exchange: chat(
        [tool('get_weather', schema, 'Get the weather.\nFor a city.')],
        turn(
          'system',
          '// Get the weather.\n// For a city.\ntype get_weather = (_: {\n// The name of the city.\ncity: string',
        ) +
          asked +
          ask,
      ),
    },
    {
      name: 'names first and schemas later',
      exchange: chat(
        [weather, time],
        turn('system', 'Tools: get_weather, get_time') + written(weather, time) + asked + ask,
      ),
    },
    {
      name: 'tools that are dropped because none may be called',
      exchange: chat([weather], asked + ask, { tool_choice: 'none' }),
    },
    {
      name: 'tools between a question and the call',
      exchange: chat([weather], asked + written(weather) + call + given + ask, { messages: called as Json }),
    },
    {
      name: 'what is for a validator alone',
      exchange: chat(
        [
          tool('get_weather', {
            ...schema,
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            additionalProperties: false,
          }),
        ],
        written(weather) + asked + ask,
      ),
    },
    {
      name: 'a short question that is a part of a tool’s name',
      exchange: chat([weather], written(weather) + turn('user', 'weather') + ask, {
        messages: [{ role: 'user', content: 'weather' }],
      }),
    },
    {
      // As LFM2 writes a loop of tools: without what was called. The question is too short to be told from a tool.
      name: 'a tool without description whose call the template leaves out',
      exchange: {
        ...chat([time, bare], [written(time, bare), turn('user', 'time?'), ...lostCalls, ask].join('')),
        body: {
          messages: [
            { role: 'user', content: 'time?' },
            calling('get_time', 'c1'),
            { role: 'tool', tool_call_id: 'c1', content: 'It is a quarter past ten.' },
            calling('ping', 'c2'),
            { role: 'tool', tool_call_id: 'c2', content: 'The server has answered in time.' },
          ],
          tools: [time, bare],
        },
      },
    },
    {
      name: 'the same, of calls whose results are short, too',
      exchange: {
        ...chat(
          [time, bare],
          `${written(time, bare)}${turn('user', 'time?')}${turn('assistant', '')}${turn('tool', 'pong')}${ask}`,
        ),
        body: {
          messages: [
            { role: 'user', content: 'time?' },
            calling('ping', 'c1'),
            { role: 'tool', tool_call_id: 'c1', content: 'pong' },
          ],
          tools: [time, bare],
        },
      },
    },
    { name: 'tools without a name', exchange: chat([{ type: 'web_search' }], asked + ask) },
    {
      name: 'a schema under another name beside the one that is read',
      exchange: messages(
        [{ ...ofAnthropic, input_schema: schema, parameters: schema }],
        written(weather) + asked + ask,
      ),
    },
    {
      name: 'the same in both forms of a definition',
      exchange: messages(
        [{ ...weather, ...ofAnthropic, input_schema: schema, parameters: schema }],
        written(weather) + asked + ask,
      ),
    },
    {
      name: 'a definition in the form of chat completions beside the one of the Responses route',
      exchange: responses([{ ...weather, ...flat, parameters: schema }]),
    },
    {
      name: 'a schema under another name that names fewer arguments than the one that is read',
      exchange: chat(
        [
          {
            type: 'function',
            function: {
              ...ofAnthropic,
              parameters: {
                properties: { ...(schema['properties'] as JsonObject), unit: { type: 'string' } },
              },
              input_schema: { properties: { city: { type: 'string', description: 'Said otherwise.' } } },
            },
          },
        ],
        `${written(weather)}unit${asked}${ask}`,
      ),
    },
    ...[{ $ref: '#/$defs/City' }, { type: 'object', additionalProperties: { type: 'string' } }].map(
      (read) => ({
        name: `a schema under another name beside one without properties: ${JSON.stringify(read)}`,
        exchange: messages(
          [{ ...ofAnthropic, input_schema: read, parameters: schema }],
          nameOnly + JSON.stringify(read) + asked + ask,
        ),
      }),
    ),
    {
      name: 'a schema under another name, of an engine that reads it',
      exchange: messages([{ ...ofAnthropic, parameters: schema }], written(weather) + asked + ask),
    },
    {
      name: 'a schema without properties under another name',
      exchange: messages([{ ...ofAnthropic, parameters: { type: 'object' } }], nameOnly + asked + ask),
    },
    {
      name: 'a schema under another name, of tools that are not to be called',
      exchange: chat(
        [{ type: 'function', function: { ...ofAnthropic, inputSchema: schema } }],
        nameOnly + asked + ask,
        {
          tool_choice: 'none',
        },
      ),
    },
    {
      name: 'Anthropic tools',
      exchange: {
        route: 'messages',
        body: {
          max_tokens: 8,
          messages: [question],
          tools: [
            { name: 'get_weather', description: 'Calls get_weather for a city.', input_schema: schema },
          ],
        },
        facts: factsOf.qwen3,
        text: written(weather) + asked + ask,
      },
    },
  ],
  found: [
    {
      name: 'tools in the form of chat completions on /v1/messages, where the template writes tools',
      exchange: {
        ...messages([weather, time], asked + ask),
        facts: { ...factsOf.qwen3, reading: { ...nothingDropped, dropped: ['reasoning'] } },
      },
      findings: [
        {
          cause: 'other-form',
          severity: 'error',
          culprit: 'client',
          field: 'tools[0]',
          message:
            'The prompt does not name tools[0] and 1 more: they have the form of another protocol, and this route reads nothing of it.',
          advice: 'Send tools here as {"name": …, "description": …, "input_schema": {…}}.',
        },
      ],
    },
    {
      name: 'a tool in the form of /v1/messages on the Responses route',
      exchange: { ...responses([{ ...ofAnthropic, input_schema: schema }]), text: asked + ask },
      findings: [
        {
          cause: 'other-form',
          culprit: 'client',
          field: 'tools[0]',
          advice: 'Send tools here as {"type": "function", "name": …, "description": …, "parameters": {…}}.',
        },
      ],
    },
    ...(['parameters', 'inputSchema'] as const).map((member) => ({
      name: `a schema that /v1/messages does not read: ${member}`,
      exchange: messages([{ ...ofAnthropic, [member]: schema }], nameOnly + asked + ask),
      findings: [
        {
          cause: 'unread-schema',
          severity: 'error',
          culprit: 'client',
          field: `tools[0].${member}`,
        } as const,
      ],
    })),
    {
      name: 'a schema that chat completions do not read, inside of the function and beside it',
      exchange: chat(
        [
          { type: 'function', function: { ...ofAnthropic, input_schema: schema } },
          { type: 'function', function: { ...ofAnthropic, name: 'get_time' }, parameters: schema },
        ],
        `${nameOnly}get_time\n${asked}${ask}`,
      ),
      findings: [
        {
          cause: 'unread-schema',
          culprit: 'client',
          field: 'tools[0].function.input_schema',
          message:
            "The prompt does not hold tools[0].function.input_schema (and 1 more): the engine reads a tool's schema from function.parameters, and the model does not know which arguments the tool takes.",
        },
      ],
    },
    {
      name: 'a schema under another name beside one that allows no arguments, in both protocols',
      exchange: messages(
        [{ ...ofAnthropic, input_schema: { type: 'object', properties: {} }, parameters: schema }],
        nameOnly + asked + ask,
      ),
      findings: [
        {
          cause: 'unread-schema',
          severity: 'error',
          culprit: 'client',
          field: 'tools[0].parameters',
        },
      ],
    },
    {
      name: 'the same on chat completions',
      exchange: chat(
        [{ type: 'function', function: { ...ofAnthropic, parameters: null, input_schema: schema } }],
        nameOnly + asked + ask,
      ),
      findings: [{ cause: 'unread-schema', severity: 'error', field: 'tools[0].function.input_schema' }],
    },
    {
      name: 'a tool that has its name here and the rest in the form of chat completions',
      exchange: messages([{ name: 'get_weather', ...weather }], 'get_weather\n' + asked + ask),
      findings: [
        {
          cause: 'unread-schema',
          severity: 'error',
          field: 'tools[0].function.parameters',
          culprit: 'client',
        },
      ],
    },
    {
      name: 'two schemas that name other arguments',
      exchange: messages(
        [
          {
            ...ofAnthropic,
            input_schema: { type: 'object', properties: { town: { type: 'string' } } },
            parameters: schema,
          },
        ],
        `${nameOnly}town\n${asked}${ask}`,
      ),
      findings: [
        {
          cause: 'unread-schema',
          severity: 'info',
          culprit: 'client',
          field: 'tools[0].parameters',
          message:
            "The prompt does not hold tools[0].parameters: the engine reads a tool's schema from input_schema, where another one stands, with other arguments.",
          advice: 'Send tools here as {"name": …, "description": …, "input_schema": {…}}, with one schema.',
        },
      ],
    },
    {
      name: 'a tool of which nothing is there, its schema under another name with it',
      exchange: messages([{ ...ofAnthropic, parameters: schema }], asked + ask),
      findings: [{ cause: 'all-tools', culprit: 'template' }],
    },
    {
      name: 'a tool of the Responses route that is no function',
      exchange: responses([flat, patch]),
      findings: [{ cause: 'some-tools', severity: 'error', culprit: 'engine', field: 'tools[1]' }],
    },
    {
      name: 'tools that somebody else would run, and one that the client runs',
      exchange: responses([flat, { type: 'web_search' }, { type: 'local_shell' }]),
      findings: [
        {
          cause: 'hosted-tool',
          severity: 'info',
          culprit: 'engine',
          field: 'tools[1]',
          fact: 'hosted:web_search',
        },
        { cause: 'hosted-tool', severity: 'error', culprit: 'engine', field: 'tools[2]' },
      ],
    },
    {
      name: 'all tools, by a template that was seen to write some, beside a question of parts',
      exchange: {
        ...chat([weather], asked + ask),
        facts: { ...factsOf.qwen3, reading: { ...nothingDropped, dropped: ['reasoning'] } },
        body: {
          messages: [{ role: 'user', content: [{ type: 'text', text: 'What is the weather in Lisbon?' }] }],
          tools: [weather],
        },
      },
      findings: [
        {
          cause: 'all-tools',
          culprit: 'template',
          field: 'tools',
          message:
            'The prompt does not name the tool that was sent: the template writes tools in other conversations, and not in this one.',
          advice:
            "Send the content of the user's messages as one string, or have whoever runs the engine mend the template: those that look for the last question by comparing messages miss one that is a list of parts.",
        },
      ],
    },
    {
      name: 'all tools, by a template that was never seen to write a conversation with any',
      exchange: {
        ...chat([weather], asked + ask),
        facts: { ...factsOf.qwen3, reading: { ...nothingDropped, dropped: ['later-instructions'] } },
      },
      findings: [
        {
          cause: 'all-tools',
          message:
            'The prompt does not name the tool that was sent: the model does not know that it has any.',
        },
      ],
    },
    {
      name: 'all tools',
      exchange: chat([weather, time], asked + ask),
      findings: [
        {
          cause: 'all-tools',
          severity: 'error',
          culprit: 'template',
          field: 'tools',
          message: 'The prompt names none of the 2 tools sent: the model does not know that it has any.',
          // <|im_start|>, which opens the question's turn.
          tokens: { start: 0, end: 1 },
        },
      ],
    },
    {
      name: 'all tools, behind instructions',
      exchange: chat([weather, time], turn('system', 'Be kind.') + asked + ask, {
        messages: [{ role: 'system', content: 'Be kind.' }, question],
      }),
      // `system`, a line end and eight characters stand between the markers of the first turn.
      findings: [{ cause: 'all-tools', tokens: { start: 0, end: 19 } }],
    },
    {
      name: 'one of two tools',
      exchange: chat([weather, time], written(weather) + asked + ask),
      findings: [
        {
          cause: 'some-tools',
          severity: 'error',
          field: 'tools[1]',
          message: 'The prompt does not name tools[1]: the model does not know that it has it.',
        },
      ],
    },
    {
      name: 'two of three tools',
      exchange: chat([weather, time, bare], written(weather) + asked + ask),
      findings: [
        {
          cause: 'some-tools',
          field: 'tools[1]',
          message: 'The prompt does not name tools[1] and 1 more: the model does not know that it has them.',
        },
      ],
    },
    {
      name: 'two tools of the Responses route that are no functions',
      exchange: responses([flat, patch, { ...patch, name: 'undo_patch' }]),
      findings: [
        {
          cause: 'some-tools',
          message:
            'The prompt does not name tools[1] and 1 more: the engine gives the template functions only, and these are tools of type custom.',
        },
      ],
    },
    {
      name: 'a tool whose name is the beginning of another’s',
      exchange: chat([tool('get'), weather], written(weather) + asked + ask),
      findings: [{ cause: 'some-tools', field: 'tools[0]' }],
    },
    {
      name: 'tools that only the conversation names',
      exchange: chat([weather], turn('user', 'Call get_weather, please.') + ask, {
        messages: [{ role: 'user', content: 'Call get_weather, please.' }],
      }),
      findings: [{ cause: 'all-tools', field: 'tools' }],
    },
    {
      name: 'tools that only a call names',
      exchange: chat([weather], asked + call + given + ask, { messages: called as Json }),
      findings: [{ cause: 'all-tools', field: 'tools' }],
    },
    {
      name: 'tools where the protocol once had them',
      exchange: {
        route: 'chat',
        body: { messages: [question], functions: [weather['function'] as JsonObject] },
        facts: factsOf.qwen3,
        text: asked + ask,
      },
      findings: [{ cause: 'unread-field', severity: 'error', culprit: 'client', field: 'functions' }],
    },
    ...(
      [
        ['default', { default: 'Lisbon' }],
        ['pattern', { pattern: '^[A-Z][a-z]+$' }],
        ['enum', { enum: ['Lisbon', 'Porto'] }],
        ['items', { items: { properties: { street: { type: 'string' } } } }],
        ['anyOf', { anyOf: [{ const: 'Lisbon' }, { $ref: '#/$defs/City' }] }],
      ] as const satisfies readonly (readonly [string, JsonObject])[]
    ).map(([keyword, field]) => ({
      name: `${keyword} of a property, as a fact of the model`,
      exchange: chat([bounded(field)], asTypes + turn('user', 'Hello there') + ask, {
        messages: [{ role: 'user', content: 'Hello there' }],
      }),
      findings: [
        {
          cause: 'schema-field',
          severity: 'info' as const,
          fact: `schema:${keyword}`,
          field: `tools[0].function.parameters.properties.city.${keyword}`,
        },
      ],
    })),
    {
      name: 'a field whose value is too short to be missed, where the template never writes it',
      exchange: {
        ...chat([bounded({ minLength: 3 })], asTypes + turn('user', 'Hello there') + ask, {
          messages: [{ role: 'user', content: 'Hello there' }],
        }),
        facts: factsOf.forgetful,
      },
      findings: [{ cause: 'schema-field', severity: 'info', fact: 'schema:minLength' }],
    },
    {
      name: "what a definition says beside name, description and parameters, though another text has the member's name",
      exchange: chat([returning], turn('system', JSON.stringify(weather)) + asked + ask),
      findings: [
        {
          cause: 'tool-member',
          severity: 'info',
          culprit: 'engine',
          fact: 'schema:tool-member',
          field: 'tools[0].function.return',
        },
      ],
    },
    {
      name: 'descriptions of two tools, and of one property',
      exchange: chat(
        [
          weather,
          { type: 'function', function: { name: 'get_time', description: 'Tells what o’clock it is.' } },
        ],
        turn('system', 'Tools: get_weather(city), get_time') + turn('user', 'Hello there') + ask,
        { messages: [{ role: 'user', content: 'Hello there' }] },
      ),
      findings: [
        {
          cause: 'tool-description',
          message:
            'The template leaves out descriptions of tools: tools[0].function.description and 1 more like it are not in the prompt.',
        },
        {
          cause: 'property-description',
          message:
            'The template leaves out descriptions of properties: tools[0].function.parameters.properties.city.description is not in the prompt.',
        },
      ],
    },
    {
      name: 'descriptions and properties, as facts of the model',
      exchange: chat([weather], turn('system', 'Tools: get_weather') + turn('user', 'Hello there') + ask, {
        messages: [{ role: 'user', content: 'Hello there' }],
      }),
      findings: [
        { cause: 'tool-description', severity: 'info', field: 'tools[0].function.description' },
        { cause: 'property', severity: 'info', field: 'tools[0].function.parameters.properties.city' },
      ],
    },
  ],
});

describe('the place of all tools', () => {
  for (const [name, exchange] of [
    ['where the question stands twice', chat([weather, time], asked + asked + ask)],
    [
      'of a template that writes tools elsewhere',
      {
        ...chat([weather, time], asked + ask),
        facts: { ...factsOf.qwen3, reading: factsOf.forgetful.reading },
      },
    ],
    ['of some among others', chat([weather, time], written(weather) + asked + ask)],
  ] as const) {
    it(`is not told ${name}`, () => {
      assert.deepEqual(
        toolsDropped.detect(buildExchange(exchange)).map(({ tokens }) => tokens),
        [undefined],
      );
    });
  }
});
