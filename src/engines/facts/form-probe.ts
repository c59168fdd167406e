/**
 * A conversation whose texts hold one awkward character after another, each between two words that no template writes, in
 * every place where a text can stand. Data alone; what comes out is read in form-reading.ts.
 */
import type { Json } from '../../exchange/request/request.ts';
import { reasoningMembers } from '../../exchange/written/prompt-parts.ts';
import type { JsonPlace, TextPlace } from '../../exchange/seen-form.ts';

/** Signs that templates leave alone; where they do not, nothing is said of the place. */
export const otherSigns = '!#$%()*+,-./:;=?@[]^_`{|}~';
/** The tag stands before the sign that opens one, so that only it can be taken for one. */
export const probedTag = '<weir>';
export const probedRuns = ['   ', '\n\n\n', ' \n', '\n '] as const;

/** Each is one character as people see it, a run of white space, other signs, or a tag. */
export const probedItems: readonly string[] = [
  ...['"', "'", '\\', '>', '&', '\n', '\r', '\r\n', '\t', '\u0001', '\b', '\f', '\u007f'],
  ...['\u00e9', '\u00d6', 'e\u0301', '\u4e2d', '\u{1f600}', '\u2028', '\ufb01'],
  ...probedRuns,
  ...[otherSigns, probedTag, '<'],
];

/** White space that no template writes around a text by itself. */
export const probedEnds = '\t \t';

/** The word in front of an item, or behind the last one; its letter tells the text. */
export function wordAt(letter: string, index: number): string {
  return `W${letter}${String(index).padStart(2, '0')}`;
}

function textOf(letter: string): string {
  const inner = probedItems.map((item, index) => wordAt(letter, index) + item).join('');
  return probedEnds + inner + wordAt(letter, probedItems.length) + probedEnds;
}

/** The letter of each place's text. */
export const probedTexts: readonly (readonly [TextPlace, string])[] = [
  ['instructions', 'a'],
  ['question', 'b'],
  ['answer', 'c'],
  ['reasoning', 'd'],
  ['tool-description', 'f'],
  ['property-description', 'g'],
  ['schema-value', 'h'],
  ['schema-value', 'i'],
  ['call-argument', 'j'],
  ['nested-argument', 'k'],
  ['tool-result', 'l'],
  ['tool-result-value', 'm'],
  ['text-part', 'p'],
];

/** A JSON value for each place, as it is sent: with members in no order, and with spaces as no writer has them. */
export const probedJson: readonly { readonly place: JsonPlace; readonly sent: string }[] = [
  {
    place: 'schema',
    sent: '{"type":"object", "properties":{"weirb":{"type": "integer"},"weira":{"type":"string"} }}',
  },
  { place: 'arguments', sent: '{"weirf":[1,25, true,null],"weire": {"weirg":"weirh"} }' },
  { place: 'result', sent: '{"weirj":[1,25, true,null],"weiri": {"weirk":"weirl"} }' },
];

function sentFor(wanted: JsonPlace): string {
  return probedJson.find(({ place }) => place === wanted)?.sent ?? '';
}

const tool = {
  type: 'function',
  function: {
    name: 'weir_probe',
    description: textOf('f'),
    parameters: {
      type: 'object',
      properties: {
        weirvalue: { type: 'string', description: textOf('g'), enum: [textOf('h')], default: textOf('i') },
        weirnested: { type: 'object', properties: { weirinner: { type: 'string' } } },
        weirjson: JSON.parse(sentFor('schema')) as Json,
      },
    },
  },
};

function called(id: string, given: string): object {
  return { id, type: 'function', function: { name: 'weir_probe', arguments: given } };
}

/** Nine letters and digits: some templates refuse other ids. */
const ids = ['callWeir1', 'callWeir2'] as const;
const argumentsText =
  `{"weirvalue":${JSON.stringify(textOf('j'))},"weirnested": {"weirinner":${JSON.stringify(textOf('k'))}},` +
  `"weirjson": ${sentFor('arguments')}}`;
const resultText = `{"weirtext":${JSON.stringify(textOf('m'))},"weirjson": ${sentFor('result')}}`;

const spoken = [
  { role: 'system', content: textOf('a') },
  { role: 'user', content: textOf('b') },
  { role: 'assistant', content: textOf('c') },
  { role: 'user', content: 'Weirfollowup, asked after that?' },
];

/** Under each of its names: which of them a template reads is learnt by other questions. */
const thinks = Object.fromEntries(reasoningMembers.map((member) => [member, textOf('d')]));
const loop = [
  { role: 'assistant', content: '', ...thinks, tool_calls: [called(ids[0], argumentsText)] },
  { role: 'tool', tool_call_id: ids[0], content: textOf('l') },
  { role: 'assistant', content: '', tool_calls: [called(ids[1], '{"weirvalue":"weiragain"}')] },
  { role: 'tool', tool_call_id: ids[1], content: resultText },
];

export interface ProbeBody {
  readonly messages: readonly object[];
  readonly tools?: readonly object[];
}

/** With ever less of what a template may refuse; the first that it takes shows what there is to see. */
export const probeConversations: readonly ProbeBody[] = [
  { messages: [...spoken, ...loop], tools: [tool] },
  { messages: spoken, tools: [tool] },
  { messages: spoken },
];

export const partsConversation: ProbeBody = {
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: textOf('p') },
        { type: 'text', text: 'Weirpart, which is the second.' },
      ],
    },
  ],
};
