// Calls that a prompt holds, and those that it does not, however much they have in common.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatPath } from '../../../src/exchange/json/json-path.ts';
import { lostParts } from '../../../src/exchange/written/lost-parts.ts';
import type { Json, JsonObject } from '../../../src/exchange/request/request.ts';
import { buildRequest } from '../../support/exchange-builder.ts';

interface Call {
  readonly name: string;
  readonly arguments: Json;
}

/** Ways in which templates write a call. */
const styles: Readonly<Record<string, (call: Call) => string>> = {
  'as JSON': (call) => `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`,
  'as spaced JSON': (call) =>
    `<tool_call>${JSON.stringify(call, null, 1).replaceAll(/\n */g, ' ')}</tool_call>`,
  'with the arguments first': ({ name, arguments: given }) =>
    JSON.stringify({ arguments: given, name }).replaceAll(/[\u0080-\uffff]/g, escapeUnit),
  'value by value': ({ name, arguments: given }) =>
    `<function=${name}>\n${Object.entries(given as JsonObject)
      .toSorted(([a], [b]) => (a < b ? 1 : -1))
      .map(([key, value]) => `<parameter=${key}>\n${plain(value)}\n</parameter>\n`)
      .join('')}</function>`,
  'as a call in Python': ({ name, arguments: given }) =>
    `${name}(${Object.values(given as JsonObject)
      .map(plain)
      .join(', ')})`,
};

