// The short way to where texts stand: taken only where each is found as it was sent, one behind another; and wherever it is
// taken, it says what the long way says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readRequest } from '../../../src/exchange/request/request-reader.ts';
import type { TemplateReading } from '../../../src/exchange/model-facts.ts';
import type { ChatMessage, ChatRequest, JsonObject } from '../../../src/exchange/request/request.ts';
import { seenWriting, unseen } from '../../../src/exchange/written/form-writing.ts';
import { readInOrder } from '../../../src/exchange/written/in-order.ts';
import { findEverywhere, lostParts } from '../../../src/exchange/written/lost-parts.ts';
import { buildRequest } from '../../support/exchange-builder.ts';

const message = (value: JsonObject & { readonly role: string }): ChatMessage => ({
  role: value.role,
  value,
  path: ['messages', 0],
  contentPath: ['messages', 0, 'content'],
});
const user = (content: string): ChatMessage => message({ role: 'user', content });
const answer = (content: string): ChatMessage => message({ role: 'assistant', content });
const turn = (role: string, content: string): string => `<|im_start|>${role}\n${content}<|im_end|>\n`;
const long = 'What is the weather like?';
const other = 'Nobody has looked outside yet.';

const found = (messages: readonly ChatMessage[], rendered: string): readonly string[] | undefined =>
  readInOrder(messages, rendered, unseen, true)?.ranges.map(({ start, end }) => rendered.slice(start, end));

