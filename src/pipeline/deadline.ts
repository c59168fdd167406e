/** Waiting for promises, but not for ever. */

/** @returns what `work` resolves to, or undefined once `milliseconds` are over; the work itself goes on. */
export async function deadline<Value>(
  work: Promise<Value>,
  milliseconds: number,
): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(
      () => {
        resolve(undefined);
      },
      Math.max(0, milliseconds),
    );
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** @returns a function that tells how many of the milliseconds are left; negative once they are over. */
export function countdown(milliseconds: number): () => number {
  const started = performance.now();
  return () => milliseconds - (performance.now() - started);
}
