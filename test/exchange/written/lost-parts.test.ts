// What is looked for in a prompt: anything that a client may send, in any form in which a template may write it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatPath } from '../../../src/exchange/json/json-path.ts';
import { lostParts, type LostParts } from '../../../src/exchange/written/lost-parts.ts';
import { buildRequest } from '../../support/exchange-builder.ts';

interface Message {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly object[];
}
interface Tool {
  readonly name: string;
  readonly parameters: object;
}

function lostIn(messages: readonly object[], rendered: string, tools: readonly object[] = []): LostParts {
  const request = buildRequest('chat', JSON.stringify({ messages, tools }));
  assert.ok(request.kind === 'chat');
  return lostParts(request, rendered);
}

const nothing = { texts: [], asCode: [], thinned: [], calls: [], tools: [], toolParts: [] };

/** Ways in which templates write a text. */
const styles: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  trimmed: (text) => text.trim(),
  quoted: (text) => JSON.stringify(text),
  'quoted in ASCII': (text) =>
    JSON.stringify(text).replaceAll(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  'escaped for HTML': (text) =>
    text.replaceAll(
      /[&<>"']/g,
      (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' })[one] ?? one,
    ),
};

function render(
  messages: readonly Message[],
  tools: readonly Tool[],
  style: (text: string) => string,
): string {
  const head =
    tools.length === 0 ? '' : `<|system|>${tools.map((tool) => JSON.stringify(tool)).join('\n')}<|end|>`;
  const turns = messages.map(({ role, content, tool_calls: calls = [] }) => {
    const written = calls.map((call) => JSON.stringify(call)).join('\n');
    return `<|${role}|>\n${style(content)}${written}<|end|>\n`;
  });
  return `${head}${turns.join('')}<|assistant|>\n`;
}

const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.lorem({ maxCount: 30 }));
const call = fc
  .record({
    name: fc.stringMatching(/^[a-z_]{3,12}$/),
    arguments: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  .map(({ name, arguments: given }) => ({
    type: 'function',
    function: { name, arguments: JSON.parse(JSON.stringify(given)) as object },
  }));
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'user', 'assistant', 'tool'), content: text }),
  fc.record({ role: fc.constant('assistant'), content: text, tool_calls: fc.array(call, { maxLength: 3 }) }),
);
/** No letter of which is in a message: what both say by chance can't be told apart in a prompt. */
const toolText = fc.stringMatching(/^[0-9А-Я .-]{0,60}$/);
const tool = fc.record({
  name: fc.stringMatching(/^[a-z_]{3,12}$/),
  description: toolText,
  parameters: fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(toolText, fc.record({ description: toolText, default: fc.jsonValue() })),
  }),
});

describe('what a prompt has lost', () => {
  for (const [name, style] of Object.entries(styles)) {
    it(`is nothing where all is there, ${name}`, () => {
      fc.assert(
        fc.property(
          fc.array(message, { minLength: 1, maxLength: 8 }),
          fc.array(tool, { maxLength: 3 }),
          (messages, tools) => {
            const rendered = render(messages, tools, style);
            const wrapped = tools.map((one) => ({ type: 'function', function: one }));
            const { toolCount, ...lost } = lostIn(messages, rendered, wrapped);
            assert.deepEqual(lost, nothing);
            assert.equal(toolCount, tools.length);
          },
        ),
        { numRuns: 150 },
      );
    });
  }

  it('is a message that is gone, whatever stands around it', () => {
    const gone: Message = { role: 'user', content: 'Seventeen barges passed the lock before noon.' };
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.nat(8), (others, at) => {
        const index = Math.min(at, others.length);
        const rendered = render(others, [], (one) => one);
        const { texts } = lostIn(others.toSpliced(index, 0, gone as (typeof others)[number]), rendered);
        assert.deepEqual(
          texts.map(({ path }) => formatPath(path)),
          [`messages[${index}].content`],
        );
      }),
      { numRuns: 150 },
    );
  });

  it('says nothing worse of any two texts that have nothing to do with each other', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), text, (messages, rendered) => {
        const { texts } = lostIn(messages, rendered);
        for (const { path, missing = [] } of texts) {
          const { content } = messages[Number(path[1])]!;
          for (const { start, end } of missing) assert.ok(0 <= start && start < end && end <= content.length);
        }
      }),
    );
  });

  it('is not the line by which a client names itself, which an engine may keep from the model', () => {
    const line = 'x-anthropic-billing-header: cc_version=2.1.77.e5c; cch=1a2b3;';
    const rules = `${'Be brief. '.repeat(20)}${'Say what you do not know. '.repeat(20)}`;
    const messages = [
      { role: 'system', content: `${line}\n${rules}` },
      { role: 'system', content: line },
      { role: 'user', content: 'What is a weir?' },
    ];
    const without = [{ role: 'system', content: rules }, messages[2]!];
    assert.deepEqual(
      lostIn(
        messages,
        render(without, [], (one) => one),
      ).texts,
      [],
    );
    const cut = [{ role: 'system', content: rules.slice(0, 200) }, messages[2]!];
    const { texts } = lostIn(
      messages,
      render(cut, [], (one) => one),
    );
    assert.deepEqual(
      texts.map(({ path }) => formatPath(path)),
      ['messages[0].content'],
    );
    const run = texts[0]?.missing?.[0];
    assert.equal(messages[0]!.content.slice(run?.start, run?.end), rules.slice(200).trim());
    // What is no instruction is nobody's attribution.
    const quoting = [{ role: 'user', content: line }, messages[2]!];
    assert.equal(
      lostIn(
        quoting,
        render([messages[2]!], [], (one) => one),
      ).texts.length,
      1,
    );
  });

  it('is not a character that a tokenizer reads as another', () => {
    const messages = [{ role: 'user', content: 'Le cafe\u0301 est ferme\u0301, dit▁il.' }];
    const read = (one: string): string => one.normalize('NFC').replaceAll('▁', ' ');
    assert.deepEqual(lostIn(messages, render(messages, [], read)).texts, []);
  });

  it('is found in a prompt of 8 MB and among a thousand tools', () => {
    const long = Array.from({ length: 200_000 }, (_, line) => `Line ${line} of a very long text.`).join('\n');
    const tools = Array.from({ length: 1000 }, (_, index) => ({
      name: `call_${index}`,
      description: `Does the thing that has the number ${index}.`,
      parameters: { type: 'object', properties: { [`value_${index}`]: { type: 'string' } } },
    }));
    const messages = [
      { role: 'user', content: long },
      { role: 'user', content: 'And what is missing here?' },
    ];
    const wrapped = tools.map((one) => ({ type: 'function', function: one }));
    const lost = lostIn(
      messages,
      render(messages.slice(0, 1), tools.slice(0, -1), (one) => one),
      wrapped,
    );
    assert.deepEqual(
      lost.texts.map(({ path }) => formatPath(path)),
      ['messages[1].content'],
    );
    assert.deepEqual(
      lost.tools.map(({ path }) => formatPath(path)),
      ['tools[999]'],
    );
  });
});
