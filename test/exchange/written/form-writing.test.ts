// What a template was seen to do to texts is done to any text, and what it so writes is found in its prompts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { escapeStyles, letterCases, textPlaces, type SeenForm } from '../../../src/exchange/seen-form.ts';
import { mappingOf, writingOf } from '../../../src/exchange/written/form-writing.ts';
import { lostParts } from '../../../src/exchange/written/lost-parts.ts';
import { buildRequest } from '../../support/exchange-builder.ts';

const asIs: SeenForm = { places: textPlaces, characters: [], trims: 'nothing' };
const python: SeenForm = {
  ...asIs,
  characters: [
    { given: "'", written: String.raw`\'` },
    { given: '\\', written: '\\\\' },
    { given: '\n', written: String.raw`\n` },
  ],
  controls: 'python',
};
const commented: SeenForm = {
  ...asIs,
  characters: [
    { given: '\n', written: '\n// ' },
    { given: '\n\n\n', written: '\n// ' },
  ],
};

const written: readonly (readonly [string, SeenForm, string, readonly string[]])[] = [
  ['as it is', asIs, ' a <b> é\n', ['a <b> é']],
  ['with one character as another', with_("'", '&apos;'), "it's", ['it&apos;s']],
  ['without a character', with_('<', ''), 'a < b', ['a  b']],
  ['beyond ASCII by units', { ...asIs, beyondAscii: 'json' }, 'é😀', [String.raw`\u00e9\ud83d\ude00`]],
  ['in upper-case digits', { ...asIs, beyondAscii: 'json-upper' }, 'é', [String.raw`\u00E9`]],
  ['beyond ASCII as Python', { ...asIs, beyondAscii: 'python' }, 'é中😀', [String.raw`\xe9\u4e2d\U0001f600`]],
  ['as entities', { ...asIs, beyondAscii: 'decimal' }, 'é😀', ['&#233;&#128512;']],
  ['as entities in hexadecimal', { ...asIs, beyondAscii: 'hexadecimal' }, 'é', ['&#xe9;']],
  ['in ASCII alone', { ...asIs, beyondAscii: 'dropped' }, 'São', ['So']],
  ['control characters, but no white space', { ...asIs, controls: 'json' }, 'a\u0007\tb', ['a\\u0007\tb']],
  ['in capitals', { ...asIs, letters: 'upper' }, 'aé', ['AÉ']],
  ['in capitals of ASCII', { ...asIs, letters: 'upper-ascii' }, 'aé', ['Aé']],
  ['in small letters', { ...asIs, letters: 'lower' }, 'AÖ', ['aö']],
  ['composed', { ...asIs, normal: 'NFC' }, 'e\u0301', ['é']],
  ['without tags', { ...asIs, dropsTags: true }, 'a<b>c</b> d', ['ac d']],
  ['as Python, with both quotes', python, `it's "so"`, [String.raw`it\'s "so"`]],
  [
    'as Python, with the single quote alone',
    python,
    "it's\nso",
    [String.raw`it's\nso`, String.raw`it\'s\nso`],
  ],
  ['as comments, where a run of lines is one', commented, 'a\nb\n\nc\n\n\n\nd', ['a\n// b\n// c\n// d']],
];

function with_(given: string, as: string): SeenForm {
  return { ...asIs, characters: [{ given, written: as }] };
}

describe('a text is written', () => {
  for (const [name, form, text, expected] of written) {
    it(name, () => {
      assert.deepEqual(writingOf(form).write(text), expected);
    });
  }
});

describe('what a form leaves out', () => {
  const cases: readonly (readonly [string, SeenForm, string, string | undefined])[] = [
    ['a sign', with_('<', ''), 'a < b', '<'],
    ['a sign that the text does not have', with_('<', ''), 'a > b', undefined],
    ['a sign that is written as another', with_('<', '&lt;'), 'a < b', undefined],
    ['what became a question mark', with_('é', '?'), 'é', 'é'],
    ['a question mark that stays', { ...with_('<', ''), letters: 'upper' }, 'who?', undefined],
    ['letters', { ...asIs, beyondAscii: 'dropped' }, 'São', 'ã'],
    [
      'accents and joiners, which nobody reads by themselves',
      { ...asIs, beyondAscii: 'dropped' },
      'a\u200bb',
      undefined,
    ],
    ['white space', with_('\r', ''), 'a\r\nb', undefined],
    ['control characters', { ...asIs, characters: [{ given: '\u0001', written: '' }] }, 'a\u0001', undefined],
    ['a tag', { ...asIs, dropsTags: true }, 'a <b>c</b>', '<b>'],
    ['what is no tag', { ...asIs, dropsTags: true }, 'a < b and c > d', undefined],
  ];
  for (const [name, form, text, expected] of cases) {
    it(name, () => {
      assert.equal(writingOf(form).leftOut(text), expected);
    });
  }
});

