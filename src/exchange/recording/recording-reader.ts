/**
 * Reads a recording's text and checks every line of it, so that nobody behind it meets a value of another shape. All
 * mistakes at once, none thrown; what is wrong is named by line and member, and no value is repeated.
 */
import { isObject, parseJson } from '../json/body-reader.ts';
import { findJsonFault } from '../json/json-fault.ts';
import type { Shape } from '../json/json-shape.ts';
import type { ModelFacts } from '../model-facts.ts';
import { recordedExchange, recordedFacts, recordingHeader } from './recording-members.ts';
import { recordingVersion, type RecordingEntry, type RecordingLine } from './recording.ts';

/** What is wrong with a line of a file: where, what was given, what is allowed, what to do. Holds no value of the file. */
export interface LineMistake {
  readonly line: number;
  readonly column?: number;
  readonly message: string;
}

export interface RecordingReading {
  readonly entries: readonly RecordingEntry[];
  /** All of them at once; entries are there for the other lines. */
  readonly mistakes: readonly LineMistake[];
}

/** True if the text's first line says that a recording follows. */
export function isRecording(text: string): boolean {
  const first = parseJson(text.trimStart().split('\n', 1)[0] ?? '');
  return isObject(first) && first['type'] === 'recording';
}

/** Reads a whole file. Blank lines and members that this version does not know are passed over. */
export function readRecording(text: string): RecordingReading {
  const factsByHash = new Map<string, ModelFacts>();
  const entries: RecordingEntry[] = [];
  const mistakes: LineMistake[] = [];
  for (const [index, lineText] of text.split('\n').entries()) {
    if (lineText.trim() === '') continue;
    const line = index + 1;
    const read = readLine(lineText);
    if ('message' in read) mistakes.push({ ...read, line });
    else if (read.type === 'facts') factsByHash.set(read.hash, read.facts);
    else if (read.type === 'exchange') {
      const facts = factsByHash.get(read.facts);
      if (facts !== undefined) entries.push({ line, exchange: read, facts });
      else {
        const message = `the exchange names the facts ${JSON.stringify(read.facts)}, and no line above has them: keep the facts lines of the file it comes from`;
        mistakes.push({ line, message });
      }
    }
  }
  return { entries, mistakes };
}

function readLine(text: string): RecordingLine | Omit<LineMistake, 'line'> {
  const json = parseJson(text);
  if (!isObject(json)) {
    const fault = findJsonFault(text);
    if (fault === undefined) return { message: 'the line is no object; allowed: one JSON object a line' };
    return { column: fault.column, message: `not valid JSON: ${fault.message}` };
  }
  const shape = shapes.get(json['type']);
  if (shape === undefined) {
    return { message: '"type" is none of a recording; allowed: "recording", "facts", "exchange"' };
  }
  const message = shape(json, '');
  if (message !== undefined) return { message };
  if (json['type'] === 'recording' && json['version'] !== recordingVersion) {
    return {
      message: `"version" is not ${recordingVersion}, the only one that this tokenweir reads: use the one that wrote the file, or record anew`,
    };
  }
  // Types and shapes can't differ: recording-members.ts has one shape for each member of the type.
  return json as unknown as RecordingLine;
}

const shapes: ReadonlyMap<unknown, Shape> = new Map([
  ['recording', recordingHeader],
  ['facts', recordedFacts],
  ['exchange', recordedExchange],
]);