function plain(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function escapeUnit(unit: string): string {
  return String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const question = { role: 'user', content: 'What is the weather like over there?' };
const answer = { role: 'assistant', content: 'It is rather warm in all of them.' };
const head = `<|user|>${question.content}<|end|><|assistant|>`;

function messagesOf(rounds: readonly (readonly Call[])[], asText: boolean): JsonObject[] {
  return rounds.flatMap((calls, round): JsonObject[] => [
    {
      role: 'assistant',
      content: '',
      tool_calls: calls.map((call, index) => ({
        id: `c${round}-${index}`,
        type: 'function',
        function: {
          name: call.name,
          arguments: asText ? JSON.stringify(call.arguments) : call.arguments,
        },
      })),
    },
    ...calls.map((_, index) => ({
      role: 'tool',
      tool_call_id: `c${round}-${index}`,
      content: `${index + 7}`,
    })),
  ]);
}

/** @param written the calls that the template writes of each round */
function lostIn(
  rounds: readonly (readonly Call[])[],
  written: readonly (readonly string[])[],
  asText = true,
): readonly { readonly what: string; readonly at: string }[] {
  const messages = [question, ...messagesOf(rounds, asText), answer];
  const turns = written.map(
    (calls, round) =>
      `${calls.join('')}<|end|>${(rounds[round] ?? []).map((_, index) => `<|tool|>${index + 7}<|end|>`).join('')}<|assistant|>`,
  );
  const request = buildRequest('chat', JSON.stringify({ messages }));
  assert.ok(request.kind === 'chat');
  const { calls } = lostParts(request, `${head}${turns.join('')}${answer.content}<|end|>`);
  return calls.map(({ what, path }) => ({ what, at: formatPath(path) }));
}

const weather = (given: Json): Call => ({ name: 'get_weather', arguments: given });
const json = styles['as JSON']!;
const [lisbon, porto] = [
  weather({ city: 'Lisbon', unit: 'celsius' }),
  weather({ city: 'Porto', unit: 'celsius' }),
];

const city = fc.constantFrom(
  'Lisbon',
  'Porto',
  'São Paulo',
  'Zürich "West"',
  '東京',
  'Rio\nde Janeiro',
  '4711',
);
const someCall = fc
  .record(
    { city, unit: fc.constantFrom('celsius', 'kelvin'), days: fc.constantFrom(365, 1482) },
    { requiredKeys: ['city'] },
  )
  .map(weather);
const someRounds = fc.array(fc.array(someCall, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 4,
});
const someStyle = fc.constantFrom(...Object.values(styles));

describe('calls', () => {
  it('are there in each form, also where they say the same', () => {
    fc.assert(
      fc.property(someRounds, someStyle, fc.boolean(), (rounds, style, asText) => {
        assert.deepEqual(
          lostIn(
            rounds,
            rounds.map((calls) => calls.map(style)),
            asText,
          ),
          [],
        );
      }),
    );
  });

  it('are missed, whichever of several is gone', () => {
    fc.assert(
      fc.property(someRounds, someStyle, fc.nat(), fc.nat(), (rounds, style, some, any) => {
        const round = some % rounds.length;
        const index = any % (rounds[round]?.length ?? 1);
        const written = rounds.map((calls, at) =>
          calls.flatMap((call, place) => (at === round && place === index ? [] : [style(call)])),
        );
        const lost = lostIn(rounds, written);
        assert.ok(lost.length > 0);
        // One of two that say the same is as good as the other.
        const gone = JSON.stringify(rounds[round]?.[index]);
        const first = /^messages\[(\d+)\]\.tool_calls\[(\d+)\]/.exec(lost[0]?.at ?? '');
        const named = messagesOf(rounds, false)[Number(first?.[1]) - 1]?.[
          'tool_calls'
        ] as readonly JsonObject[];
        const said = named[Number(first?.[2])]?.['function'];
        if (lost.length === 1 && lost[0]?.what === 'call') assert.equal(JSON.stringify(said), gone);
      }),
    );
  });

  for (const [name, written, lost] of [
    ['the second', [lisbon], ['messages[1].tool_calls[1]']],
    ['the first', [porto], ['messages[1].tool_calls[0]']],
  ] as const) {
    it(`are told apart by what only one of them says: ${name}`, () => {
      const found = lostIn([[lisbon, porto]], [written.map(json)]);
      assert.deepEqual(
        found,
        lost.map((at) => ({ what: 'call', at })),
      );
    });
  }

  it('are counted where they say the same, and the later one is named', () => {
    const found = lostIn([[lisbon, lisbon], [lisbon]], [[json(lisbon)], [json(lisbon)]]);
    assert.deepEqual(found, [{ what: 'call', at: 'messages[4].tool_calls[0]' }]);
    const bare = weather({});
    assert.deepEqual(lostIn([[bare, bare]], [[json(bare), json(bare)]]), []);
    assert.deepEqual(lostIn([[bare, bare]], [[json(bare)]]), [
      { what: 'call', at: 'messages[1].tool_calls[1]' },
    ]);
  });

  it('are cut where some of their arguments are gone', () => {
    const nested = weather({ city: 'Lisbon', options: { unit: 'celsius' } });
    const found = lostIn([[nested]], [[json(weather({ city: 'Lisbon', options: {} }))]]);
    assert.deepEqual(found, [{ what: 'arguments-cut', at: 'messages[1].tool_calls[0].function.arguments' }]);
    const long = weather({
      content: 'A line about rivers that is written to a file.\n'.repeat(20) + 'The end of it is here.',
    });
    assert.deepEqual(lostIn([[long]], [[json(long)]]), []);
    const shortened = json(
      weather({ content: 'A line about rivers that is written to a file.\n'.repeat(20) }),
    );
    assert.deepEqual(lostIn([[long]], [[shortened]]), [
      { what: 'arguments-cut', at: 'messages[1].tool_calls[0].function.arguments' },
    ]);
  });

  it('have lost their arguments where their names alone are there', () => {
    const names = ['get_weather(…)', 'get_weather(…)'];
    assert.deepEqual(
      lostIn([[lisbon, porto]], [names]).map(({ what }) => what),
      ['call-arguments', 'call-arguments'],
    );
  });

  it('are there as they were sent, whatever escapes the client wrote', () => {
    const sent = String.raw`{"city":"Z\u00FCrich","url":"http:\/\/example.org\/a"}`;
    const call = { id: 'c', type: 'function', function: { name: 'get_weather', arguments: sent } };
    for (const written of [sent, JSON.stringify(sent)]) {
      const request = buildRequest(
        'chat',
        JSON.stringify({
          messages: [question, { role: 'assistant', content: null, tool_calls: [call, call] }],
        }),
      );
      assert.ok(request.kind === 'chat');
      const twice = `${head}get_weather ${written} get_weather ${written}<|end|>`;
      assert.deepEqual(lostParts(request, twice).calls, []);
      assert.equal(lostParts(request, twice.replace(`get_weather ${written} `, '')).calls.length, 1);
    }
  });

  it('are not taken for a result, or a text beside them, that says the same', () => {
    const note = 'Remember to pack the umbrella.';
    const [first, second] = [
      weather({ path: 'notes.txt', content: note }),
      weather({ path: 'other.txt', content: 'Buy bread.' }),
    ];
    const calls = [first, second].map((call, index) => ({
      id: `c${index}`,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    }));
    const lostOf = (written: readonly Call[], beside: string): readonly string[] => {
      const messages = [
        question,
        { role: 'assistant', content: note, tool_calls: calls },
        { role: 'tool', tool_call_id: 'c0', content: note },
        answer,
      ];
      const request = buildRequest('chat', JSON.stringify({ messages }));
      assert.ok(request.kind === 'chat');
      const text = `${head}${beside}${written.map(json).join('')}<|end|><|tool|>${note}<|end|><|assistant|>${answer.content}<|end|>`;
      return lostParts(request, text).calls.map(({ path }) => formatPath(path));
    };
    for (const beside of [note, '']) assert.deepEqual(lostOf([first, second], beside), []);
    assert.deepEqual(lostOf([first], note), ['messages[1].tool_calls[1]']);
    assert.deepEqual(lostOf([second], note), ['messages[1].tool_calls[0]']);
  });

  it('are gone whole where a result alone says what they said', () => {
    const content = 'Remember to pack the umbrella.';
    const call = { name: 'get_weather', arguments: JSON.stringify({ content, day: 'Monday' }) };
    const messages = [
      question,
      { role: 'assistant', content: '', tool_calls: [{ id: 'c0', type: 'function', function: call }] },
      { role: 'tool', tool_call_id: 'c0', content },
      answer,
    ];
    const request = buildRequest('chat', JSON.stringify({ messages }));
    assert.ok(request.kind === 'chat');
    for (const [named, lost] of [
      ['', 'call'],
      ['get_weather', 'call-arguments'],
    ]) {
      const text = `${head}${named}<|end|><|tool|>${content}<|end|><|assistant|>${answer.content}<|end|>`;
      assert.deepEqual(
        lostParts(request, text).calls.map(({ what }) => what),
        [lost],
      );
    }
  });

  it('are looked for in linear time, a thousand at once and one by one, there or not', () => {
    const cpu = (size: number, kept: number): number => {
      const many = Array.from({ length: size }, (_, index) =>
        weather({ city: `City "${index}"`, note: 'Some words that each of them has.', unit: 'celsius' }),
      );
      const written = many.slice(0, kept).map(styles['value by value']!);
      const start = process.cpuUsage();
      lostIn([many], [written]);
      lostIn(
        many.map((call) => [call]),
        written.map((one) => [one]),
      );
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    for (const share of [1, 0.5]) {
      cpu(250, 250 * share);
      const [small, large] = [cpu(250, 250 * share), cpu(2000, 2000 * share)];
      assert.ok(large < 24 * Math.max(small, 10), `${large} ms for eight times what took ${small} ms`);
    }
  });
});
