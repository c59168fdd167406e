/**
 * The proof that a text is a hard boundary: tokens(c + t + c′) = tokens(c), id, tokens(c′) for contexts c, c′ that are
 * known to break weaker rules. "Maps to one id" is not enough: Gemma 3 has one id for two newlines, and cutting there
 * breaks three. White space behind a marker may be swallowed (Phi-3), in front of it not: prompts are cut before markers.
 * Pure: it says what to tokenize and judges the answers.
 */
import type { Marker } from '../exchange/model-facts.ts';

/** Tokenizes each text on its own, without added BOS or EOS, with control tokens recognised. */
export type TokenizeMany = (texts: readonly string[]) => Promise<readonly Uint32Array[]>;

function contextsFor(text: string): string[] {
  const characters = Array.from(text);
  return [...new Set(['', 'a', '7', ' ', '\n', characters[0] ?? '', characters.at(-1) ?? '', text])];
}

function sameIds(ids: Uint32Array, ...parts: ArrayLike<number>[]): boolean {
  let at = 0;
  for (const part of parts) {
    for (const id of Array.from(part)) {
      if (ids[at] !== id) return false;
      at += 1;
    }
  }
  return at === ids.length;
}

/** Returns the candidates that are boundaries, longest first. Two calls of the tokenizer whatever their number. */
export async function proveBoundaries(
  candidates: readonly string[],
  tokenizeMany: TokenizeMany,
): Promise<Marker[]> {
  if (candidates.length === 0) return [];
  const alone = await tokenizeMany(candidates);
  const single: Marker[] = [];
  candidates.forEach((text, index) => {
    const ids = alone[index];
    const id = ids?.[0];
    if (ids?.length === 1 && id !== undefined) single.push({ text, id });
  });

  // Every distinct text is asked once: contexts recur in each candidate's proof.
  const asked = new Map<string, number>();
  const ask = (text: string): void => {
    if (!asked.has(text)) asked.set(text, asked.size);
  };
  for (const marker of single) {
    const contexts = contextsFor(marker.text);
    for (const before of contexts) {
      ask(before);
      for (const after of contexts) ask(before + marker.text + after);
    }
  }
  asked.delete('');
  const texts = [...asked.keys()];
  const answers = await tokenizeMany(texts);
  const idsOf = new Map(texts.map((text, index) => [text, answers[index] ?? new Uint32Array()]));
  idsOf.set('', new Uint32Array());
  const empty = new Uint32Array();

  return single
    .filter((marker) => {
      const contexts = contextsFor(marker.text);
      const ids = (text: string): Uint32Array => idsOf.get(text) ?? empty;
      return contexts.every((before) =>
        contexts.every((after) => {
          const whole = ids(before + marker.text + after);
          return [after, after.trimStart()].some((kept) =>
            sameIds(whole, ids(before), [marker.id], ids(kept)),
          );
        }),
      );
    })
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
    kind: sameIds(ordinary[index] ?? new Uint32Array(), [marker.id]) ? 'user-defined' : 'control',
  }));
}
