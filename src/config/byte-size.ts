/** Byte sizes as people write them: `67108864` or `64MiB`. Binary units only: `MB` is refused because it is read both ways. */

const unitBytes = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;
type Unit = keyof typeof unitBytes;
const largestFirst: readonly Unit[] = ['GiB', 'MiB', 'KiB'];

/**
 * Reads `64MiB`, `1.5 GiB`, `512` or `67108864`; units in any case.
 * @returns whole bytes, or undefined if the text is not a size or not a whole number of bytes.
 */
export function parseByteSize(text: string): number | undefined {
  const match = /^(\d{1,16}(?:\.\d{1,6})?)\s*([a-z]*)$/i.exec(text.trim());
  if (!match) return undefined;
  const [, digits = '', suffix = ''] = match;
  const unit = suffix === '' ? 'B' : unitNamed(suffix);
  if (unit === undefined) return undefined;
  const bytes = Number(digits) * unitBytes[unit];
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Writes bytes with the largest unit that keeps the value exact: 65536 is `64KiB`, 1000 is `1000`. Reads back equal. */
export function formatByteSize(bytes: number): string {
  const unit = largestFirst.find((name) => bytes >= unitBytes[name] && bytes % unitBytes[name] === 0);
  return unit === undefined ? String(bytes) : `${bytes / unitBytes[unit]}${unit}`;
}

function unitNamed(suffix: string): Unit | undefined {
  const wanted = suffix.toLowerCase();
  return (Object.keys(unitBytes) as Unit[]).find((name) => name.toLowerCase() === wanted);
}
