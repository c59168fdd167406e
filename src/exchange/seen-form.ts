/**
 * How the served template was seen to write what stands in a conversation: which characters it writes as others, what it does
 * to white space, and how it writes JSON again. Small and bounded: it goes into the model's facts, and so into recordings.
 */

/** Where a text can stand in a request. `tool-result-value` is a text inside of a result that is JSON. */
export const textPlaces = [
  'instructions',
  'question',
  'text-part',
  'answer',
  'reasoning',
  'tool-result',
  'tool-result-value',
  'call-argument',
  'nested-argument',
  'tool-description',
  'property-description',
  'schema-value',
] as const;
export type TextPlace = (typeof textPlaces)[number];

/**
 * How characters are escaped that have no escape of their own: `\u00e9`, `\u00E9`, `\xe9` (and `\u4e2d`, `\U0001f600`), `&#233;`,
 * `&#xe9;`; or they are left out.
 */
export const escapeStyles = ['json', 'json-upper', 'python', 'decimal', 'hexadecimal', 'dropped'] as const;
export type EscapeStyle = (typeof escapeStyles)[number];

/** Some writers change ASCII letters alone. */
export const letterCases = ['upper', 'lower', 'upper-ascii', 'lower-ascii'] as const;
export type LetterCase = (typeof letterCases)[number];

/** A character, or a run of white space, that is written as something else; `written` is '' where it is left out. */
export interface WrittenAs {
  readonly given: string;
  readonly written: string;
}

export interface SeenForm {
  /** Where texts are written so. */
  readonly places: readonly TextPlace[];
  /** Those without a line here, and of no class below, are written as themselves. */
  readonly characters: readonly WrittenAs[];
  /** All beyond ASCII; absent where they are written as themselves. */
  readonly beyondAscii?: EscapeStyle;
  /** Control characters; absent where they are written as themselves. */
  readonly controls?: EscapeStyle;
  /** Absent where letters keep their case. */
  readonly letters?: LetterCase;
  /** The Unicode normal form that texts are brought to; absent where they are not. */
  readonly normal?: 'NFC' | 'NFKC';
  /** True if tags as of HTML are left out. */
  readonly dropsTags?: true;
  /** True if white space inside of texts is written otherwise: runs as one, lines joined, indented or broken anew. */
  readonly changesSpace?: true;
  /** White space at a text's ends that is left out. */
  readonly trims: 'nothing' | 'start' | 'end' | 'both';
}

/** Where JSON can stand in a request: the schema of a tool, the arguments of a call, the result of a tool. */
export const jsonPlaces = ['schema', 'arguments', 'result'] as const;
export type JsonPlace = (typeof jsonPlaces)[number];

/** How JSON was seen to be written again, whatever its spaces and the order of its members were when it was sent. */
export interface JsonStyle {
  readonly place: JsonPlace;
  /** Between two members or items, e.g. `, `. */
  readonly comma: string;
  /** Behind a member's name, e.g. `: `. */
  readonly colon: string;
  readonly sorted: boolean;
  /** True if each member and item has a line of its own. */
  readonly lines: boolean;
  /** `python`: as Python writes a dict, with single quotes, `True` and `None`. */
  readonly literals: 'json' | 'python';
}
