/**
 * Header lists as they stand on the wire: name, value, name, value… in order, case and repetition as sent.
 * Only hop-by-hop fields are taken out (RFC 9110, section 7.6.1); nothing is added, joined or renamed.
 */

/** Fields that concern one connection only, and the framing fields that each hop writes for itself. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Flat list of names and values, as in node's `rawHeaders`. */
export type RawHeaders = readonly string[];

const none: ReadonlySet<string> = new Set();

function namedByConnection(headers: RawHeaders): ReadonlySet<string> {
  let named: Set<string> | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() !== 'connection') continue;
    for (const token of (headers[at + 1] ?? '').split(','))
      (named ??= new Set()).add(token.trim().toLowerCase());
  }
  return named ?? none;
}

/** The headers without hop-by-hop fields, without those that `Connection` names, and without `dropped` (lower case). */
export function endToEnd(headers: RawHeaders, dropped = none): string[] {
  const named = namedByConnection(headers);
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const lower = name.toLowerCase();
    if (hopByHop.has(lower) || named.has(lower) || dropped.has(lower)) continue;
    kept.push(name, headers[at + 1] ?? '');
  }
  return kept;
}

/** The first value of a field, '' if it is absent. `name` in lower case. */
export function firstValue(headers: RawHeaders, name: string): string {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() === name) return headers[at + 1] ?? '';
  }
  return '';
}

/** The headers with one field in place of all of that name, where it stood, or at the end. `name` in lower case. */
export function withValue(headers: RawHeaders, name: string, value: string): string[] {
  const changed: string[] = [];
  let isThere = false;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [field = '', given = ''] = headers.slice(at, at + 2);
    const isMeant = field.toLowerCase() === name;
    if (isMeant && isThere) continue;
    isThere ||= isMeant;
    changed.push(field, isMeant ? value : given);
  }
  return isThere ? changed : [...changed, name, value];
}
