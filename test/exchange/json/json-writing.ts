// Writes a JSON value as clients might: any white space, any escapes, duplicate keys. The seed makes it repeatable.
import type { Json } from '../../../src/exchange/request/request.ts';

/** A repeatable source of numbers in [0, bound). */
export type Choose = (bound: number) => number;

export function chooser(seed: number): Choose {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * bound);
  };
}

const shortEscapes = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['/', '\\/'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

export function writeString(text: string, choose: Choose): string {
  let written = '"';
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const character = text.charAt(index);
    const isPairHalf = unit >= 0xd800 && unit <= 0xdfff;
    const mustEscape = unit < 0x20 || character === '"' || character === '\\';
    const style = choose(4);
    const hex = unit.toString(16).padStart(4, '0');
    if (style === 0 && !isPairHalf) written += `\\u${choose(2) === 0 ? hex : hex.toUpperCase()}`;
    else if (mustEscape || style === 1)
      written += shortEscapes.get(character) ?? (mustEscape ? `\\u${hex}` : character);
    else written += character;
  }
  return `${written}"`;
}

function space(choose: Choose): string {
  let written = '';
  while (choose(3) === 0) written += ' \n\r\t'.charAt(choose(4));
  return written;
}

export function writeJson(value: Json, choose: Choose): string {
  const write = (inner: Json): string => {
    const before = space(choose);
    const after = space(choose);
    if (typeof inner === 'string') return before + writeString(inner, choose) + after;
    if (Array.isArray(inner)) {
      const elements = (inner as readonly Json[]).map(write);
      return `${before}[${elements.join(',') || space(choose)}]${after}`;
    }
    if (typeof inner === 'object' && inner !== null) {
      const members = Object.entries(inner).map(
        ([key, member]) => `${space(choose)}${writeString(key, choose)}${space(choose)}:${write(member)}`,
      );
      // An earlier duplicate must lose against the later one.
      const [key] = Object.keys(inner);
      if (key !== undefined && choose(4) === 0) members.unshift(`${writeString(key, choose)}:[0,"}"]`);
      return `${before}{${members.join(',') || space(choose)}}${after}`;
    }
    return before + JSON.stringify(inner) + after;
  };
  return write(value);
}
