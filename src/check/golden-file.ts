/**
 * Golden files: the ids that requests should have, in a file beside the file of the requests, one JSON object for each in
 * their order (docs/check.md). Names and text; opens no file.
 */
import { createHash } from 'node:crypto';

import { counted } from '../exchange/counted.ts';
import { isObject, parseJson } from '../exchange/json/body-reader.ts';
import type { RecordedExchange } from '../exchange/recording/recording.ts';
import { referenceShape } from '../exchange/recording/recording-members.ts';
import type { Reference } from '../exchange/reference.ts';
import type { CheckInput, InputMistake, InputReading } from './input.ts';

export interface GoldenLine extends Reference {
  /** Of the request's bytes, as `requestDigest` gives it: a request that was changed has another prompt by right. */
  readonly request?: string;
  /** For people. */
  readonly writtenBy?: string;
  readonly model?: string;
  readonly build?: string;
}

const ending = /(\.golden)?(\.json|\.jsonl|\.ndjson)$/;

export function isGoldenName(file: string): boolean {
  return ending.exec(file)?.[1] !== undefined;
}

/** `a.golden.json` of `a.json`; undefined for a name that has none of the endings. */
export function goldenNameOf(file: string): string | undefined {
  return isGoldenName(file) || !ending.test(file) ? undefined : file.replace(ending, '.golden$2');
}

/** `a.json` of `a.golden.json`. */
export function requestNameOf(golden: string): string {
  return golden.replace(ending, '$2');
}

export function requestDigest(body: Buffer): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

/** Undefined if some prompt's ids are not known. */
export function goldenLine(
  { prompts, build }: RecordedExchange,
  details: Required<Pick<GoldenLine, 'request' | 'writtenBy' | 'model'>>,
): GoldenLine | undefined {
  const ids = prompts.flatMap((prompt) => ('ids' in prompt ? [prompt.ids] : []));
  if (ids.length < prompts.length) return undefined;
  const [first = []] = ids;
  return { by: 'golden', ids: ids.length > 1 ? ids : first, ...details, build };
}

export function formatGolden(lines: readonly GoldenLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** The inputs of a file, each with its reference. */
export function withReferences(inputs: readonly CheckInput[], golden: string, text: string): InputReading {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  // One that a person has laid out over several lines is one object all the same.
  const texts = parseJson(text) === undefined ? lines : [text];
  const mistake = (message: string): InputReading => ({ inputs: [], mistakes: [{ where: golden, message }] });
  if (texts.length !== inputs.length) {
    return mistake(
      `it has ${counted(texts.length, 'reference')} for ${counted(inputs.length, 'request')}; allowed: one JSON object for each, in their order`,
    );
  }
  const read = inputs.map((input, index) => {
    const where = texts.length > 1 ? `${golden}:${index + 1}` : golden;
    return withReference(input, where, texts[index] ?? '');
  });
  return {
    inputs: read.filter((one) => 'form' in one),
    mistakes: read.filter((one) => 'where' in one),
  };
}

function withReference(input: CheckInput, where: string, text: string): CheckInput | InputMistake {
  const json = parseJson(text);
  if (!isObject(json))
    return { where, message: 'it is no JSON object; allowed: an object with "by" and "ids"' };
  const message = referenceShape(json, '');
  if (message !== undefined) return { where, message };
  if (input.form !== 'request') {
    return { where, message: `${input.source} is a ${input.form}; a golden file is for requests alone` };
  }
  if (input.reference !== undefined) {
    return { where, message: `${input.source} carries a reference of its own; allowed: one` };
  }
  const { request } = json;
  if (request !== undefined && request !== requestDigest(input.request.body)) {
    return {
      where,
      message: `it was made of another request than ${input.source} is now ("request" is the SHA-256 of its bytes); make it anew with tokenweir golden --update, or as it was made`,
    };
  }
  // Types and shapes can't differ: recording-members.ts has one shape for each member of the type.
  return { ...input, reference: json as unknown as Reference };
}
