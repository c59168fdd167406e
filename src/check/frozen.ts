/**
 * The past side of a trace: the prompt that was made of it, in ids, with the facts of it that can be known. A trace has no
 * facts of its own: its text is read by the tokenizer of today.
 */
import type { AskContext, Engine } from '../engines/engine.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { RecordedPrompt } from '../exchange/recording/recording.ts';
import { readRequest } from '../exchange/request/request-reader.ts';
import { unknown, type TokenRead } from '../exchange/token-read.ts';
import type { TraceInput } from './input.ts';

export interface FrozenTrace {
  readonly prompts: readonly RecordedPrompt[];
  /** Those of today, but for what was put in front of the text at its time. */
  readonly facts: ModelFacts;
}

export async function freezeTrace(
  { rendered }: TraceInput,
  engine: Engine,
  facts: ModelFacts,
  context: AskContext,
): Promise<FrozenTrace> {
  if (typeof rendered !== 'string') return { prompts: [{ ids: rendered, source: 'client' }], facts };
  const read = await readText(rendered, engine, facts, context);
  if (!read.known) return { prompts: [{ unknown: read.reason }], facts };
  const { completion: prefix } = facts.addedPrefix;
  const { completion: suffix } = facts.addedSuffix;
  const bare = Array.from(read.ids.subarray(prefix.length, read.ids.length - suffix.length));
  // A text that opens with BOS is whole; one that does not leaves that to the tokenizer, as chat routes do.
  const chat = bare[0] !== undefined && bare[0] === facts.bos?.id ? [] : facts.addedPrefix.chat;
  const shift = chat.length - prefix.length;
  const prompt: RecordedPrompt = {
    ids: [...chat, ...bare],
    source: 'engine',
    text: rendered,
    ...(read.segments && {
      segments: read.segments.map(({ tokenStart, textStart }) => [tokenStart + shift, textStart] as const),
    }),
  };
  return { prompts: [prompt], facts: { ...facts, addedPrefix: { ...facts.addedPrefix, chat } } };
}

async function readText(
  prompt: string,
  engine: Engine,
  facts: ModelFacts,
  context: AskContext,
): Promise<TokenRead> {
  const reading = readRequest(Buffer.from(JSON.stringify({ prompt })), 'completion');
  if (!reading.readable) return unknown('unreadable-body');
  const [read] = await engine.read(reading.request, facts, context).prompts();
  return read ?? unknown('engine-cannot');
}