describe('the short way', () => {
  it('finds texts in order, trimmed, wherever the first of them begins', () => {
    const tools = 'x'.repeat(10_000);
    const rendered = tools + turn('user', long) + turn('assistant', other) + turn('user', long);
    assert.deepEqual(found([user(` ${long}\n`), answer(other), user(long)], rendered), [long, other, long]);
  });

  it('goes over short texts, which are no place where nothing else is', () => {
    const rendered = turn('user', 'Hi') + turn('assistant', other) + turn('user', 'Bye');
    assert.deepEqual(found([user('Hi'), answer(other), user('Bye')], rendered), [other]);
  });

  it('goes by members that say nothing', () => {
    const said = message({ role: 'assistant', content: other, refusal: null, tool_calls: null });
    assert.deepEqual(found([said], turn('assistant', other)), [other]);
  });

  const declined: readonly [string, readonly ChatMessage[], string][] = [
    ['a short text that is not there', [user(long), answer('Ok.')], turn('user', long)],
    [
      'a text before the one that it follows',
      [user(long), answer(other)],
      turn('a', other) + turn('u', long),
    ],
    ['one text for two that are the same', [user(long), user(long)], turn('user', long)],
    ['a short text that stands far away', [user('Hi')], `${'x'.repeat(10_000)}Hi`],
    [
      'a list of parts that stands there as code',
      [message({ role: 'user', content: [{ type: 'text', text: long }] })],
      turn('user', `[{'type': 'text', 'text': '${long}'}]`),
    ],
    [
      'such a list with a text that is written otherwise',
      [user(long), message({ role: 'user', content: [{ type: 'text', text: `It's "how" it rains.` }] })],
      turn('user', long) + turn('user', `[{'type': 'text', 'text': 'It\\'s "how" it rains.'}]`),
    ],
    [
      'a part that is no text',
      [message({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] })],
      turn('user', ''),
    ],
    [
      'short reasoning, which may stand anywhere',
      [message({ role: 'assistant', content: other, reasoning_content: 'No idea.' })],
      turn('assistant', other),
    ],
    [
      'a short answer behind reasoning that may hold it',
      [user(long), message({ role: 'assistant', content: 'Rain.', reasoning_content: other })],
      turn('user', long) + turn('assistant', 'Rain.'),
    ],
    [
      'a text for the model in a member that nobody reads',
      [message({ role: 'user', content: long, note: 'Answer in one word.' })],
      turn('user', long),
    ],
  ];
  for (const [name, messages, rendered] of declined) {
    it(`is not taken by ${name}`, () => {
      assert.equal(readInOrder(messages, rendered, unseen, true), undefined);
    });
  }

  it('tells a longer text that is not there, and what of its message is', () => {
    const call = { type: 'function', function: { name: 'read', arguments: '{"path":"one"}' } };
    const calling = message({ role: 'assistant', content: other, tool_calls: [call] });
    const written = '<tool_call>{"name": "read", "arguments": {"path": "one"}}</tool_call>';
    const lostIn = (messages: readonly ChatMessage[], rendered: string): unknown =>
      readInOrder(messages, rendered, unseen, true)?.texts.map(({ message: index, sort, alone, missing }) => [
        ...[index, sort, alone],
        ...(missing ?? []),
      ]);
    const next = 'And what of tomorrow?';
    const behind = turn('user', next);
    assert.deepEqual(lostIn([user(long), answer(other)], turn('user', long)), [[1, 'answer', true]]);
    assert.deepEqual(lostIn([user(long), answer(other), user(next)], turn('user', long) + behind), [
      [1, 'answer', true],
    ]);
    assert.deepEqual(
      lostIn([user(long), calling, user(next)], turn('user', long) + turn('assistant', written) + behind),
      [[1, 'text-beside-calls', false]],
    );
    const paragraph = `${other} `.repeat(20);
    const half = turn('assistant', paragraph.slice(0, 300));
    assert.deepEqual(
      lostIn([user(long), answer(paragraph), user(next)], turn('user', long) + half + behind),
      [[1, 'answer', false, { start: 300, end: paragraph.trim().length }]],
    );
  });

  it('finds what was escaped, in the form of a template or in any other', () => {
    const quoted = 'She said "no" and left.';
    const rendered =
      turn('user', long) + turn('assistant', quoted.replaceAll('"', '\\"')) + turn('user', other);
    const messages = [user(long), answer(quoted), user(other)];
    const characters = [{ given: '"', written: String.raw`\"` }];
    for (const seen of [
      unseen,
      seenWriting({ forms: [{ places: ['answer'], characters, trims: 'both' }] }),
    ]) {
      const read = readInOrder(messages, rendered, seen, true);
      assert.deepEqual(read?.texts, []);
      assert.deepEqual(
        read.ranges.map(({ start, end }) => rendered.slice(start, end)),
        [long, quoted.replaceAll('"', '\\"'), other],
      );
    }
  });

  it('leaves to the long way what a template writes without a character', () => {
    const characters = [{ given: 'ß', written: '' }];
    const form = { forms: [{ places: ['answer' as const], characters, trims: 'both' as const }] };
    const request = buildRequest('chat', {
      messages: [
        { role: 'user', content: long },
        { role: 'assistant', content: 'Die Straße ist lang und breit.' },
        { role: 'user', content: other },
      ],
    });
    assert.ok(request.kind === 'chat');
    const rendered =
      turn('user', long) + turn('assistant', 'Die Strae ist lang und breit.') + turn('user', other);
    assert.equal(readInOrder(request.messages, rendered, seenWriting(form), true), undefined);
    assert.equal(lostParts(request, rendered, form).thinned.length, 1);
  });

  it('tells an answer without its reasoning from one that is gone', () => {
    const thought = 'The user asks about the rain of today, so that is what to say.';
    const messages = [user(long), answer(`${thought}</think>It rains.`), user(other)];
    const rendered = turn('user', long) + turn('assistant', 'It rains.') + turn('user', other);
    const read = readInOrder(messages, rendered, unseen, true);
    assert.deepEqual(
      read?.texts.map(({ sort, missing }) => [sort, missing?.length]),
      [['reasoning', 1]],
    );
  });

  it('looks for a call that says something else', () => {
    const call = { type: 'function', function: { name: 'read', arguments: '{"path":"one","limit":1}' } };
    const messages = [user(long), message({ role: 'assistant', content: other, tool_calls: [call] })];
    const unmetIn = (given: string): number | undefined => {
      const written = `${other}<tool_call>{"name": "read", "arguments": ${given}}</tool_call>`;
      const rendered = turn('user', long) + turn('assistant', written);
      return readInOrder(messages, rendered, unseen, true)?.gaps.flatMap(({ calls }) => calls).length;
    };
    assert.equal(unmetIn('{"path":"one","limit":1}'), 0);
    assert.equal(unmetIn('{ "path": "one",\n  "limit": 1 }'), 0);
    assert.equal(unmetIn('{"path": "two", "limit": 1}'), 1);
    assert.equal(unmetIn('{"path": "one", "limit": 2}'), 1);
  });

  it('has reasoning that the template writes in capitals', () => {
    const request = buildRequest('chat', {
      messages: [
        { role: 'user', content: long },
        { role: 'assistant', content: 'It rains there.', reasoning_content: other },
      ],
    });
    assert.ok(request.kind === 'chat');
    const lostIn = (reasoning: string): number =>
      lostParts(
        { ...request },
        turn('user', long) + turn('assistant', `<think>${reasoning}</think>It rains there.`),
        { forms: [{ places: ['reasoning'], characters: [], letters: 'upper', trims: 'both' }] },
      ).texts.length;
    assert.equal(lostIn(other.toUpperCase()), 0);
    assert.equal(lostIn(''), 1);
  });

  it('tells which of the texts is gone', () => {
    const text = fc.stringMatching(/^[a-z]{12,30}$/);
    fc.assert(
      fc.property(fc.uniqueArray(text, { minLength: 1, maxLength: 12 }), fc.nat(), (texts, pick) => {
        const messages = texts.map(user);
        const gone = pick % texts.length;
        const turns = texts.map((one) => turn('user', one));
        assert.deepEqual(found(messages, turns.join('')), texts);
        const read = readInOrder(messages, turns.toSpliced(gone, 1).join(''), unseen, true);
        // A text may be a part of another.
        if (read === undefined)
          assert.ok(texts.toSpliced(gone, 1).some((one) => one.includes(texts[gone] ?? '')));
        else
          assert.deepEqual(
            read.texts.map(({ message: index }) => index),
            [gone],
          );
      }),
    );
  });
});

