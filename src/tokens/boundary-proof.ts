/**
 * The proof that a text is a hard boundary: tokens(c + t + c′) = tokens(c), id, tokens(c′) for contexts c, c′ that are
 * known to break weaker rules. "Maps to one id" is not enough: Gemma 3 has one id for two newlines, and cutting there
 * breaks three. White space behind a marker may be swallowed (Phi-3), in front of it not: prompts are cut before markers.
 * Pure: it says what to tokenize and judges the answers.
 */
import type { Marker } from '../exchange/model-facts.ts';

/** Tokenizes each text on its own, without added BOS or EOS, with control tokens recognised. */
export type TokenizeMany = (texts: readonly string[]) => Promise<readonly Uint32Array[]>;

/** Beside `text` itself, which is its own neighbour wherever the context between two of it is empty. */
function contextsFor(text: string): string[] {
  const characters = Array.from(text);
  return [...new Set(['', 'a', '7', ' ', '\n', characters[0] ?? '', characters.at(-1) ?? ''])];
}

/**
 * Each of the contexts before each (a de Bruijn sequence of order 2, closed). With the text between any two neighbours,
 * one context serves two proofs, and the engine is asked for half as many tokens as with a text for each.
 */
function inEveryOrder(contexts: readonly string[]): string[] {
  const ends = contexts.slice(0, 1);
  const sequence = contexts.flatMap((first, index) => [
    first,
    ...contexts.slice(index + 1).flatMap((second) => [first, second]),
  ]);
  // Once more in front: what stands at the beginning of a text has no neighbour before it.
  return [...ends, ...sequence, ...ends];
}

/** How a context came out behind the text: `swallowed` without the white space that it begins with. */
type Reading = 'kept' | 'swallowed' | 'merged';

/** The contexts as one text, the candidate between each two. */
function chainOf(candidate: string, contexts: readonly string[]): string {
  return contexts.join(candidate);
}

function readChain(ids: Uint32Array, id: number, contexts: readonly string[], idsOf: IdsOf): Reading {
  const last = contexts.length - 1;
  let reading: Reading = 'kept';
  let at = 0;
  for (const [index, context] of contexts.entries()) {
    const startsHere = (text: string): boolean => {
      const part = idsOf(text);
      const end = at + part.length;
      const isWhole = part.every((partId, offset) => ids[at + offset] === partId);
      return isWhole && (index === last ? end === ids.length : ids[end] === id);
    };
    const left = context.trimStart();
    const found = startsHere(context) ? context : index > 0 && startsHere(left) ? left : undefined;
    if (found === undefined) return 'merged';
    if (found !== context) reading = 'swallowed';
    at += idsOf(found).length + 1;
  }
  return reading;
}

type IdsOf = (text: string) => Uint32Array;

/** Asks for each text once: contexts recur in every candidate's proof. */
async function askOnce(texts: Iterable<string>, tokenizeMany: TokenizeMany): Promise<IdsOf> {
  const asked = [...new Set(texts)].filter((text) => text !== '');
  const answers = asked.length === 0 ? [] : await tokenizeMany(asked);
  const idsByText = new Map(asked.map((text, index) => [text, answers[index] ?? none]));
  return (text) => idsByText.get(text) ?? none;
}

const none = new Uint32Array();
const whiteSpace = [' ', '\n'];

/**
 * Returns the candidates that are boundaries, longest first. Two calls of the tokenizer whatever their number, and a third
 * where one swallows white space.
 */
export async function proveBoundaries(
  candidates: readonly string[],
  tokenizeMany: TokenizeMany,
): Promise<Marker[]> {
  const alone = await askOnce(candidates, tokenizeMany);
  const single = [...new Set(candidates)].flatMap((text) => {
    const [id, ...more] = alone(text);
    return id === undefined || more.length > 0
      ? []
      : [{ text, id, contexts: inEveryOrder(contextsFor(text)) }];
  });
  const chained = await askOnce(
    single.flatMap(({ text, contexts }) => [...contexts, chainOf(text, contexts)]),
    tokenizeMany,
  );
  const read = single.map((one) => ({
    ...one,
    reading: readChain(chained(chainOf(one.text, one.contexts)), one.id, one.contexts, chained),
  }));
  // What a chain shows to be swallowed stands between two of the text: it may be the one behind that swallows.
  const swallowing = read.filter(({ reading }) => reading === 'swallowed');
  const inFront = await askOnce(
    swallowing.flatMap(({ text }) => whiteSpace.map((space) => space + text)),
    tokenizeMany,
  );
  const keepsFront = ({ text, id }: Marker): boolean =>
    whiteSpace.every((space) => String(inFront(space + text)) === String([...chained(space), id]));
  return read
    .filter((one) => one.reading === 'kept' || (one.reading === 'swallowed' && keepsFront(one)))
    .map(({ text, id }) => ({ text, id }))
    .toSorted((a, b) => b.text.length - a.text.length || (a.text < b.text ? -1 : 1));
}

/**
 * Says of each marker whether it is one in any text or only where special tokens are parsed.
 * @param tokenizeOrdinary as `TokenizeMany`, but with control tokens read as the text that they are
 */
export async function withKinds(
  markers: readonly Marker[],
  tokenizeOrdinary: TokenizeMany,
): Promise<Marker[]> {
  if (markers.length === 0) return [];
  const ordinary = await tokenizeOrdinary(markers.map(({ text }) => text));
  return markers.map((marker, index) => ({
    ...marker,
    kind: String(ordinary[index] ?? none) === String(marker.id) ? 'user-defined' : 'control',
  }));
}
