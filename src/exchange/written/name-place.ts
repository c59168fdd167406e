/** Where a name stands as a word of its own: not as a part of a longer one. */

/** Of its first place from there on, up to `end`; -1 if there is none. */
export function namePlace(text: string, name: string, from = 0, end = text.length): number {
  const within = end < text.length ? text.slice(0, end) : text;
  for (let at = within.indexOf(name, from); at >= 0; at = within.indexOf(name, at + 1)) {
    if (standsAlone(text, at, name.length)) return at;
  }
  return -1;
}

/** True if the characters around it are no part of a name. */
export function standsAlone(text: string, at: number, length: number): boolean {
  return !isNameCharacter(text[at - 1]) && !isNameCharacter(text[at + length]);
}

const nameCharacter = /[\p{L}\p{N}_-]/u;
/** By code; undefined beyond ASCII. */
const asciiNames: readonly boolean[] = Array.from({ length: 0x80 }, (_, code) =>
  nameCharacter.test(String.fromCharCode(code)),
);

export function isNameCharacter(character: string | undefined): boolean {
  if (character === undefined || character === '') return false;
  return asciiNames[character.charCodeAt(0)] ?? nameCharacter.test(character);
}
