/** Freezes exchanges into a recording's text, ids and prompt text as they are. Opens no file. */
import { createHash } from 'node:crypto';

import type { Exchange } from '../exchange.ts';
import type { ModelFacts } from '../model-facts.ts';
import {
  recordingVersion,
  type RecordedExchange,
  type RecordedPrompt,
  type RecordingEntry,
  type RecordingLine,
} from './recording.ts';
import type { HeadRead, TokenRead } from '../token-read.ts';

/** The file's text. Facts are written once, before the first exchange that names them. */
export function formatRecording(writtenBy: string, entries: readonly Omit<RecordingEntry, 'line'>[]): string {
  const written = new Set<string>();
  const lines: RecordingLine[] = [{ type: 'recording', version: recordingVersion, writtenBy }];
  for (const { exchange, facts } of entries) {
    if (!written.has(exchange.facts)) lines.push({ type: 'facts', hash: exchange.facts, facts });
    written.add(exchange.facts);
    lines.push(exchange);
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/**
 * Freezes an exchange with its ids and its text.
 * @param session the conversation's name, if it has one
 * @returns undefined if request or facts are not known: then there is nothing to freeze.
 */
export function recordExchange(
  { id, route, client, request, facts, prompts, heads, reference }: Exchange,
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
    prompts: prompts.map((read, index) => recordPrompt(read, heads[index])),
  };
  return { exchange, facts };
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

/** Equal for equal facts, whichever process of the engine they were learnt from. */
function factsHash(facts: ModelFacts): string {
  const lasting = { ...facts, identity: '', mediaMarker: '' };
  return createHash('sha256').update(JSON.stringify(lasting)).digest('hex').slice(0, 12);
}