interface GivenCall {
  readonly name: string;
  readonly path: string;
  readonly limit: number;
  readonly deep?: boolean | undefined;
  readonly only?: readonly string[] | undefined;
}

interface Turn {
  readonly said: string;
  readonly reasoning: string | undefined;
  readonly calls: readonly GivenCall[];
  readonly results: readonly string[];
}

/** How a template writes conversations, and what it leaves out of them. */
interface Template {
  readonly reasoning: 'none' | 'all' | 'behind-question';
  /** In so many turns what is said beside calls is left out. */
  readonly silent: number;
  /** What was seen to be left out, truly or not. */
  readonly dropped: readonly string[];
  readonly calls: 'literal' | 'spaced' | 'marked-up' | 'lines' | 'keywords' | 'none';
  /** The call, by number, whose path is cut in half, or is left out with its key. */
  readonly cut: { readonly call: number; readonly to: 'half' | 'nothing' } | undefined;
  readonly listed: boolean;
  /** How results are written: as they are, or as a string of JSON. */
  readonly results: 'as-sent' | 'escaped';
  /** Pieces of the rendering that are left out, by number. */
  readonly lost: readonly number[];
  /** Those that are written in another way. */
  readonly changed: readonly (readonly [number, 'half' | 'escaped' | 'spaced'])[];
}

const words = fc.constantFrom(
  'the',
  'rain',
  'falls',
  'Ok.',
  '<b>',
  '"quoted"',
  'in',
  'März',
  '12',
  'why?',
  '\n',
);
const sentence = (most: number): fc.Arbitrary<string> =>
  fc.array(words, { maxLength: most }).map((all) => all.join(' '));
