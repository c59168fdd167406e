/** Text from a model file or a client, made safe for one line of a terminal. Nothing is printed unescaped but through this. */

/** Control, format (bidirectional overrides among them), unassigned and private characters; all spaces but the usual one. */
const unprintable = /(?! )[\p{C}\p{Z}]/gu;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Characters that would move the cursor, or show as nothing, are written as escapes. */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => short[character] ?? escaped(character));
}

/** In double quotes, with its own quotes and backslashes escaped, so that spaces at the ends can be seen. */
export function quoted(text: string): string {
  return `"${printable(text.replace(/["\\]/g, '\\$&'))}"`;
}

/** Bytes that are no character of their own: `"\xe2\x80"`. */
export function quotedBytes(bytes: readonly number[]): string {
  return `"${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16).padStart(2, '0');
  // Above ASCII `\x` would look like a byte.
  return code < 0x80 ? `\\x${digits}` : `\\u{${digits}}`;
}
