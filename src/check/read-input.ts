/**
 * From a file's bytes to what is to be checked: one JSON value, JSON Lines, or a recording. What can't be read is said
 * with its line; nothing is mended, and nothing of a file's texts is repeated.
 */
import { constants, isUtf8 } from 'node:buffer';

import { isArray, isObject, parseJson } from '../exchange/json/body-reader.ts';
import { applyEdits } from '../exchange/edits.ts';
import { findJsonFault } from '../exchange/json/json-fault.ts';
import { jsonStart } from '../exchange/json/json-bytes.ts';
import { locateValue } from '../exchange/json/json-offsets.ts';
import { referenceShape } from '../exchange/recording/recording-members.ts';
import { isRecording, readRecording } from '../exchange/recording/recording-reader.ts';
import type { RecordingEntry } from '../exchange/recording/recording.ts';
import type { Reference } from '../exchange/reference.ts';
import { maxTokenId } from '../exchange/request/raw-prompt.ts';
import { readableKinds, readRequest, type RequestKind } from '../exchange/request/request-reader.ts';
import type { Json, JsonObject, UnreadableReason } from '../exchange/request/request.ts';
import type { CheckInput, InputMistake, InputReading } from './input.ts';
import { guessRoute } from './route-guess.ts';

const renderedMember = 'rendered_request';
const referenceMember = 'reference';
const tooLarge = `it holds more than ${Math.floor(constants.MAX_STRING_LENGTH / 1024 / 1024)} MiB; split it into several files`;
const forms = `a request body ("messages", "prompt" or "input"), a trace ("messages" and "${renderedMember}"), or a recording`;

/** @param route of requests, where their shape is not to say it; traces and recordings know theirs. */
export function readInput(file: string, bytes: Buffer, route?: RequestKind): InputReading {
  if (bytes.length > constants.MAX_STRING_LENGTH) return mistaken(file, tooLarge);
  if (!isUtf8(bytes)) return mistaken(file, faults['not-utf8']);
  const text = bytes.toString('utf8', jsonStart(bytes));
  if (text.trim() === '') return mistaken(file, `there is nothing in it; allowed: ${forms}`);
  if (isRecording(text)) return readRecorded(file, text);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  // A body that is written over several lines has none on its first.
  if (lines.length > 1 && isObject(parseJson(lines[0] ?? ''))) return readLines(file, text, route);
  const fault = parseJson(text) === undefined ? findJsonFault(text) : undefined;
  if (fault !== undefined) {
    return mistaken(`${file}:${fault.line}:${fault.column}`, `not valid JSON: ${fault.message}`);
  }
  return gathered([readOne(file, bytes, route)]);
}

function readLines(file: string, text: string, route: RequestKind | undefined): InputReading {
  const read = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `${file}:${index + 1}`;
    const fault = parseJson(line) === undefined ? findJsonFault(line) : undefined;
    if (fault === undefined) return [readOne(where, Buffer.from(line), route)];
    return [{ where: `${where}:${fault.column}`, message: `not valid JSON: ${fault.message}` }];
  });
  return gathered(read);
}

function readRecorded(file: string, text: string): InputReading {
  const { entries, mistakes } = readRecording(text);
  if (entries.length === 0 && mistakes.length === 0) {
    return mistaken(file, 'the recording holds no exchange; record one with --record');
  }
  const read = gathered(entries.map((entry) => readEntry(`${file}:${entry.line}`, entry)));
  const inLines = mistakes.map(({ line, column, message }) => ({
    where: [file, line, ...(column === undefined ? [] : [column])].join(':'),
    message,
  }));
  return { inputs: read.inputs, mistakes: [...inLines, ...read.mistakes] };
}

function readEntry(source: string, entry: RecordingEntry): CheckInput | InputMistake {
  const { body, prompts, route, reference } = entry.exchange;
  if (body === undefined || prompts.some((prompt) => 'pseudonyms' in prompt)) {
    return {
      where: source,
      message:
        'the exchange was recorded with pseudonyms and no text, from which nothing can be judged; allowed: exchanges with "body" and "ids", as --record writes them',
    };
  }
  const kind = readableKinds.find((readable) => readable === route.kind);
  if (kind === undefined) {
    return {
      where: source,
      message: `the exchange is of the route "${route.kind}", which is not inspected; allowed: ${readableKinds.join(', ')}`,
    };
  }
  const reading = readRequest(Buffer.from(body), kind);
  if (!reading.readable) return { where: source, message: `its "body": ${unreadable(reading.reason, kind)}` };
  return {
    form: 'recorded',
    source,
    kind,
    request: reading.request,
    entry,
    ...(reference && { reference }),
  };
}

