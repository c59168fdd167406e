// Reads the recorded replies of this folder; record.ts writes them and says what each was an answer to.
import { readFileSync } from 'node:fs';

export interface Recording {
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  /** The reply's bytes as they came. */
  readonly bytes: Buffer;
}

export function readRecording(name: string): Recording {
  const file = readFileSync(new URL(`./${name}.txt`, import.meta.url));
  const end = file.indexOf('\n\n');
  const told = JSON.parse(file.toString('utf8', 0, end)) as Omit<Recording, 'bytes'>;
  return {
    path: told.path,
    status: told.status,
    contentType: told.contentType,
    bytes: file.subarray(end + 2),
  };
}
