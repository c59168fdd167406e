// Generates chats of a wanted length: prose with a little code and CJK, different in every turn, the same on every run.

const words =
  'the engine reads tokens not text and a prefix that changes early costs every token behind it while one that grows at its end costs almost nothing 漢字 naïve façade function return const await value index table'.split(
    ' ',
  );

/** Deterministic pseudo-random numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function prose(random: () => number, wordCount: number): string {
  return Array.from({ length: wordCount }, () => words[Math.floor(random() * words.length)] ?? '').join(' ');
}

export interface Message {
  readonly role: string;
  readonly content: string;
}

/** A system message and `turns` user turns with the answers between them; about 1.3 tokens a word. */
export function chat(turns: number, wordsPerTurn: number, seed = 1): Message[] {
  const random = seeded(seed);
  const messages: Message[] = [{ role: 'system', content: prose(random, 60) }];
  for (let turn = 0; turn < turns; turn += 1) {
    messages.push({ role: 'user', content: prose(random, wordsPerTurn) });
    if (turn < turns - 1) messages.push({ role: 'assistant', content: prose(random, wordsPerTurn) });
  }
  return messages;
}
