// How templates write texts, read off what they made of awkward ones: here in ways of Python's that no small model serves.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { probeConversations } from '../../../src/engines/facts/form-probe.ts';
import { formsIn, readForms, stylesIn } from '../../../src/engines/facts/form-reading.ts';
import type { SeenForm } from '../../../src/exchange/seen-form.ts';

type Write = (text: string) => string;

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** The question alone is written by the function. */
function questionAs(write: Write): string {
  const { messages } = probeConversations[0] as Body;
  const question = String(messages.find(({ role }) => role === 'user')!.content);
  return `<|user|>\n${write(question)}<|end|>\n<|assistant|>\n`;
}

function units(text: string, digits: (code: number) => string): string {
  return text.replaceAll(/[^\0-\x7f]/gu, (one) => digits(one.codePointAt(0)!));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};
const escapeHtml: Write = (text) => text.replaceAll(/[&<>"']/g, (one) => entities[one]!);

/** Python's, for a text with both quotes. */
const repr: Write = (text) => {
  const short: Readonly<Record<string, string>> = {
    '\n': String.raw`\n`,
    '\r': String.raw`\r`,
    '\t': String.raw`\t`,
  };
  const escaped = text.replaceAll(/['\\\n\r\t]/g, (one) => short[one] ?? `\\${one}`);
  const hidden = escaped.replaceAll(
    /\p{Cc}/gu,
    (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `'${hidden.replaceAll('\u2028', String.raw`\u2028`)}'`;
};

const seen: readonly (readonly [string, Write, Partial<SeenForm>])[] = [
  ['as they are', (text) => text, { characters: [], trims: 'nothing' }],
  ['trimmed', (text) => text.trim(), { characters: [], trims: 'both' }],
  ['trimmed at the end', (text) => text.trimEnd(), { trims: 'end' }],
  [
    'escaped for HTML',
    escapeHtml,
    { characters: ['"', "'", '>', '&', '<'].map((given) => ({ given, written: entities[given]! })) },
  ],
  ['in a single line', (text) => text.trim().split(/\s+/).join(' '), { changesSpace: true, trims: 'both' }],
  ['indented', (text) => text.replaceAll('\n', '\n    '), { changesSpace: true }],
  ['broken anew', (text) => text.replaceAll(/(\S{12})/g, '$1 '), {}],
  ['without tags', (text) => text.replaceAll(/<[^>]*>/g, ''), { dropsTags: true }],
  ['composed', (text) => text.normalize('NFC'), { normal: 'NFC' }],
  ['composed and made compatible', (text) => text.normalize('NFKC'), { normal: 'NFKC' }],
  ['in capitals', (text) => text.toUpperCase(), { letters: 'upper' }],
  [
    'in ASCII as Python',
    (text) =>
      units(text, (code) =>
        code < 256
          ? `\\x${code.toString(16)}`
          : code < 65_536
            ? `\\u${code.toString(16).padStart(4, '0')}`
            : `\\U${code.toString(16).padStart(8, '0')}`,
      ),
    { beyondAscii: 'python' },
  ],
  ['as entities', (text) => units(text, (code) => `&#${code};`), { beyondAscii: 'decimal' }],
  ['without what is not ASCII', (text) => units(text, () => ''), { beyondAscii: 'dropped' }],
  [
    'without control characters',
    (text) => text.replaceAll(/(?!\s|\x7f)\p{Cc}/gu, ''),
    { controls: 'dropped' },
  ],
  ['without stars', (text) => text.replaceAll('*', ''), { characters: [{ given: '*', written: '' }] }],
  ['as Python, with both quotes', repr, { controls: 'python' }],
];

/** Ways that no form explains: of them nothing is said, and what is tried for any template is tried. */
const unexplained: readonly (readonly [string, Write])[] = [
  ['cut', (text) => text.slice(0, 60)],
  ['in reverse', (text) => Array.from(text).toReversed().join('')],
  ['with a sign in front of signs', (text) => text.replaceAll(/[*_]/g, String.raw`\$&`)],
  ['with long words for characters', (text) => text.replaceAll('<', ' less than '.repeat(9))],
  ['in capitals here and there', (text) => text.replace('Wb03', 'WB03')],
  ['encoded', (text) => Buffer.from(text).toString('base64')],
  ['not at all', () => ''],
];

describe('the form of texts that are written', () => {
  for (const [name, write, expected] of seen) {
    it(name, () => {
      const [form, ...others] = formsIn(questionAs(write));
      assert.deepEqual(others, []);
      if (name === 'broken anew') {
        assert.equal(form, undefined);
        return;
      }
      assert.deepEqual(form!.places, ['question']);
      assert.deepEqual({ ...form, ...expected }, form);
    });
  }

  for (const [name, write] of unexplained) {
    it(`is not known where they come out ${name}`, () => {
      assert.deepEqual(formsIn(questionAs(write)), []);
    });
  }

  it('is each of two where a text is written twice', () => {
    const rendered = questionAs((text) => `${text}\n\n${JSON.stringify(text)}`);
    assert.equal(formsIn(rendered).length, 2);
  });

  it('is read off a shorter conversation where the whole is refused', async () => {
    const asked: object[] = [];
    const { forms } = await readForms((body) => {
      asked.push(body);
      const { messages } = body as Body;
      const isRefused = messages.some(({ role, content }) => role === 'tool' || typeof content !== 'string');
      return Promise.resolve(
        isRefused ? undefined : messages.map(({ content }) => String(content)).join('\n'),
      );
    });
    assert.equal(asked.length, 3);
    assert.deepEqual(
      forms.map(({ places }) => places),
      [['instructions', 'question', 'answer']],
    );
  });

  it('is of no place where all is refused', async () => {
    assert.deepEqual(await readForms(() => Promise.resolve(undefined)), { forms: [], json: [] });
  });

  // The runner fails a test that leaves a rejection behind: in `serve` it would have ended the process.
  it('fails once where the engine is gone, however many questions are under way', async () => {
    let asked = 0;
    const gone = new Error('gone');
    const reading = readForms(async () => {
      asked += 1;
      await turn();
      throw gone;
    });
    await assert.rejects(reading, gone);
    assert.equal(asked, 2);
    await turn();
  });
});

describe('the style of JSON that is written again', () => {
  const value = { weirf: [1, 25, true, null], weire: { weirg: 'weirh' } };
  const cases: readonly (readonly [string, string, object])[] = [
    [
      'without spaces',
      JSON.stringify(value),
      { comma: ',', colon: ':', sorted: false, lines: false, literals: 'json' },
    ],
    [
      'with spaces, in order',
      '{"weire": {"weirg": "weirh"}, "weirf": [1, 25, true, null]}',
      { comma: ', ', colon: ': ', sorted: true },
    ],
    [
      'as a dict',
      "{'weirf': [1, 25, True, None], 'weire': {'weirg': 'weirh'}}",
      { literals: 'python', sorted: false },
    ],
    ['in lines', `in a call: ${JSON.stringify({ call: value }, null, 4)}`, { lines: true, sorted: false }],
  ];
  for (const [name, rendered, expected] of cases) {
    it(name, () => {
      const [style, ...others] = stylesIn(`<|call|>${rendered}<|end|>`);
      assert.deepEqual(others, []);
      assert.deepEqual({ ...style, place: 'arguments', ...expected }, style);
    });
  }

  it('is none where it stands as it was sent, or was taken apart', () => {
    assert.deepEqual(stylesIn('{"weirf":[1,25, true,null],"weire": {"weirg":"weirh"} }'), []);
    assert.deepEqual(stylesIn('<weirf>1 25 true</weirf><weire>weirh</weire>'), []);
  });
});
