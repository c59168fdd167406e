/** Byte-range edits: the only way a body is ever changed. A body is never parsed and serialised again. */

export interface Edit {
  /** Byte offsets into the original body, half open. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/**
 * Applies edits to a copy of the body; the bytes outside the edits are kept as they are.
 * @throws RangeError if edits overlap or lie outside the body.
 */
export function applyEdits(body: Buffer, edits: readonly Edit[]): Buffer {
  const ordered = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  const parts: Buffer[] = [];
  let kept = 0;
  for (const edit of ordered) {
    if (edit.start < kept || edit.end < edit.start || edit.end > body.length) {
      throw new RangeError(
        `edit ${edit.start}–${edit.end} overlaps another or lies outside the ${body.length} byte body`,
      );
    }
    parts.push(body.subarray(kept, edit.start), Buffer.from(edit.replacement));
    kept = edit.end;
  }
  parts.push(body.subarray(kept));
  return Buffer.concat(parts);
}
