/**
 * Where a text stands in another, for texts that may be very long. What is likely there is compared at once and natively:
 * `startsWith` is not, once V8 has optimised its caller, but compares character by character.
 */

/** True if the text stands there; as `startsWith`. */
export function standsAt(text: string, needle: string, at: number): boolean {
  return text.slice(at, at + needle.length) === needle;
}

/** So many of a long text's first characters are looked for; the rest is compared where they are found. */
const headLength = 128;
/** Where the head stands again and again, comparing at each place would not be linear. */
const mostHeads = 16;

/** As `indexOf`. */
export function placeOf(text: string, needle: string, from = 0): number {
  if (needle.length <= headLength * 2) return text.indexOf(needle, from);
  const head = needle.slice(0, headLength);
  let at = text.indexOf(head, from);
  for (let tried = 0; at >= 0 && tried < mostHeads; tried += 1) {
    if (standsAt(text, needle, at)) return at;
    at = text.indexOf(head, at + 1);
  }
  return at < 0 ? -1 : text.indexOf(needle, at);
}

/** True if the text holds what was sent, as it is or as JSON writes it. */
export function holdsSent(text: string, sent: string): boolean {
  return text.includes(sent) || text.includes(JSON.stringify(sent).slice(1, -1));
}

/** As `trim`, which takes longer to find out that most texts have no white space at their ends. */
export function trimmed(text: string): string {
  return isVisible(text.charCodeAt(0)) && isVisible(text.charCodeAt(text.length - 1)) ? text : text.trim();
}

/** Of ASCII; NaN is none. */
function isVisible(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}
