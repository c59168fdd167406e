/** Freezes exchanges into a recording's text, ids and prompt text as they are. Opens no file. */
import { createHash } from 'node:crypto';

import type { Exchange, InspectionResult } from '../exchange.ts';
import type { ModelFacts } from '../model-facts.ts';
import { recordReply } from './recorded-reply.ts';
import {
  recordingVersion,
  type RecordedExchange,
  type RecordedPrompt,
  type RecordingEntry,
  type RecordingLine,
} from './recording.ts';
import { promptCount } from '../request/prompt-count.ts';
import type { GenerationRequest } from '../request/request.ts';
import { unknown, type HeadRead, type TokenRead } from '../token-read.ts';

/** The file's text, piece by piece. Facts are written once, before the first exchange that names them. */
export class RecordingFormat {
  readonly #written = new Set<string>();

  start(writtenBy: string): string {
    return textOf({ type: 'recording', version: recordingVersion, writtenBy });
  }

  add({ exchange, facts }: Omit<RecordingEntry, 'line'>): string {
    const { facts: hash } = exchange;
    const isNew = !this.#written.has(hash);
    this.#written.add(hash);
    return (isNew ? textOf({ type: 'facts', hash, facts }) : '') + textOf(exchange);
  }
}

/** The whole text of a file. */
export function formatRecording(writtenBy: string, entries: readonly Omit<RecordingEntry, 'line'>[]): string {
  const format = new RecordingFormat();
  return [format.start(writtenBy), ...entries.map((entry) => format.add(entry))].join('');
}

function textOf(line: RecordingLine): string {
  return `${JSON.stringify(line)}\n`;
}

/**
 * Freezes an exchange with its ids and its text.
 * @param session the conversation's name, if it has one
 * @returns undefined if request or facts are not known: then there is nothing to freeze.
 */
export function recordExchange(
  { id, route, client, request, facts, prompts, heads, inspection, reference, reply }: Exchange,
  date: Date,
  session?: string,
): Omit<RecordingEntry, 'line'> | undefined {
  if (request === undefined || facts === undefined) return undefined;
  const exchange: RecordedExchange = {
    type: 'exchange',
    id,
    date: date.toISOString(),
    route,
    build: facts.build,
    facts: factsHash(facts),
    client: client.pseudonym,
    ...(session !== undefined && { session }),
    body: request.body.toString('utf8'),
    ...(reference && { reference }),
    prompts: readsOf(prompts, inspection, request).map((read, index) => recordPrompt(read, heads[index])),
    ...(reply && { reply: recordReply(reply, prompts, request.choices) }),
  };
  return { exchange, facts };
}

/** One for each prompt of the request, of one that the inspection did not come to with its reason. */
function readsOf(
  prompts: readonly TokenRead[],
  inspection: InspectionResult,
  request: GenerationRequest,
): readonly TokenRead[] {
  if (prompts.length > 0) return prompts;
  const reason = inspection.result === 'unknown' ? inspection.reason : 'inspection-failed';
  return Array.from({ length: promptCount(request) }, () => unknown(reason));
}

function recordPrompt(read: TokenRead, head: HeadRead | undefined): RecordedPrompt {
  if (!read.known) return { unknown: read.reason, ...(head?.known === true && { head: head.ids }) };
  const { ids, source, text, segments, cut } = read;
  return {
    ids: Array.from(ids),
    source,
    ...(text !== undefined && { text }),
    ...(cut !== undefined && { cut }),
    ...(head?.known === true && head.added !== undefined && { added: head.added }),
    ...(segments && {
      segments: segments.map(({ tokenStart, textStart }) => [tokenStart, textStart] as const),
    }),
  };
}

const hashes = new WeakMap<ModelFacts, string>();

/** Equal for equal facts, whichever process of the engine they were learnt from. */
function factsHash(facts: ModelFacts): string {
  const known = hashes.get(facts);
  if (known !== undefined) return known;
  const lasting = { ...facts, identity: '', mediaMarker: '' };
  const hash = createHash('sha256').update(JSON.stringify(lasting)).digest('hex').slice(0, 12);
  hashes.set(facts, hash);
  return hash;
}
