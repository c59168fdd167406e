/**
 * The names that a chat template reads and does not set itself: what a request can give it. Read off its source; nothing is
 * rendered. A name too many makes a finding less; one too few would accuse somebody.
 */
import { jinjaTags, type JinjaToken } from './jinja-tags.ts';

/** Operators and literals, of both cases where Jinja takes both. */
const reserved: ReadonlySet<string> = new Set(
  'and or not in is if else recursive true false none True False None'.split(' '),
);
/** What is set inside of these does not come out. */
const scopes: ReadonlySet<string> = new Set(['for', 'macro', 'call', 'filter', 'block', 'with']);

/** @returns the names, alphabetical; undefined for what has no tags, or can't be cut into them */
export function templateInputs(source: string): readonly string[] | undefined {
  const tags = jinjaTags(source);
  if (tags === undefined || tags.length === 0) return undefined;
  const read = new Set<string>();
  const isSet: Set<string>[] = [new Set()];
  const noteRead = (tokens: readonly JinjaToken[]): void => {
    for (const name of namesRead(tokens)) {
      if (!isSet.some((names) => names.has(name))) read.add(name);
    }
  };
  for (const { kind, tokens } of tags) {
    const [first, ...rest] = tokens;
    if (kind === 'expression' || first === undefined) {
      noteRead(tokens);
      continue;
    }
    const statement = first.text;
    if (statement.startsWith('end')) {
      if (scopes.has(statement.slice(3)) && isSet.length > 1) isSet.pop();
      continue;
    }
    const { names, values } = parted(statement, rest);
    // What is set is worked out before; the condition of a loop knows the loop's own names.
    if (statement !== 'for') noteRead(values);
    if (statement === 'macro') isSet.at(-1)?.add(rest[0]?.text ?? '');
    if (scopes.has(statement)) isSet.push(new Set());
    for (const name of names) isSet.at(-1)?.add(name);
    if (statement === 'for') noteRead(values);
  }
  return [...read].toSorted();
}

interface Parts {
  readonly names: readonly string[];
  readonly values: readonly JinjaToken[];
}

/** The names that a statement sets, and the tokens of what it reads. */
function parted(statement: string, tokens: readonly JinjaToken[]): Parts {
  switch (statement) {
    case 'set':
      return partedAt(tokens, tokens.findIndex(isAssignment));
    case 'for':
      return partedAt(
        tokens,
        tokens.findIndex(({ text }) => text === 'in'),
      );
    case 'macro':
    case 'call':
      return {
        names: words(tokens.filter((_, at) => opensParameter.has(tokens[at - 1]?.text ?? ''))),
        values: tokens.filter((_, at) => isAssignment(tokens[at - 1])),
      };
    case 'with':
      return { names: words(tokens.filter((_, at) => isAssignment(tokens[at + 1]))), values: tokens };
    default:
      return { names: [], values: tokens };
  }
}

const opensParameter: ReadonlySet<string> = new Set(['(', ',']);

function isAssignment(token: JinjaToken | undefined): boolean {
  return token?.text === '=';
}

/** Without a sign of where the values begin all is names: what follows is set up to the end of a block. */
function partedAt(tokens: readonly JinjaToken[], at: number): Parts {
  const names = at < 0 ? tokens : tokens.slice(0, at);
  // A member of an object is set in that object.
  const isMember = names.some(({ text }) => text === '.');
  return { names: isMember ? [] : words(names), values: at < 0 ? [] : tokens.slice(at + 1) };
}

function words(tokens: readonly JinjaToken[]): string[] {
  return tokens.flatMap(({ kind, text }) => (kind === 'word' ? [text] : []));
}

/** Names of values: neither members, filters and tests nor names of arguments. */
function namesRead(tokens: readonly JinjaToken[]): string[] {
  return tokens.flatMap(({ kind, text }, at) => {
    if (kind !== 'word' || reserved.has(text) || isAssignment(tokens[at + 1])) return [];
    const before = tokens[at - 1]?.text;
    const isTest = before === 'is' || (before === 'not' && tokens[at - 2]?.text === 'is');
    return before === '.' || before === '|' || isTest ? [] : [text];
  });
}