const awkward = ['"', "'", '\\', '<', '>', '&', '\n', '\t', '\r', 'é', '中', '\u2028', '*', '\u0001'];
const optional = (name: keyof SeenForm, values: readonly unknown[]): fc.Arbitrary<object> =>
  fc
    .option(fc.constantFrom(...values), { nil: undefined })
    .map((value) => (value === undefined ? {} : { [name]: value }));
const form: fc.Arbitrary<SeenForm> = fc
  .tuple(
    fc.uniqueArray(
      fc.record({
        given: fc.constantFrom(...awkward),
        written: fc.constantFrom('&x;', String.raw`\u003C`, '', '\\\\n', '  //', '”'),
      }),
      { selector: ({ given }) => given, maxLength: 6 },
    ),
    optional('beyondAscii', escapeStyles),
    optional('controls', escapeStyles),
    optional('letters', letterCases),
    optional('normal', ['NFC', 'NFKC'] as const),
    optional('changesSpace', [true] as const),
  )
  .map(([characters, ...classes]) => Object.assign({ ...asIs, characters }, ...classes) as SeenForm);

const words = fc.constantFrom(
  'barge',
  'lock',
  'weir',
  'São',
  '中文',
  '"no"',
  "it's",
  'a<b>',
  '\\n',
  'x\ty',
  '*',
);
const text = fc
  .array(fc.oneof(words, fc.string({ unit: 'grapheme', maxLength: 12 })), { minLength: 1, maxLength: 40 })
  .map((all) => all.join(' '));
const messages = fc.array(
  fc.record({ role: fc.constantFrom('system', 'user', 'assistant', 'tool'), content: text }),
  { minLength: 1, maxLength: 6 },
);

function rendered(
  given: readonly { readonly role: string; readonly content: string }[],
  seen: SeenForm,
): string {
  const map = mappingOf(seen);
  const turns = given.map(({ role, content }) => {
    const mapped = map(content.trim());
    return `<|${role}|>\n${seen.changesSpace === true ? mapped.split(/\s+/).join(' ') : mapped}<|end|>\n`;
  });
  return `${turns.join('')}<|assistant|>\n`;
}

function lostIn(given: readonly object[], prompt: string, seen: readonly SeenForm[] | undefined) {
  const request = buildRequest('chat', JSON.stringify({ messages: given }));
  assert.ok(request.kind === 'chat');
  return lostParts(request, prompt, seen && { forms: seen });
}

describe('a prompt in a form that was seen', () => {
  it('has lost no text', () => {
    fc.assert(
      fc.property(messages, form, (given, seen) => {
        const { texts, asCode } = lostIn(given, rendered(given, seen), [seen]);
        assert.deepEqual({ texts, asCode }, { texts: [], asCode: [] });
      }),
      { numRuns: 300 },
    );
  });

  it('has lost a message that is gone', () => {
    const gone = {
      role: 'user',
      content: 'Seventeen of the barges have passed through this lock before noon.',
    };
    fc.assert(
      fc.property(messages, form, fc.nat(6), (others, seen, at) => {
        const index = Math.min(at, others.length);
        const { texts } = lostIn(
          others.toSpliced(index, 0, gone as (typeof others)[number]),
          rendered(others, seen),
          [seen],
        );
        assert.deepEqual(
          texts.map(({ path }) => path),
          [['messages', index, 'content']],
        );
      }),
      { numRuns: 300 },
    );
  });

  it('is wrongly accused by the fixed forms alone', () => {
    const given = [{ role: 'user', content: 'Where does the river end?\nAnd the lock?' }];
    const seen: SeenForm = { ...asIs, letters: 'upper' };
    assert.equal(lostIn(given, rendered(given, seen), undefined).texts.length, 1);
    assert.equal(lostIn(given, rendered(given, seen), [seen]).texts.length, 0);
  });
});