function readOne(source: string, bytes: Buffer, route: RequestKind | undefined): CheckInput | InputMistake {
  const json = parseJson(bytes.toString('utf8', jsonStart(bytes)));
  if (!isObject(json)) return { where: source, message: `it is no JSON object; allowed: ${forms}` };
  const referenced = referenceIn(json);
  if (typeof referenced === 'string') return { where: source, message: referenced };
  if (json[renderedMember] !== undefined) return readTrace(source, bytes, json, referenced);
  const guess = route === undefined ? guessRoute(json) : { kind: route };
  if (guess === undefined) {
    const names = Object.keys(json)
      .slice(0, 8)
      .map((name) => JSON.stringify(name));
    const given = names.length === 0 ? 'it has no members' : `its members are ${names.join(', ')}`;
    return {
      where: source,
      message: `${given}, which say not what it is; allowed: ${forms}. If it is a request, name its route with --route`,
    };
  }
  const { kind, byToolsAlone } = guess;
  const reading = readRequest(referenced === undefined ? bytes : without(bytes, [referenceMember]), kind);
  return reading.readable
    ? {
        form: 'request',
        source,
        kind,
        request: reading.request,
        ...(referenced && { reference: referenced }),
        ...(byToolsAlone && { byToolsAlone }),
      }
    : { where: source, message: unreadable(reading.reason, kind) };
}

/**
 * The reference that a body carries, or in words what is wrong with it. A member of that name that is nothing like one is
 * the client's own.
 */
function referenceIn({ [referenceMember]: given }: JsonObject): Reference | string | undefined {
  if (!isObject(given) || given['by'] === undefined) return undefined;
  // Types and shapes can't differ: recording-members.ts has one shape for each member of the type.
  return referenceShape(given, referenceMember) ?? (given as unknown as Reference);
}

/** The body with `null` for what is not the client's: every other byte stays where it says so. */
function without(bytes: Buffer, members: readonly string[]): Buffer {
  const edits = members.flatMap((member) => {
    const range = locateValue(bytes, [member]);
    return range === undefined ? [] : [{ ...range, replacement: 'null' }];
  });
  return applyEdits(bytes, edits);
}

function readTrace(
  source: string,
  bytes: Buffer,
  json: JsonObject,
  reference: Reference | undefined,
): CheckInput | InputMistake {
  const rendered = json[renderedMember];
  if (!isRendered(rendered)) {
    return {
      where: source,
      message: `"${renderedMember}" is neither a text nor token ids; allowed: the prompt as one text, or its ids as a list of whole numbers from 0 to ${maxTokenId}`,
    };
  }
  const cut = reference === undefined ? [renderedMember] : [renderedMember, referenceMember];
  const reading = readRequest(without(bytes, cut), 'chat');
  if (!reading.readable) {
    const message = reading.reason === 'wrong-shape' ? noTrace : faults[reading.reason];
    return { where: source, message };
  }
  if (reading.request.kind !== 'chat') throw new Error('a chat body was read as something else');
  return {
    form: 'trace',
    source,
    kind: 'chat',
    request: reading.request,
    rendered,
    ...(reference && { reference }),
  };
}

function isRendered(value: Json | undefined): value is string | readonly number[] {
  if (typeof value === 'string') return true;
  return (
    isArray(value) &&
    value.every((id) => typeof id === 'number' && Number.isInteger(id) && id >= 0 && id <= maxTokenId)
  );
}

const shapes: Readonly<Record<RequestKind, string>> = {
  chat: '"messages", a list with at least one object, each with a "role"',
  completion: '"prompt", a text, a list of token ids, or a list of those',
  messages: '"messages", a list with at least one object, each with a "role" and a "content"',
  responses: '"input", a text or a list of items',
};

const faults: Readonly<Record<Exclude<UnreadableReason, 'wrong-shape'>, string>> = {
  'not-json': 'it is not valid JSON',
  'not-utf8': `the bytes are no UTF-8; allowed: ${forms}, as UTF-8`,
  'lone-surrogate': 'it holds half a surrogate pair as an escape (\\ud800 to \\udfff); engines refuse that',
  'too-deep': 'it is nested more deeply than anybody reads',
  'too-many-values': 'it holds more values than anybody reads',
  'too-much-text': 'it holds more text than anybody reads',
};

const noTrace = `it has "${renderedMember}", as traces have, and is no conversation; allowed beside that: ${shapes.chat}. A text prompt is checked without that member`;

function unreadable(reason: UnreadableReason, kind: RequestKind): string {
  if (reason !== 'wrong-shape') return faults[reason];
  return `it is no body of the route "${kind}"; allowed there: ${shapes[kind]}. Another route is named with --route`;
}

function mistaken(where: string, message: string): InputReading {
  return { inputs: [], mistakes: [{ where, message }] };
}

function gathered(read: readonly (CheckInput | InputMistake)[]): InputReading {
  return {
    inputs: read.filter((one) => 'form' in one),
    mistakes: read.filter((one) => 'where' in one),
  };
}
