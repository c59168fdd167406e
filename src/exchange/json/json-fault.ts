/**
 * Where a text stops being JSON, for people who have to mend it: JSON.parse tells the place only sometimes, and then it
 * quotes the text. Does not recurse, builds nothing, and tells of what stands there no more than one character.
 */

export interface JsonFault {
  /** Both count from 1; the column in UTF-16 units. */
  readonly line: number;
  readonly column: number;
  /** What stands there and what is allowed, e.g. `"x" stands here; allowed: "," or "}"`. */
  readonly message: string;
}

/** What may come next. */
type Expected = keyof typeof allowed;

const allowed = {
  value: 'a value',
  'value or ]': 'a value or "]"',
  'name or }': 'a name in double quotes or "}"',
  name: 'a name in double quotes',
  ':': '":"',
  ', or ]': '"," or "]"',
  ', or }': '"," or "}"',
  end: 'nothing more',
  'string end': 'the rest of a string, with its closing double quote',
  escape: 'one of "\\/bfnrt, or u and four hexadecimal digits, after a backslash',
  'no line break': 'no line break or other control character inside a string: write \\n',
} as const;

const space = /[ \t\n\r]*/y;
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.+-])/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The first fault; undefined if the text is JSON. */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = endOf(space, text, 0) ?? 0;
  while (at < text.length) {
    const step = stepFrom(text, at, expected, open);
    if ('fault' in step) return faultAt(text, step.at, step.fault);
    expected = step.expected;
    at = endOf(space, text, step.at) ?? step.at;
  }
  return expected === 'end' ? undefined : faultAt(text, text.length, expected);
}

type Step =
  { readonly at: number; readonly expected: Expected } | { readonly at: number; readonly fault: Expected };

/** Over one sign, name or scalar. `open` holds the objects and lists around it. */
function stepFrom(text: string, at: number, expected: Expected, open: ('{' | '[')[]): Step {
  const character = text[at];
  const wrong: Step = { at, fault: expected };
  switch (expected) {
    case 'value':
    case 'value or ]':
      if (character === ']' && expected === 'value or ]') return close(at, open);
      if (character === '{' || character === '[') {
        open.push(character);
        return { at: at + 1, expected: character === '{' ? 'name or }' : 'value or ]' };
      }
      return overScalar(text, at, expected, afterValue(open));
    case 'name or }':
      if (character === '}') return close(at, open);
      return character === '"' ? overString(text, at, ':') : wrong;
    case 'name':
      return character === '"' ? overString(text, at, ':') : wrong;
    case ':':
      return character === ':' ? { at: at + 1, expected: 'value' } : wrong;
    case ', or ]':
      if (character === ',') return { at: at + 1, expected: 'value' };
      return character === ']' ? close(at, open) : wrong;
    case ', or }':
      if (character === ',') return { at: at + 1, expected: 'name' };
      return character === '}' ? close(at, open) : wrong;
    default:
      return wrong;
  }
}

function close(at: number, open: ('{' | '[')[]): Step {
  open.pop();
  return { at: at + 1, expected: afterValue(open) };
}

function afterValue(open: readonly ('{' | '[')[]): Expected {
  const around = open.at(-1);
  if (around === undefined) return 'end';
  return around === '{' ? ', or }' : ', or ]';
}

function overScalar(text: string, at: number, expected: Expected, next: Expected): Step {
  if (text[at] === '"') return overString(text, at, next);
  const end = endOf(scalar, text, at);
  return end === undefined ? { at, fault: expected } : { at: end, expected: next };
}

function overString(text: string, from: number, next: Expected): Step {
  let at = from + 1;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '"') return { at: at + 1, expected: next };
    if (character < ' ') return { at, fault: 'no line break' };
    if (character === '\\') {
      const end = endOf(escape, text, at);
      if (end === undefined) return { at, fault: 'escape' };
      at = end;
    } else at += 1;
  }
  return { at, fault: 'string end' };
}

function endOf(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function faultAt(text: string, at: number, expected: Expected): JsonFault {
  const before = text.slice(0, at);
  const character = text.charAt(at);
  const stands = character === '' ? 'the text ends here' : `${JSON.stringify(character)} stands here`;
  return {
    line: before.split('\n').length,
    column: at - before.lastIndexOf('\n'),
    message: `${stands}; allowed: ${allowed[expected]}`,
  };
}
