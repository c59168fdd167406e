// What content-lost reports and, above all, what it leaves alone: every form in which a template writes what it was given.
import { contentLost } from '../../src/detectors/content-lost.ts';
import type { Json, JsonObject } from '../../src/exchange/request/request.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const turn = (role: string, content: string): string => `<|im_start|>${role}\n${content}<|im_end|>\n`;
const ask = '<|im_start|>assistant\n';

function chat(messages: readonly JsonObject[], text: string, more: JsonObject = {}): ExchangeShape {
  return { route: 'chat', body: { messages: messages as Json, ...more }, facts: factsOf.qwen3, text };
}

const user = (content: Json): JsonObject => ({ role: 'user', content });
const call = (args: Json): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: args } }],
});
const result = (content: Json): JsonObject => ({ role: 'tool', tool_call_id: 'c1', content });
const question = user('What is the weather in Lisbon?');
const asked = turn('user', 'What is the weather in Lisbon?');
const called = '{"name": "get_weather", "arguments": {"city": "Lisbon"}}';

const quoted = 'He said "no" & <left>: it’s 5 °C\tin São Paulo\\north';
const long = Array.from({ length: 40 }, (_, index) => `Line ${index} of a long text about rivers.`).join(
  '\n',
);

const shout = 'Where does it\n\nend,   and why?\nSay so.';
const rewritten = (messages: readonly JsonObject[], text: string): ExchangeShape => ({
  ...chat(messages, text),
  facts: factsOf.rewriting,
});
/** A template that was seen to write calls. */
const writesCalls = {
  ...factsOf.qwen3,
  reading: {
    dropped: ['reasoning'],
    droppedFields: [],
    mergesInstructions: false,
    developerAsSystem: false,
    reasoningMembers: [],
  },
} as const;
const { reading } = writesCalls;
const ofResults =
  'Whoever runs the engine must give it a template that renders results of tools, as sent here.';
const resultAsOneString =
  'Send the result of the tool as one string: this template writes results, and none that is a list of parts.';
const ofTemplate = 'Whoever runs the engine must look at how its template writes such messages.';
const beside =
  'Send the answer without its reasoning, or have whoever runs the engine look at how its template writes answers that come with one.';
const writesNames = { ...factsOf.qwen3, reading: { ...reading, writesNames: true } } as const;
const writesNoNames = { ...factsOf.qwen3, reading: { ...reading, writesNames: false } } as const;
const says = (name: string, content: string, role = 'user'): JsonObject => ({ role, name, content });
const group = [says('Alice', 'I say no.'), says('Bob', 'I say yes.'), says('Alice', 'Why?')];
const groupText = `${turn('user', 'I say no.')}${turn('user', 'I say yes.')}${turn('user', 'Why?')}${ask}`;
const weatherCall: JsonObject = {
  id: 'c1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Lisbon"}' },
};
const portoCall: JsonObject = {
  id: 'c3',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Porto"}' },
};
const bragaCall: JsonObject = {
  id: 'c4',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Braga"}' },
};
const timeCall: JsonObject = {
  id: 'c2',
  type: 'function',
  function: { name: 'get_time', arguments: '{"zone":"Europe/Madrid"}' },
};

/** As vLLM is seen to read pictures of Gemma 3: one is put in the place of the first marker, with line breaks around it. */
const seeing = {
  ...factsOf.gemma3,
  picturePlaces: [{ text: '<start_of_image>', perPicture: 1 }],
};
const takingPicture = (text: string): ExchangeShape => ({
  ...chat(
    [
      user('See <start_of_image> in it.'),
      { role: 'assistant', content: 'Yes.' },
      user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }]),
    ],
    text,
  ),
  facts: seeing,
});
const answered = '<start_of_turn>model\nYes.<end_of_turn>\n<start_of_turn>user\n';

/** As Gemma 3's template writes any role. */
const answeredBy = (role: string): ExchangeShape => ({
  ...chat(
    [user('Why?'), { role, content: 'Nobody knows that.' }, user('Who may?')],
    `<bos><start_of_turn>user\nWhy?<end_of_turn>\n<start_of_turn>${role}\nNobody knows that.<end_of_turn>\n<start_of_turn>user\nWho may?<end_of_turn>\n<start_of_turn>model\n`,
  ),
  facts: factsOf.gemma3,
});