const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    said: sentence(12),
    reasoning: fc.option(sentence(30), { nil: undefined }),
    calls: fc.array(
      fc.record({
        name: fc.constantFrom('read', 'list_files'),
        path: sentence(4),
        limit: fc.nat(2000),
        deep: fc.option(fc.boolean(), { nil: undefined }),
        only: fc.option(fc.array(fc.constantFrom('*.ts', '*.md files'), { maxLength: 2 }), {
          nil: undefined,
        }),
      }),
      { maxLength: 2 },
    ),
    results: fc.array(sentence(40), { maxLength: 2 }),
  }),
  { maxLength: 7 },
);
const template: fc.Arbitrary<Template> = fc.record({
  reasoning: fc.constantFrom('none', 'all', 'behind-question'),
  silent: fc.oneof(fc.constant(0), fc.integer({ min: 3, max: 7 })),
  dropped: fc.subarray(['loop-reasoning', 'reasoning', 'text-beside-calls']),
  calls: fc.constantFrom('literal', 'spaced', 'marked-up', 'lines', 'keywords', 'none'),
  cut: fc.option(fc.record({ call: fc.nat(8), to: fc.constantFrom('half', 'nothing') }), {
    nil: undefined,
  }),
  listed: fc.boolean(),
  results: fc.constantFrom('as-sent', 'escaped'),
  lost: fc.array(fc.nat(40), { maxLength: 3 }),
  changed: fc.array(fc.tuple(fc.nat(40), fc.constantFrom('half', 'escaped', 'spaced')), {
    maxLength: 2,
  }),
});

/**
 * A conversation whose last question is asked in the middle of it, with its tools, and its rendering. No two texts are the
 * same: of two that are, the long way may take the one for the other.
 */
function conversation(given: readonly Turn[], by: Template): { request: ChatRequest; rendered: string } {
  const tools = ['read', 'list_files'].map((name) => ({
    type: 'function',
    function: { name, description: `What ${name} does for you.`, parameters: { type: 'object' } },
  }));
  let count = 0;
  const own = (text: string): string => (text === '' ? '' : `${text} (${(count += 1)})`);
  const all = given.map(({ said, reasoning, calls, results }) => ({
    said: own(said),
    reasoning: reasoning === undefined ? undefined : own(reasoning),
    calls: calls.map((call) => ({ ...call, path: own(call.path) })),
    results: results.map(own),
  }));
  const messages: JsonObject[] = [];
  const pieces: string[] = [`<|im_start|>system\n${JSON.stringify(tools)}<|im_end|>\n`];
  let called = -1;
  const middle = Math.floor(all.length / 2);
  for (const [index, { said, reasoning, calls, results }] of all.entries()) {
    if (index === 0 || index === middle) {
      const content = by.listed ? [{ type: 'text', text: long }] : long;
      messages.push({ role: 'user', content });
      pieces.push('<|im_start|>user\n', long, '<|im_end|>\n');
    }
    messages.push({
      role: 'assistant',
      content: said,
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      tool_calls: calls.map(({ name, ...given }) => ({
        type: 'function',
        function: { name, arguments: JSON.stringify(given) },
      })),
    });
    const isKept = by.reasoning === 'all' || (by.reasoning === 'behind-question' && index >= middle);
    pieces.push('<|im_start|>assistant\n', isKept ? `<think>${reasoning ?? ''}</think>` : '');
    pieces.push(calls.length > 0 && index < by.silent ? '' : said.trim());
    pieces.push(
      ...calls.map((call) => writtenCall(cutCall(call, by.cut, (called += 1)), by.calls)),
      '<|im_end|>\n',
    );
    for (const content of results) {
      messages.push({ role: 'tool', tool_call_id: 'call_1', content });
      pieces.push(
        '<|im_start|>tool\n',
        by.results === 'escaped' ? inside(content) : content.trim(),
        '<|im_end|>\n',
      );
    }
  }
  const body = { messages, tools };
  const reading = readRequest(Buffer.from(JSON.stringify(body)), 'chat');
  assert.equal(reading.readable, true);
  const request = reading.request as ChatRequest;
  const changes = new Map(by.changed);
  const changed = pieces.map((piece, index) => changedPiece(piece, changes.get(index)));
  return { request, rendered: changed.filter((_, index) => !by.lost.includes(index)).join('') };
}

