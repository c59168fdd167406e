/**
 * What a JSON value must look like, as functions: to check a file that others wrote and to say what was given, where,
 * and what is allowed. Mistakes name members and types, never a value: that could be prompt text.
 */
import { isArray, isObject } from './body-reader.ts';
import type { Json } from '../request/request.ts';

/** @returns the first mistake in words, e.g. `"facts.slots" is missing; allowed: a whole number, 0 or more`. */
export type Shape = (value: Json | undefined, path: string) => string | undefined;

export type Members = Readonly<Record<string, Shape>>;

export const text = shape('a text', (value) => typeof value === 'string');
export const flag = shape('true or false', (value) => typeof value === 'boolean');
export const wholeNumber = shape(
  'a whole number, 0 or more',
  (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0,
);

/** @param allowed in words, after "allowed: " */
export function shape(allowed: string, holds: (value: Json | undefined) => boolean): Shape {
  return (value, path) => (holds(value) ? undefined : `"${path}" is ${typeName(value)}; allowed: ${allowed}`);
}

export function oneOf(values: readonly string[]): Shape {
  const allowed = values.map((value) => JSON.stringify(value)).join(', ');
  return shape(allowed, (value) => typeof value === 'string' && values.includes(value));
}

export function listOf(item: Shape): Shape {
  const list = shape('a list', isArray);
  return (value, path) => {
    if (!isArray(value)) return list(value, path);
    return firstOf(value.length, (index) => item(value[index], `${path}[${index}]`));
  };
}

/** The member may be left out; null is not the same. */
export function optional(whole: Shape): Shape {
  return (value, path) => (value === undefined ? undefined : whole(value, path));
}

/** Members that are not named may be anything. */
export function object(members: Members): Shape {
  const entries = Object.entries(members);
  const some = shape(`an object with ${Object.keys(members).join(', ')}`, isObject);
  return (value, path) => {
    if (!isObject(value)) return some(value, path);
    const inner = path === '' ? '' : `${path}.`;
    return firstOf(entries.length, (index) => {
      const [name = '', member] = entries[index] ?? [];
      return member?.(value[name], inner + name);
    });
  };
}

/** One of several forms of objects, told apart by the member that only one of them has. */
export function byMember(forms: Readonly<Record<string, Shape>>): Shape {
  const names = Object.keys(forms);
  const none = shape(`an object with one of ${names.join(', ')}`, () => false);
  return (value, path) => {
    const name = names.find((one) => isObject(value) && value[one] !== undefined);
    return (name === undefined ? none : (forms[name] ?? none))(value, path);
  };
}

function firstOf(count: number, mistakeAt: (index: number) => string | undefined): string | undefined {
  for (let index = 0; index < count; index += 1) {
    const mistake = mistakeAt(index);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

function typeName(value: Json | undefined): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (isArray(value)) return 'another list';
  switch (typeof value) {
    case 'string':
      return 'another text';
    case 'number':
      return 'another number';
    case 'boolean':
      return 'true or false';
    default:
      return 'another object';
  }
}
