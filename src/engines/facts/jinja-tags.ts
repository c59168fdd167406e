/** The tags of a Jinja source, cut into tokens as Jinja's own lexer cuts them. Knows no statement and evaluates nothing. */
export interface JinjaToken {
  readonly kind: 'word' | 'sign' | 'literal';
  readonly text: string;
}

export interface JinjaTag {
  readonly kind: 'statement' | 'expression';
  readonly tokens: readonly JinjaToken[];
}

const opening = /\{([{%#])[-+]?/g;
/** As in Jinja, a text goes on to its quote, whatever stands in it. */
const token =
  /\s+|(?<text>'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*")|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<number>\d[\d_.]*)|(?<sign>[=!<>]=|[^])/uy;
const ends = { '%': /[-+]?%\}/y, '{': /[-+]?\}\}/y } as const;

/** @returns undefined where a tag has no end */
export function jinjaTags(source: string): readonly JinjaTag[] | undefined {
  const tags: JinjaTag[] = [];
  opening.lastIndex = 0;
  for (;;) {
    const open = opening.exec(source);
    if (open === null) return tags;
    const sign = open[1];
    if (sign === '%' || sign === '{') {
      const tokens = tokensUpTo(ends[sign], source, opening.lastIndex);
      if (tokens === undefined) return undefined;
      tags.push({ kind: sign === '%' ? 'statement' : 'expression', tokens: tokens.found });
      opening.lastIndex = tokens.end;
    } else {
      const end = source.indexOf('#}', opening.lastIndex);
      if (end < 0) return undefined;
      opening.lastIndex = end + 2;
    }
  }
}

/** Inside of brackets no tag ends: `}}` closes two objects there. */
function tokensUpTo(
  end: RegExp,
  source: string,
  start: number,
): { readonly found: readonly JinjaToken[]; readonly end: number } | undefined {
  const found: JinjaToken[] = [];
  let depth = 0;
  let at = start;
  while (at < source.length) {
    end.lastIndex = at;
    if (depth === 0 && end.test(source)) return { found, end: end.lastIndex };
    token.lastIndex = at;
    const { text, word, number, sign } = token.exec(source)?.groups ?? {};
    at = token.lastIndex;
    if (word !== undefined) found.push({ kind: 'word', text: word });
    else if (text !== undefined || number !== undefined) found.push({ kind: 'literal', text: '' });
    else if (sign !== undefined) {
      // A text without an end.
      if (sign === '"' || sign === "'") return undefined;
      found.push({ kind: 'sign', text: sign });
      if ('([{'.includes(sign)) depth += 1;
      else if (')]}'.includes(sign)) depth = Math.max(0, depth - 1);
    }
  }
  return undefined;
}