function inside(text: string): string {
  return JSON.stringify(text.trim()).slice(1, -1);
}

function changedPiece(piece: string, to: 'half' | 'escaped' | 'spaced' | undefined): string {
  switch (to) {
    case 'half':
      return piece.slice(0, piece.length / 2);
    case 'escaped':
      return inside(piece);
    case 'spaced':
      // Inside of what calls say, the short way takes no heed of white space.
      return /^(?:<tool_call>|<function=|\[)/.test(piece) ? piece : piece.replaceAll(/\s+/g, '\n\n');
    case undefined:
      return piece;
  }
}

/** What would have been learnt of a template that writes results so. */
function readingOf({
  results,
  dropped,
}: Template): Pick<TemplateReading, 'forms' | 'json' | 'dropped'> | undefined {
  if (results === 'as-sent') return dropped.length === 0 ? undefined : { dropped };
  const characters = [
    { given: '"', written: String.raw`\"` },
    { given: '\n', written: String.raw`\n` },
    { given: '\\', written: String.raw`\\` },
  ];
  return { dropped, forms: [{ places: ['tool-result'], characters, trims: 'both' }] };
}

function cutCall(call: GivenCall, cut: Template['cut'], number: number): GivenCall {
  if (cut?.call !== number) return call;
  const { path, ...rest } = call;
  return cut.to === 'half' ? { ...call, path: path.slice(0, path.length / 2) } : (rest as GivenCall);
}

function writtenCall({ name, ...given }: GivenCall, as: Template['calls']): string {
  const members = Object.entries(given).filter(([, value]) => value !== undefined);
  const tags = (before: (key: string) => string, after: string): string =>
    members.map(([key, value]) => before(key) + inPython(value) + after).join('');
  switch (as) {
    case 'literal':
      return `<tool_call>{"name": "${name}", "arguments": ${JSON.stringify(given)}}</tool_call>`;
    case 'spaced':
      return `<tool_call>{"name": "${name}", "arguments": ${JSON.stringify(given, undefined, 1)}}</tool_call>`;
    case 'marked-up':
      return `<function=${name}>${tags((key) => `<parameter=${key}>`, '</parameter>')}`;
    case 'lines':
      return `<tool_call>${name}\n${tags((key) => `<arg_key>${key}</arg_key>\n<arg_value>`, '</arg_value>\n')}</tool_call>`;
    case 'keywords':
      return `[${name}(${members.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(', ')})]`;
    case 'none':
      return '';
  }
}

/** As templates write a value between tags. */
function inPython(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const bare = { said: '', reasoning: undefined, calls: [], results: [] };
const reading = (path: string): GivenCall => ({ name: 'read', path, limit: 0 });
const plainly: Template = {
  ...{ reasoning: 'none', silent: 0, dropped: [], calls: 'literal', cut: undefined },
  ...{ listed: false, results: 'as-sent', lost: [], changed: [] },
};
/** Where the two once said otherwise: calls that were not met, and texts that were found only when the next one was. */
const unlike: [readonly Turn[], Template][] = [
  [
    [
      { ...bare, calls: [reading('')], results: [''] },
      { ...bare, calls: [reading(''), reading('')], results: [''] },
      { ...bare, calls: [reading('"quoted"'), reading('')] },
      { ...bare, said: '"quoted"', calls: [reading('')] },
    ],
    { ...plainly, cut: { call: 3, to: 'half' }, changed: [[32, 'escaped']] },
  ],
  [
    [
      { ...bare, calls: [reading(''), reading('the März')], results: ['"quoted"'] },
      { ...bare, said: 'the the the', calls: [reading('the')] },
      bare,
      bare,
    ],
    { ...plainly, calls: 'none', changed: [[11, 'escaped']] },
  ],
  // What is said beside calls is not expected any more, is there all the same, and has a word of the reasoning before it.
  [
    [
      { ...bare, said: 'the falls', calls: [reading('')] },
      { ...bare, said: 'the März', calls: [reading('')] },
      { ...bare, said: 'falls the', calls: [reading('')] },
      { ...bare, said: '"quoted"' },
      { ...bare, said: 'falls the', reasoning: 'the the the', calls: [reading('')] },
    ],
    { ...plainly, silent: 3 },
  ],
];

describe('the short way beside the long one', () => {
  it('says the same of any conversation that it is taken by', () => {
    let taken = 0;
    fc.assert(
      fc.property(turns, template, (all, by) => {
        const { request, rendered } = conversation(all, by);
        const reading = readingOf(by);
        const seen = seenWriting(reading);
        if (readInOrder(request.messages, rendered, seen, true) === undefined) return;
        taken += 1;
        assert.deepEqual(
          lostParts({ ...request }, rendered, reading),
          findEverywhere(request, rendered, seen),
          `${JSON.stringify(request.json)}\n${rendered}`,
        );
      }),
      { numRuns: 2000, examples: unlike },
    );
    assert.ok(taken > 200, `${taken} of 2000`);
  });

  it('is taken by loops of tools, whether the template writes reasoning or not', () => {
    const loop: readonly Turn[] = Array.from({ length: 6 }, (_, index) => ({
      said: `I will look at part ${index}.`,
      reasoning: `The question is about part ${index}, so that is the one to read.`,
      calls: [
        { name: 'read', path: `part-${index}`, limit: 3 },
        { name: 'list_files', path: `${index}`, limit: 3 },
      ],
      results: [`The text of part ${index}, as it was read.`, '[]'],
    }));
    for (const reasoning of ['none', 'all', 'behind-question'] as const) {
      for (const calls of ['literal', 'spaced', 'marked-up', 'lines', 'keywords'] as const) {
        const { request, rendered } = conversation(loop, {
          ...plainly,
          reasoning,
          calls,
          listed: true,
        });
        const read = readInOrder(request.messages, rendered, unseen, true);
        assert.deepEqual(
          read?.gaps.flatMap((gap) => gap.calls),
          [],
          `${reasoning} ${calls}`,
        );
        assert.equal(read.texts.length, { none: 6, all: 0, 'behind-question': 3 }[reasoning]);
      }
    }
  });

  it('is taken where what is said beside calls is left out, in all turns or in some', () => {
    const loop: readonly Turn[] = Array.from({ length: 9 }, (_, index) => ({
      said: `I will look at part ${index}.`,
      reasoning: undefined,
      calls: [{ name: 'read', path: `part-${index}`, limit: 3 }],
      results: [`The text of part ${index}, as it was read.`],
    }));
    for (const silent of [0, 2, 4, 6, 9]) {
      // Whether it was seen to leave them out, as here it does not always, or not.
      for (const reading of [undefined, { dropped: ['text-beside-calls'] }]) {
        const { request, rendered } = conversation(loop, { ...plainly, silent });
        const read = readInOrder(request.messages, rendered, seenWriting(reading), true);
        assert.deepEqual(
          read?.texts.map(
            ({ sort, message }) => `${sort}: ${request.messages[message]?.value['content'] as string}`,
          ),
          loop.slice(0, silent).map(({ said }, index) => `text-beside-calls: ${said} (${index * 3 + 1})`),
        );
        assert.deepEqual(
          lostParts({ ...request }, rendered, reading),
          findEverywhere(request, rendered, seenWriting(reading)),
        );
      }
    }
  });
});
