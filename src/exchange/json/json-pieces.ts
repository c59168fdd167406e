/**
 * Takes a JSON value apart into pieces of bounded work and joins them again, so that a large one can be moved between
 * threads without stopping either for long. What is joined equals what was taken apart, key order included.
 */
import { isArray, isObject } from './body-reader.ts';
import type { Json, JsonObject } from '../request/request.ts';

/** What one entry of `codes` says. Values and keys are taken from `values` in order. */
const code = { scalar: 0, key: 1, openArray: 2, openObject: 3, close: 4, fragment: 5 } as const;

/** A stretch of the value's depth-first walk. */
export interface JsonPiece {
  readonly codes: Uint8Array;
  readonly values: readonly Scalar[];
}

/** Characters that cost as much to copy as one more value. */
const charactersPerValue = 256;
/** Longer strings are moved in fragments: copying one of 64 MiB whole stops a thread for 50–130 ms. */
const fragmentCharacters = 4_194_304;

type Scalar = string | number | boolean | null;
type Entry = readonly [code: number, value?: Scalar];

/** Pieces of about `pieceValues` values and keys; the characters of strings count too. */
export function* takeApart(json: Json, pieceValues: number): Generator<JsonPiece, void, undefined> {
  let codes: number[] = [];
  let values: Scalar[] = [];
  let weight = 0;
  for (const [entry, value] of walk(json)) {
    codes.push(entry);
    if (value !== undefined) values.push(value);
    weight += 1 + (typeof value === 'string' ? value.length / charactersPerValue : 0);
    if (weight < pieceValues) continue;
    yield { codes: Uint8Array.from(codes), values };
    codes = [];
    values = [];
    weight = 0;
  }
  if (codes.length > 0) yield { codes: Uint8Array.from(codes), values };
}

/** The depth-first walk, without recursion. */
function* walk(json: Json): Generator<Entry, void, undefined> {
  const open: Iterator<readonly [string | undefined, Json]>[] = [[[undefined, json] as const].values()];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const step = level.next();
    if (step.done === true) {
      open.pop();
      if (open.length > 0) yield [code.close];
      continue;
    }
    const [key, value] = step.value;
    if (key !== undefined) yield* inFragments(code.key, key);
    if (isArray(value)) {
      yield [code.openArray];
      open.push(elements(value));
    } else if (isObject(value)) {
      yield [code.openObject];
      open.push(members(value));
    } else if (typeof value === 'string') {
      yield* inFragments(code.scalar, value);
    } else {
      yield [code.scalar, value];
    }
  }
}

function* inFragments(entry: number, text: string): Generator<Entry, void, undefined> {
  let start = 0;
  for (; text.length - start > fragmentCharacters; start += fragmentCharacters) {
    yield [code.fragment, text.slice(start, start + fragmentCharacters)];
  }
  yield [entry, text.slice(start)];
}

function* elements(array: readonly Json[]): Generator<readonly [undefined, Json], void, undefined> {
  for (const element of array) yield [undefined, element];
}

function* members(object: JsonObject): Generator<readonly [string, Json], void, undefined> {
  for (const key of Object.keys(object)) yield [key, object[key] ?? null];
}

type Container = Json[] | Record<string, Json>;

/** Joins pieces in the order in which they were made. States: `result` is absent until the last piece was added. */
export class JsonJoiner {
  readonly #open: Container[] = [];
  readonly #keys: string[] = [];
  /** The fragments so far of the string that is being moved; '' between strings. */
  #fragments = '';
  #root: Json | undefined;

  /** @throws RangeError for pieces that are not what `takeApart` made. */
  add(piece: JsonPiece): void {
    let next = 0;
    for (const entry of piece.codes) {
      if (entry === code.close) this.#close();
      else if (entry === code.openArray) this.#place([]);
      else if (entry === code.openObject) this.#place({});
      else {
        const value = piece.values[next];
        next += 1;
        if (value === undefined) throw new RangeError('a JSON piece has fewer values than its codes ask for');
        if (typeof value === 'string') this.#string(entry, value);
        else this.#place(value);
      }
    }
  }

  get result(): Json | undefined {
    return this.#open.length === 0 ? this.#root : undefined;
  }

  #string(entry: number, text: string): void {
    const whole = this.#fragments + text;
    this.#fragments = entry === code.fragment ? whole : '';
    if (entry === code.key) this.#keys.push(whole);
    else if (entry === code.scalar) this.#place(whole);
  }

  #place(value: Container | Scalar): void {
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#root = value;
    else if (Array.isArray(parent)) parent.push(value);
    else setMember(parent, this.#keys.pop() ?? '', value);
    if (typeof value === 'object' && value !== null) this.#open.push(value);
  }

  #close(): void {
    if (this.#open.pop() === undefined) throw new RangeError('a JSON piece closes more than was opened');
  }
}

/** Assigning to `__proto__` would set the prototype; JSON.parse makes it a key like any other. */
function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