testDetector(contentLost, {
  clean: [
    {
      name: 'a role that the model may have been trained on',
      exchange: chat(
        [user('Rate this answer.'), { role: 'critic', content: 'It is far too long.' }],
        turn('user', 'Rate this answer.') + turn('critic', 'It is far too long.') + ask,
      ),
    },
    {
      name: 'a role of another spelling, which the template writes as its own',
      exchange: chat([{ role: 'User', content: 'Why is it so?' }], turn('user', 'Why is it so?') + ask),
    },
    {
      name: 'the word by which the template itself opens answers',
      exchange: answeredBy('model'),
    },
    {
      name: 'a conversation with such a role that a message shows',
      exchange: chat(
        [{ role: 'User', content: 'Why is it so?' }, user(`See: ${turn('User', 'Who knows?')}`)],
        `${turn('user', 'Why is it so?')}${turn('user', `See: ${turn('User', 'Who knows?')}`.trim())}${ask}`,
      ),
    },
    {
      name: 'names of speakers that the template writes',
      exchange: {
        ...chat(group, groupText.replace('user', 'user Alice').replace('user\n', 'user Bob\n')),
        facts: writesNames,
      },
    },
    {
      name: 'names that a template may write, of which nothing was learnt',
      exchange: chat(group, groupText.replace('user', 'user name=Bob')),
    },
    {
      name: 'one speaker, whose name is not there',
      exchange: {
        ...chat(
          [says('Alice', 'I say no.'), says('Alice', 'Why?')],
          turn('user', 'I say no.') + turn('user', 'Why?') + ask,
        ),
        facts: writesNoNames,
      },
    },
    {
      name: 'one speaker in each role',
      exchange: {
        ...chat(
          [says('Alice', 'I say no.'), says('Robot', 'Yes.', 'assistant'), user('Why?')],
          turn('user', 'I say no.') + turn('assistant', 'Yes.') + turn('user', 'Why?') + ask,
        ),
        facts: writesNoNames,
      },
    },
    {
      name: 'speakers whose names their texts say',
      exchange: {
        ...chat(
          [says('Alice', 'Alice: I say no.'), says('Bob', '**Bob**: I say yes.')],
          turn('user', 'Alice: I say no.') + turn('user', '**Bob**: I say yes.') + ask,
        ),
        facts: writesNoNames,
      },
    },
    {
      name: 'names of tools beside their results, and what is no name',
      exchange: {
        ...chat(
          [
            question,
            { ...says('get_weather', '18 degrees', 'tool'), tool_call_id: 'c1' },
            { ...says('get_time', 'It is noon.', 'tool'), tool_call_id: 'c2' },
            { role: 'user', name: 7, content: 'And tomorrow?' },
            { role: 'user', name: 8, content: 'And then?' },
            { role: 'user', name: ' ', content: 'And here?' },
            { role: 'user', name: '', content: 'And there?' },
          ],
          asked +
            turn('tool', '18 degrees') +
            turn('tool', 'It is noon.') +
            turn('user', 'And tomorrow?') +
            turn('user', 'And then?') +
            turn('user', 'And here?') +
            turn('user', 'And there?') +
            ask,
        ),
        facts: writesNoNames,
      },
    },
    {
      name: 'a text that has taken a picture of a later message, which is told by another name',
      exchange: takingPicture(
        `<start_of_turn>user\nSee \n\n<start_of_image>\n\n in it.<end_of_turn>\n${answered}<start_of_image>`,
      ),
    },
    {
      name: 'texts in the form that this template was seen to write',
      exchange: rewritten(
        [{ role: 'system', content: 'Be brief.\nBe kind.' }, user(shout), result('5 "m"\nà Żnin, été')],
        turn('system', 'BE BRIEF. BE KIND.') +
          turn('user', 'WHERE DOES IT END, AND WHY? SAY SO.') +
          turn('tool', String.raw`5 \"m\"\n\u00E0 \u017Bnin, \u00E9t\u00E9`) +
          ask,
      ),
    },
    {
      name: 'a result in JSON that says nothing but numbers, written again as it was seen to be',
      exchange: rewritten(
        [question, call('{"city": "Lisbon"}'), result('{"b":[12,3,4,-5,66,7,true],"a":null}')],
        `${asked}${turn('assistant', called)}${turn('tool', "{'a': None, 'b': [12, 3, 4, -5, 66, 7, True]}")}${ask}`,
      ),
    },
    {
      name: 'a text as it was sent, where the template was seen to write others otherwise',
      exchange: rewritten([user(shout)], turn('user', shout) + ask),
    },
    {
      name: 'white space and control characters alone that the template leaves out',
      exchange: {
        ...chat([user('a\r\nb\u0001c and so on')], turn('user', 'a\nbc and so on') + ask),
        facts: {
          ...factsOf.rewriting,
          reading: {
            ...factsOf.rewriting.reading,
            forms: [
              {
                places: ['question'],
                characters: [
                  { given: '\r', written: '' },
                  { given: '\u0001', written: '' },
                ],
                trims: 'nothing',
              },
            ],
          },
        },
      },
    },
    {
      name: 'texts that are there as they were sent',
      exchange: chat([user('Hello there')], turn('user', 'Hello there') + ask),
    },
    {
      name: 'white space that the template trims',
      exchange: chat([user('\n  Hello there \n')], turn('user', 'Hello there') + ask),
    },
    {
      name: 'empty, blank and missing contents',
      exchange: chat(
        [{ role: 'system', content: '' }, user('  \n'), { role: 'assistant', content: null }, user('x')],
        turn('user', 'x') + ask,
      ),
    },
    ...[
      ['quoted as JSON', JSON.stringify(quoted)],
      [
        'quoted as JSON in ASCII',
        JSON.stringify(quoted).replaceAll(
          /[\u0080-\uffff]/g,
          (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
      ],
      [
        'escaped for HTML',
        quoted
          .replaceAll('&', '&amp;')
          .replaceAll('<', '&lt;')
          .replaceAll('>', '&gt;')
          .replaceAll('"', '&#34;'),
      ],
    ].map(([name, written = '']) => ({
      name: `a text ${name}`,
      exchange: chat([user(quoted)], turn('user', written) + ask),
    })),
    {
      name: 'parts of a list, joined',
      exchange: chat(
        [
          user([
            { type: 'text', text: 'First part' },
            { type: 'text', text: 'second part' },
          ]),
        ],
        turn('user', 'First partsecond part') + ask,
      ),
    },
    {
      name: 'an image among the parts',
      exchange: chat(
        [
          user([
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'text', text: 'What is it?' },
          ]),
        ],
        turn('user', '<__media__>\nWhat is it?') + ask,
      ),
    },
    {
      name: 'a text of which a template takes out a flag',
      exchange: chat([user(`${long} /no_think ${long}`)], turn('user', `${long}  ${long}`) + ask),
    },
    {
      name: 'lines that a template indents',
      exchange: chat([user(long)], turn('user', long.replaceAll('\n', '\n    ')) + ask),
    },
    {
      name: 'instructions in the last question’s turn',
      exchange: chat(
        [
          { role: 'system', content: 'Answer in one sentence.' },
          user('Which river is it?'),
          { role: 'assistant', content: 'It is the Elbe.' },
          user('And in Prague?'),
        ],
        `${turn('user', 'Which river is it?')}${turn('assistant', 'It is the Elbe.')}${turn('user', 'Answer in one sentence.\n\nAnd in Prague?')}${ask}`,
      ),
    },
    {
      name: 'a call whose arguments are written value by value',
      exchange: chat(
        [question, call('{"city":"Lisbon","days":1.0}'), result('Sunny')],
        `${asked}${turn('assistant', 'get_weather\n<arg>city</arg>Lisbon<arg>days</arg>1')}${turn('tool', 'Sunny')}${ask}`,
      ),
    },
    {
      name: 'two calls that say the same',
      exchange: chat(
        [
          question,
          { role: 'assistant', content: '', tool_calls: [weatherCall, weatherCall] },
          result('Sunny'),
        ],
        `${asked}${turn('assistant', `${called}\n${called}`)}${turn('tool', 'Sunny')}${ask}`,
      ),
    },
    {
      name: 'a call without arguments',
      exchange: chat(
        [question, call('{}'), result('Sunny')],
        `${asked}${turn('assistant', 'get_weather{}')}${turn('tool', 'Sunny')}${ask}`,
      ),
    },
    {
      name: 'a call whose arguments are null, which has none',
      exchange: chat(
        [question, call('null'), result('Sunny')],
        `${asked}${turn('assistant', 'get_weather{}')}${turn('tool', 'Sunny')}${ask}`,
      ),
    },
    {
      name: 'a result in JSON that is taken apart',
      exchange: chat(
        [question, call({ city: 'Lisbon' }), result('{"sky": "sunny", "temperature": 24.0}')],
        `${asked}${turn('assistant', called)}response{temperature:24,sky:<|"|>sunny<|"|>}${ask}`,
      ),
    },
    {
      // As Gemma 4's template, which is given the value.
      name: 'a result that is a number, written anew',
      exchange: chat(
        [question, call({ city: 'Lisbon' }), result('23.50')],
        `${asked}${turn('assistant', called)}response{value:23.5}${ask}`,
      ),
    },
    {
      name: 'a result in JSON that is quoted once more',
      exchange: chat(
        [question, call({ city: 'Lisbon' }), result('{"sky": "sunny"}')],
        `${asked}${turn('assistant', called)}${turn('tool', JSON.stringify('{"sky": "sunny"}'))}${ask}`,
      ),
    },
    {
      name: 'metadata of messages',
      exchange: chat(
        [
          {
            ...user('Hello there'),
            name: 'ann',
            id: 'msg_1',
            created_at: 'Mon, 30 Nov 2026 10:00:00 GMT',
            tags: ['a b c'],
          },
        ],
        turn('user', 'Hello there') + ask,
      ),
    },
    {
      name: 'raw prompts',
      exchange: { route: 'completion', body: { prompt: 'Hello there' }, facts: factsOf.qwen3, text: 'Hello' },
    },
    {
      name: 'short answers that come again and again',
      exchange: chat(
        [
          user('Go on'),
          { role: 'assistant', content: 'ok' },
          user('Go on'),
          { role: 'assistant', content: 'ok' },
          user('Go on'),
        ],
        `${turn('user', 'Go on')}${turn('assistant', 'ok')}${turn('user', 'Go on')}${turn('assistant', 'ok')}${turn('user', 'Go on')}${ask}`,
      ),
    },
  ],
  found: [
    {
      name: 'several speakers of one role, whose names the template does not write',
      exchange: { ...chat(group, groupText), facts: writesNoNames },
      findings: [
        {
          cause: 'speaker-names',
          severity: 'info',
          culprit: 'template',
          field: 'messages[0].name',
          fact: 'speaker-names',
          message:
            "The prompt does not hold messages[0].name (and 2 more: messages[1].name, messages[2].name): the template writes no names, and the model can't tell the speakers of one role apart.",
          advice: 'Write the name of who speaks into the text of each message, in front of it.',
        },
      ],
    },
    {
      name: 'a name that others speak of, where the template was seen to write none',
      exchange: {
        ...chat(
          [says('Alice', 'Bob, why?'), says('Bob', 'I say yes.')],
          turn('user', 'Bob, why?') + turn('user', 'I say yes.') + ask,
        ),
        facts: writesNoNames,
      },
      findings: [{ cause: 'speaker-names', field: 'messages[0].name' }],
    },
    {
      name: 'examples that are told by their names alone, where nothing was learnt',
      exchange: chat(
        [
          says('example_user', 'two and two', 'system'),
          says('example_assistant', 'four', 'system'),
          user('three and three'),
        ],
        turn('system', 'two and two') + turn('system', 'four') + turn('user', 'three and three') + ask,
      ),
      findings: [{ cause: 'speaker-names', field: 'messages[0].name' }],
    },
    {
      name: 'a text with the marker of a picture that is not there, beside a picture that is',
      exchange: takingPicture(`<start_of_turn>user\n<end_of_turn>\n${answered}<start_of_image>`),
      findings: [{ cause: 'text', severity: 'error', field: 'messages[0].content' }],
    },
    {
      name: 'characters that the template leaves out of every text',
      exchange: rewritten(
        [user('if a<b and b>c: stop'), user(`and\nc < d: go`)],
        turn('user', 'IF AB AND BC: STOP') + turn('user', 'AND C D: GO') + ask,
      ),
      findings: [
        {
          cause: 'characters',
          severity: 'warning',
          culprit: 'template',
          fact: 'characters',
          field: 'messages[0].content',
        },
      ],
    },
    {
      name: 'a text that is there in no form, nor in the one that was seen',
      exchange: rewritten(
        [user('Where does the river end?'), user('Which of the two rivers is it?')],
        turn('user', 'WHERE DOES THE RIVER END?') + turn('user', '') + ask,
      ),
      findings: [{ cause: 'text', severity: 'error', field: 'messages[1].content' }],
    },
    {
      name: 'the second of two calls, by a template that writes calls',
      exchange: {
        ...chat(
          [question, { role: 'assistant', content: '', tool_calls: [weatherCall, timeCall] }],
          asked + turn('assistant', called) + ask,
        ),
        facts: writesCalls,
      },
      findings: [{ cause: 'later-call', culprit: 'template', field: 'messages[1].tool_calls[1]' }],
    },
    {
      name: 'the same on the Messages route',
      exchange: {
        route: 'messages',
        body: {
          messages: [
            question,
            {
              role: 'assistant',
              content: [
                { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Lisbon' } },
                { type: 'tool_use', id: 'c2', name: 'get_time', input: { zone: 'Europe/Madrid' } },
              ],
            },
          ],
        },
        facts: writesCalls,
        text: asked + turn('assistant', called) + ask,
      },
      findings: [{ cause: 'later-call', field: 'messages[1].content[1]' }],
    },
    {
      name: 'the same on the Responses route',
      exchange: {
        route: 'responses',
        body: {
          input: [
            question,
            { type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{"city":"Lisbon"}' },
            { type: 'function_call', call_id: 'c2', name: 'get_time', arguments: '{"zone":"Europe/Madrid"}' },
          ],
        },
        facts: writesCalls,
        text: asked + turn('assistant', called) + ask,
      },
      findings: [{ cause: 'later-call', field: 'input[2]' }],
    },
    {
      name: 'the second of two calls of the same tool, in which only a value differs',
      exchange: {
        ...chat(
          [
            question,
            { role: 'assistant', content: '', tool_calls: [weatherCall, portoCall] },
            result('Sunny.'),
          ],
          `${asked}${turn('assistant', called)}${turn('tool', 'get_weather: Sunny.')}${ask}`,
        ),
        facts: writesCalls,
      },
      findings: [{ cause: 'later-call', culprit: 'template', field: 'messages[1].tool_calls[1]' }],
    },
    ...Object.entries({ 'the same tool': portoCall, 'another one': timeCall }).map(([which, second]) => ({
      name: `the second of two calls, of ${which}, behind tools and a question too short to be told from them`,
      exchange: {
        ...chat(
          [
            { role: 'user', content: 'e' },
            { role: 'assistant', content: '', tool_calls: [weatherCall, second] },
          ],
          `${turn('system', 'type get_weather = (_: { city: string }) => any;\ntype get_time = (_: {}) => any;')}${turn('user', 'e')}${turn('assistant', called)}${ask}`,
        ),
        facts: writesCalls,
      },
      findings: [{ cause: 'later-call' as const, field: 'messages[1].tool_calls[1]' }],
    })),
    {
      name: 'the arguments of the second of two calls, behind tools and such a question',
      exchange: {
        ...chat(
          [
            { role: 'user', content: 'e' },
            { role: 'assistant', content: '', tool_calls: [weatherCall, portoCall, bragaCall] },
          ],
          `${turn('system', 'type get_weather = (_: { city: string }) => any;')}${turn('user', 'e')}${turn('assistant', `${called}{"name": "get_weather", "arguments": {}}{"name": "get_weather", "arguments": {"city": "Braga"}}`)}${ask}`,
        ),
        facts: writesCalls,
      },
      findings: [{ cause: 'call-arguments', field: 'messages[1].tool_calls[1]' }],
    },
    {
      name: 'a nested value of a call',
      exchange: chat(
        [question, call({ city: 'Lisbon', options: { unit: 'celsius' } })],
        `${asked}${turn('assistant', '{"name": "get_weather", "arguments": {"city": "Lisbon", "options": {}}}')}${ask}`,
      ),
      findings: [
        { cause: 'arguments-cut', severity: 'error', field: 'messages[1].tool_calls[0].function.arguments' },
      ],
    },
    {
      name: 'two calls, by a template that was never seen to write one',
      exchange: chat(
        [question, { role: 'assistant', content: '', tool_calls: [weatherCall, timeCall] }],
        asked + ask,
      ),
      findings: [{ cause: 'call', field: 'messages[1].tool_calls[0]' }],
    },
    {
      name: 'a document, which is the doing of the engine',
      exchange: {
        route: 'messages',
        body: {
          messages: [
            user([
              {
                type: 'document',
                source: { type: 'text', media_type: 'text/plain', data: 'The lease ends in May.' },
              },
              { type: 'text', text: 'What is the weather in Lisbon?' },
            ]),
          ],
        },
        facts: factsOf.qwen3,
        text: asked + ask,
      },
      findings: [{ cause: 'document', culprit: 'engine', field: 'messages[0].content[0].source.data' }],
    },
    {
      name: 'instructions without a question',
      exchange: chat([{ role: 'system', content: 'Name the next speaker of the group.' }], ask),
      findings: [{ cause: 'instructions-alone', culprit: 'template', field: 'messages[0].content' }],
    },
    {
      name: 'what the assistant said beside its calls on the Responses route, as on the others',
      exchange: {
        route: 'responses',
        body: {
          input: [
            question,
            {
              type: 'message',
              role: 'assistant',
              content: [{ type: 'output_text', text: 'Let me look it up.' }],
            },
            { type: 'function_call', call_id: 'c', name: 'get_weather', arguments: '{"city":"Lisbon"}' },
          ],
        },
        facts: writesCalls,
        text: asked + turn('assistant', called) + ask,
      },
      findings: [{ cause: 'text-beside-calls', severity: 'info', field: 'input[1].content[0].text' }],
    },
    {
      name: 'an answer on the Responses route that no call stands beside',
      exchange: {
        route: 'responses',
        body: {
          input: [
            question,
            {
              type: 'message',
              role: 'assistant',
              content: [{ type: 'output_text', text: 'It is sunny there.' }],
            },
            user('And in Madrid?'),
          ],
        },
        facts: writesCalls,
        text: asked + turn('user', 'And in Madrid?') + ask,
      },
      findings: [{ cause: 'text', severity: 'error', field: 'input[1].content[0].text' }],
    },
    {
      name: 'a question that is not there',
      exchange: chat([user('Which river is the longest?')], turn('user', '') + ask),
      findings: [{ cause: 'text', severity: 'error', culprit: 'template', field: 'messages[0].content' }],
    },
    {
      name: 'a short question that is not there, between texts that are',
      exchange: chat(
        [user('Tell me of a river.'), { role: 'assistant', content: 'The Elbe flows north.' }, user('And?')],
        `${turn('user', 'Tell me of a river.')}${turn('assistant', 'The Elbe flows north.')}${ask}`,
      ),
      findings: [{ cause: 'text', field: 'messages[2].content' }],
    },
    {
      name: 'all but the last message',
      exchange: chat(
        [
          { role: 'system', content: 'Answer in one sentence.' },
          user('Which river flows through Dresden?'),
          { role: 'assistant', content: 'The Elbe flows through Dresden.' },
          user('And through Prague?'),
        ],
        turn('user', 'And through Prague?') + ask,
      ),
      findings: [{ cause: 'text', field: 'messages[0].content' }],
    },
    {
      name: 'the end of a long text',
      exchange: chat([user(`${long}\n${long}`)], turn('user', long) + ask),
      findings: [
        {
          cause: 'text-cut',
          field: 'messages[0].content',
          characters: { start: long.length, end: long.length * 2 + 1 },
        },
      ],
    },
    ...(
      [
        ['with its reasoning', 'They say hello.', beside, ['reasoning']],
        ['with reasoning that says nothing', ' ', ofTemplate, []],
        ['alone', undefined, ofTemplate, []],
      ] as const
    ).map(([name, reasoning, advice, before]) => ({
      name: `an answer that is not there, sent ${name}`,
      exchange: {
        ...chat(
          [
            user('Say something nice.'),
            {
              role: 'assistant',
              content: 'The tide turns twice a day.',
              ...(reasoning !== undefined && { reasoning_content: reasoning }),
            },
            user('Say it once more.'),
          ],
          `${turn('user', 'Say something nice.')}${turn('user', 'Say it once more.')}${ask}`,
        ),
        facts: writesCalls,
      },
      findings: [
        ...before.map((cause) => ({ cause }) as const),
        { cause: 'text', field: 'messages[1].content', advice } as const,
      ],
    })),
    ...(
      [
        ['with its reasoning', 'They say hello.', beside, ['reasoning']],
        ['alone', undefined, ofTemplate, []],
      ] as const
    ).flatMap(([name, reasoning, advice, before]) => [
      {
        name: `an answer that is not there, sent ${name} on the Messages route`,
        exchange: {
          route: 'messages' as const,
          body: {
            messages: [
              user('Say something nice.'),
              {
                role: 'assistant',
                content: [
                  ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning }]),
                  { type: 'text', text: 'The tide turns twice a day.' },
                ],
              },
              user('Say it once more.'),
            ],
          },
          facts: writesCalls,
          text: `${turn('user', 'Say something nice.')}${turn('user', 'Say it once more.')}${ask}`,
        },
        findings: [...before.map((cause) => ({ cause }) as const), { cause: 'text', advice } as const],
      },
      {
        name: `an answer that is not there, sent ${name} on the Responses route`,
        exchange: {
          route: 'responses' as const,
          body: {
            input: [
              user('Say something nice.'),
              ...(reasoning === undefined
                ? []
                : [
                    {
                      type: 'reasoning',
                      summary: [],
                      content: [{ type: 'reasoning_text', text: reasoning }],
                    },
                  ]),
              {
                type: 'message',
                role: 'assistant',
                content: [{ type: 'output_text', text: 'The tide turns twice a day.' }],
              },
              user('Say it once more.'),
            ],
          },
          facts: writesCalls,
          text: `${turn('user', 'Say something nice.')}${turn('user', 'Say it once more.')}${ask}`,
        },
        findings: [...before.map((cause) => ({ cause }) as const), { cause: 'text', advice } as const],
      },
    ]),
    {
      name: 'one of several parts',
      exchange: chat(
        [
          user([
            { type: 'text', text: 'The first part of it' },
            { type: 'text', text: 'And then the second' },
          ]),
        ],
        turn('user', 'The first part of it') + ask,
      ),
      findings: [{ cause: 'text', field: 'messages[0].content[1].text' }],
    },
    {
      name: 'a list of parts as Python writes it',
      exchange: chat(
        [user([{ type: 'text', text: 'Which river?' }])],
        turn('user', "[{'type': 'text', 'text': 'Which river?'}]") + ask,
      ),
      findings: [{ cause: 'as-code', severity: 'error', field: 'messages[0].content[0].text' }],
    },
    {
      name: 'second instructions',
      exchange: chat(
        [
          { role: 'system', content: 'Answer in one sentence.' },
          { role: 'system', content: 'Never name a city.' },
          user('Which river?'),
        ],
        `${turn('system', 'Answer in one sentence.')}${turn('user', 'Which river?')}${ask}`,
      ),
      findings: [{ cause: 'later-instructions', severity: 'error', field: 'messages[1].content' }],
    },
    {
      name: 'what a tool gave back',
      exchange: chat(
        [question, call({ city: 'Lisbon' }), result('It is sunny there.')],
        `${asked}${turn('assistant', called)}${ask}`,
      ),
      findings: [{ cause: 'tool-result', severity: 'error', field: 'messages[2].content' }],
    },
    ...(
      [
        ['and the template writes results', reading, resultAsOneString],
        ['and the template writes none', { ...reading, dropped: ['tool-result'] }, ofResults],
        ['and it is not known whether the template writes any', undefined, ofResults],
      ] as const
    ).map(([name, seen, advice]) => ({
      name: `what a tool gave back as a list of parts, ${name}`,
      exchange: {
        ...chat(
          [
            question,
            call({ city: 'Lisbon' }),
            { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'It is sunny there.' }] },
          ],
          `${asked}${turn('assistant', called)}${ask}`,
        ),
        facts: { ...factsOf.qwen3, ...(seen && { reading: seen }) },
      },
      findings: [{ cause: 'tool-result', field: 'messages[2].content[0].text', advice }],
    })),
    {
      name: 'a number that a tool gave back',
      exchange: chat(
        [question, call({ city: 'Lisbon' }), result('23.50')],
        `${asked}${turn('assistant', called)}${ask}`,
      ),
      findings: [{ cause: 'tool-result', field: 'messages[2].content' }],
    },
    {
      name: 'a call of a tool whose name and city stand elsewhere in the prompt',
      exchange: chat(
        [question, call({ city: 'Lisbon' }), result('It is sunny there.')],
        `${turn('system', 'Tools: get_weather')}${asked}${turn('assistant', '')}${turn('tool', 'It is sunny there.')}${ask}`,
      ),
      findings: [{ cause: 'call', severity: 'error', field: 'messages[1].tool_calls[0]' }],
    },
    {
      name: 'the arguments of a call',
      exchange: chat(
        [question, call({ city: 'Lisbon' }), result('It is sunny there.')],
        `${asked}${turn('assistant', 'get_weather()')}${turn('tool', 'It is sunny there.')}${ask}`,
      ),
      findings: [{ cause: 'call-arguments', severity: 'error', field: 'messages[1].tool_calls[0]' }],
    },
    {
      name: 'a message that says all it says in a field that nobody reads',
      exchange: chat([{ ...user(''), text: 'Which river is the longest?' }], turn('user', '') + ask),
      findings: [{ cause: 'unread-field', severity: 'error', culprit: 'client', field: 'messages[0].text' }],
    },
    {
      name: 'a note beside a text, as a fact',
      exchange: chat(
        [{ ...user('Which river?'), context: 'The user lives in Dresden.' }],
        turn('user', 'Which river?') + ask,
      ),
      findings: [
        {
          cause: 'extra-field',
          severity: 'info',
          culprit: 'client',
          fact: 'extra-field:context',
          field: 'messages[0].context',
        },
      ],
    },
    {
      name: 'a call where the protocol once had it',
      exchange: chat(
        [
          question,
          {
            role: 'assistant',
            content: null,
            function_call: { name: 'get_weather', arguments: '{"city":"Lisbon"}' },
          },
          user('And what should I wear?'),
        ],
        `${asked}${turn('assistant', '')}${turn('user', 'And what should I wear?')}${ask}`,
      ),
      findings: [{ cause: 'unread-field', culprit: 'client', field: 'messages[1].function_call' }],
    },
    {
      name: 'roles of another spelling or of another family, which the template writes as they were sent',
      exchange: chat(
        [
          { role: 'User', content: 'Why is it so?' },
          { role: 'ai', content: 'Nobody knows that.' },
          { role: 'User', content: 'Who may?' },
        ],
        turn('User', 'Why is it so?') + turn('ai', 'Nobody knows that.') + turn('User', 'Who may?') + ask,
      ),
      findings: [
        {
          cause: 'sent-role',
          severity: 'error',
          culprit: 'client',
          field: 'messages[0].role',
          message:
            'The template writes messages[0].role (and 2 more: messages[1].role, messages[2].role) as it was sent, and has no such turns of its own: the model is given a speaker that it does not know.',
          advice:
            'Send the role as user, assistant or system, which the template writes as the model knows them.',
        },
      ],
    },
    {
      name: 'a role of another family in a Gemma chat',
      exchange: answeredBy('ai'),
      findings: [{ cause: 'sent-role', field: 'messages[1].role' }],
    },
    {
      name: 'a role that the template does not have',
      exchange: chat(
        [user('Rate this answer.'), { role: 'critic', content: 'It is far too long.' }],
        turn('user', 'Rate this answer.') + ask,
      ),
      findings: [{ cause: 'unknown-role', culprit: 'client', field: 'messages[1].content' }],
    },
    {
      name: 'a message that ends with what the next one says',
      exchange: chat(
        [
          {
            role: 'critic',
            content: 'What is wrong with it: Translate "good morning" into Welsh, Swahili and Tagalog.',
          },
          user('Translate "good morning" into Welsh, Swahili and Tagalog.'),
        ],
        turn('user', 'Translate "good morning" into Welsh, Swahili and Tagalog.') + ask,
      ),
      findings: [{ cause: 'unknown-role', culprit: 'client', field: 'messages[0].content' }],
    },
    {
      name: 'reasoning of an earlier turn, as a fact of the model',
      exchange: chat(
        [
          question,
          { role: 'assistant', content: 'It is sunny.', reasoning_content: 'Lisbon is sunny in June.' },
          user('And tomorrow?'),
        ],
        `${asked}${turn('assistant', 'It is sunny.')}${turn('user', 'And tomorrow?')}${ask}`,
      ),
      findings: [
        { cause: 'reasoning', severity: 'info', fact: 'reasoning', field: 'messages[1].reasoning_content' },
      ],
    },
    {
      name: 'reasoning inside an answer, as the same fact',
      exchange: chat(
        [
          question,
          { role: 'assistant', content: `<think>\n${long}\n</think>\n\nSunny.` },
          user('And tomorrow?'),
        ],
        `${asked}${turn('assistant', 'Sunny.')}${turn('user', 'And tomorrow?')}${ask}`,
      ),
      findings: [{ cause: 'reasoning', severity: 'info', fact: 'reasoning', field: 'messages[1].content' }],
    },
    {
      name: 'what was said beside a call, as a fact of the model',
      exchange: chat(
        [
          question,
          { ...call({ city: 'Lisbon' }), content: 'Let me look that up.' },
          result('It is sunny there.'),
        ],
        `${asked}${turn('assistant', called)}${turn('tool', 'It is sunny there.')}${ask}`,
      ),
      findings: [
        {
          cause: 'text-beside-calls',
          severity: 'info',
          fact: 'text-beside-calls',
          field: 'messages[1].content',
        },
      ],
    },
    {
      name: 'reasoning since the last question, under a name that is not read',
      exchange: {
        ...chat(
          [
            question,
            { ...call({ city: 'Lisbon' }), reasoning: 'Lisbon is sunny in June.' },
            result('Sunny there.'),
          ],
          `${asked}${turn('assistant', called)}${turn('tool', 'Sunny there.')}${ask}`,
        ),
        facts: factsOf.forgetful,
      },
      findings: [
        { cause: 'unread-reasoning', severity: 'error', culprit: 'client', field: 'messages[1].reasoning' },
      ],
    },
    {
      name: 'reasoning under that name where the template would have dropped it',
      exchange: {
        ...chat(
          [
            question,
            { role: 'assistant', content: 'It is sunny.', reasoning: 'Lisbon is sunny.' },
            user('And now?'),
          ],
          `${asked}${turn('assistant', 'It is sunny.')}${turn('user', 'And now?')}${ask}`,
        ),
        facts: factsOf.forgetful,
      },
      findings: [{ cause: 'reasoning', severity: 'info', fact: 'reasoning' }],
    },
    {
      name: 'a call that this template never writes, as a fact',
      exchange: {
        ...chat(
          [question, call({ city: 'Lisbon' }), result('It is sunny there.')],
          `${asked}${turn('tool', 'It is sunny there.')}${ask}`,
        ),
        facts: factsOf.forgetful,
      },
      findings: [{ cause: 'call', severity: 'error', fact: 'call' }],
    },
    {
      name: 'the same where the question is a letter that stands before the tools, too',
      exchange: {
        ...chat(
          [user('w'), call({ city: 'Lisbon, Portugal' }), result('It is sunny there.')],
          `${turn('system', 'Tools: [{"name": "get_weather"}]')}${turn('user', 'w')}${turn('tool', 'It is sunny there.')}${ask}`,
        ),
        facts: factsOf.forgetful,
      },
      findings: [{ cause: 'call', severity: 'error', fact: 'call' }],
    },
    {
      name: 'instructions that become one, and a developer’s that become the system’s',
      exchange: {
        ...chat(
          [
            { role: 'system', content: 'Answer in one sentence.' },
            { role: 'developer', content: 'Never name a city.' },
            user('Which river?'),
          ],
          `${turn('system', 'Answer in one sentence.\n\nNever name a city.')}${turn('user', 'Which river?')}${ask}`,
        ),
        facts: factsOf.forgetful,
      },
      findings: [
        { cause: 'merged-instructions', severity: 'info', culprit: 'template', field: 'messages[1].content' },
        { cause: 'developer-as-system', severity: 'info', culprit: 'engine', field: 'messages[1].content' },
      ],
    },
    {
      name: 'a developer’s instructions that are not there become nobody’s',
      exchange: {
        ...chat(
          [
            { role: 'system', content: 'Answer in one sentence.' },
            { role: 'developer', content: 'Never name a city.' },
            user('Which river?'),
          ],
          `${turn('system', 'Answer in one sentence.')}${turn('user', 'Which river?')}${ask}`,
        ),
        facts: factsOf.forgetful,
      },
      findings: [{ cause: 'later-instructions', field: 'messages[1].content' }],
    },
    {
      name: 'Anthropic blocks: a result and a document',
      exchange: {
        route: 'messages',
        body: {
          max_tokens: 8,
          messages: [
            { role: 'user', content: 'What is the weather in Lisbon?' },
            {
              role: 'assistant',
              content: [{ type: 'tool_use', id: 't1', name: 'get_weather', input: { city: 'Lisbon' } }],
            },
            {
              role: 'user',
              content: [
                {
                  type: 'tool_result',
                  tool_use_id: 't1',
                  content: [{ type: 'text', text: 'It is sunny there.' }],
                },
                {
                  type: 'document',
                  source: { type: 'text', media_type: 'text/plain', data: 'Lisbon lies on the Tagus.' },
                },
              ],
            },
          ],
        },
        facts: factsOf.qwen3,
        text: `${asked}${turn('assistant', called)}${ask}`,
      },
      findings: [
        { cause: 'tool-result', field: 'messages[2].content[0].content[0].text' },
        { cause: 'document', field: 'messages[2].content[1].source.data' },
      ],
    },
    {
      name: 'earlier instructions, where the template keeps the last ones: the place is before the first text',
      exchange: chat(
        [
          { role: 'system', content: 'Antworte in einem Satz.' },
          question,
          { role: 'system', content: 'Nenne keine Stadt.' },
          user('Und morgen?'),
        ],
        `${turn('system', 'Nenne keine Stadt.')}${asked}${turn('user', 'Und morgen?')}${ask}`,
      ),
      findings: [
        {
          cause: 'earlier-instructions',
          severity: 'error',
          culprit: 'template',
          field: 'messages[0].content',
          advice: 'Send all instructions as one system message, the first.',
          // <|im_start|>, "system\nNenne keine Stadt.", <|im_end|> and a line end.
          tokens: { start: 0, end: 28 },
        },
      ],
    },
    {
      name: 'instructions of which none is there',
      exchange: chat(
        [
          { role: 'system', content: 'Antworte in einem Satz.' },
          { role: 'system', content: 'Nenne keine Stadt.' },
          question,
        ],
        asked + ask,
      ),
      findings: [
        {
          cause: 'text',
          field: 'messages[0].content',
          message: 'The prompt does not hold messages[0].content (and 1 more: messages[1].content).',
        },
      ],
    },
    {
      name: 'a part of a list whose other parts are there, behind the first one',
      exchange: chat(
        [
          user([
            { type: 'text', text: 'Fasse zusammen:' },
            { type: 'text', text: 'Der Rhein entspringt in der Schweiz.' },
          ]),
        ],
        `${turn('user', 'Fasse zusammen:')}${ask}`,
      ),
      findings: [
        {
          cause: 'text',
          field: 'messages[0].content[1].text',
          advice: 'Send the content as one string: this template writes only some of the parts of a list.',
          // From the marker that ends the question to the prompt's end: <|im_end|>, a line end, <|im_start|>assistant and its line end.
          tokens: { start: 21, end: 34 },
        },
      ],
    },
    {
      name: 'a call between two texts that are there: the empty turn where it would stand',
      exchange: chat(
        [question, call('{"city":"Lisbon"}'), result('18 degrees'), user('And tomorrow?')],
        `${asked}${turn('assistant', '')}${turn('user', '18 degrees')}${turn('user', 'And tomorrow?')}${ask}`,
      ),
      findings: [{ cause: 'call', field: 'messages[1].tool_calls[0]', tokens: { start: 36, end: 51 } }],
    },
  ],
});
