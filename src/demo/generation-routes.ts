// The generation routes: checks a body, runs its choices on the slots and answers whole or as a stream.
// A client that leaves ends its generation: every wait in here hangs on the signal.
import { randomBytes } from 'node:crypto';
import { isObject, booleanOr, numberOr, type Body } from './body.ts';
import { chatPrompt } from './chat-request.ts';
import { EngineError, errorBody, invalidRequest, toEngineError, wrongType } from './engine-error.ts';
import {
  generateChoice,
  type ChoiceRequest,
  type GenerationEngine,
  type SampledToken,
} from './generation.ts';
import { contextTokens, slotCount } from './labels.ts';
import { readPrompts, tokenizePrompt } from './prompt-forms.ts';
import * as shapes from './reply-shapes.ts';
import type { Reply } from './reply.ts';
import type { DemoTokenizer } from './tokenizer.ts';

/** `native` is `/completion`, which streams without a `[DONE]`. */
export type GenerationDialect = 'native' | 'completion' | 'chat';

interface GenerationCall {
  readonly dialect: GenerationDialect;
  readonly head: shapes.ReplyHead;
  readonly choices: readonly ChoiceRequest[];
  readonly includeUsage: boolean;
  readonly returnTokens: boolean;
}

/** Most tokens to sample; the first field that is there wins, negative means no limit. */
function readLimit(body: Body): number {
  const field = ['n_predict', 'max_completion_tokens', 'max_tokens'].find(
    (name) => (body[name] ?? null) !== null,
  );
  if (field === undefined) return -1;
  const limit = body[field];
  if (typeof limit !== 'number') throw wrongType('number', limit, field);
  return Math.trunc(limit);
}

function readStops(stop: unknown): string[] {
  const words: unknown[] = Array.isArray(stop) ? stop : [stop ?? ''];
  return words.map((word) => {
    if (typeof word !== 'string') throw wrongType('string', word, 'stop');
    return word;
  });
}

function readChoiceCount(body: Body): number {
  const count = body['n_cmpl'] ?? body['n'] ?? 1;
  if (typeof count !== 'number') throw wrongType('number', count, 'n');
  if (count < 1 || count > slotCount) {
    throw invalidRequest(`Field 'n': Value must be between 1 <= value <= ${slotCount}, but got ${count}`);
  }
  return Math.trunc(count);
}

/** A slot that does not exist counts as none named. */
function readSlot(body: Body): number | undefined {
  const slot = numberOr(body['id_slot'], -1);
  return Number.isInteger(slot) && slot >= 0 && slot < slotCount ? slot : undefined;
}

function readCall(dialect: GenerationDialect, body: Body, tokenizer: DemoTokenizer): GenerationCall {
  const prompts =
    dialect === 'chat'
      ? [tokenizePrompt(chatPrompt(body, tokenizer), tokenizer)]
      : readPrompts(body['prompt'], tokenizer);
  for (const prompt of prompts) {
    if (prompt.length < contextTokens) continue;
    throw new EngineError(
      'exceed_context_size_error',
      `request (${prompt.length} tokens) exceeds the available context size (${contextTokens} tokens), try increasing it`,
      { n_prompt_tokens: prompt.length, n_ctx: contextTokens },
    );
  }
  const count = readChoiceCount(body);
  const wantedSlot = readSlot(body);
  const limit = readLimit(body);
  const stops = readStops(body['stop']);
  const options = isObject(body['stream_options']) ? body['stream_options'] : {};
  return {
    dialect,
    head: { id: `chatcmpl-${randomBytes(16).toString('hex')}`, created: Math.floor(Date.now() / 1000) },
    choices: prompts
      .flatMap((prompt) => Array.from({ length: count }, () => prompt))
      .map((prompt, index) => ({
        index,
        prompt,
        limit,
        stops,
        cachePrompt: booleanOr(body['cache_prompt'], true),
        wantedSlot,
      })),
    includeUsage: booleanOr(options['include_usage'], false),
    returnTokens: booleanOr(body['return_tokens'], false),
  };
}

function tokenEvents(call: GenerationCall, { index, prompt }: ChoiceRequest, token: SampledToken): object[] {
  const { dialect, head } = call;
  if (dialect === 'native') return [shapes.nativeEvent(index, prompt.length, token)];
  const content = token.text === '' ? [] : [token.text];
  if (dialect === 'completion') return content.map((text) => shapes.completionEvent(head, index, text));
  const role = token.count === 1 ? [{ role: 'assistant', content: null }] : [];
  return [...role, ...content.map((text) => ({ content: text }))].map((delta) =>
    shapes.chatEvent(head, index, delta),
  );
}

function finalEvents(call: GenerationCall, choice: shapes.ShapedChoice): object[] {
  if (call.dialect === 'native') return [shapes.nativeFinal(choice, true)];
  if (call.dialect === 'completion') return [shapes.completionFinalEvent(call.head, choice)];
  return shapes.chatFinalEvents(call.head, choice, call.includeUsage);
}

function wholeReply(call: GenerationCall, choices: readonly shapes.ShapedChoice[]): object {
  const [first, ...others] = choices;
  if (first === undefined) throw new Error('a generation call without choices');
  if (call.dialect === 'completion') return shapes.completionReply(call.head, [first, ...others]);
  if (call.dialect === 'chat') return shapes.chatReply(call.head, [first, ...others]);
  const objects = choices.map((choice) => shapes.nativeFinal(choice, false));
  return others.length === 0 ? shapes.nativeFinal(first, false) : objects;
}

/**
 * Answers one generation request.
 * @throws EngineError before anything is sent; later failures end the stream with an error event.
 */
export async function answerGeneration(
  engine: GenerationEngine,
  dialect: GenerationDialect,
  body: Body,
  reply: Reply,
): Promise<void> {
  const { tokenizer } = engine;
  const call = readCall(dialect, body, tokenizer);
  const isStream = booleanOr(body['stream'], false);
  const run = async (request: ChoiceRequest): Promise<shapes.ShapedChoice> => {
    const listener = {
      started: () => {
        if (isStream) reply.startEvents();
      },
      sampled: async (token: SampledToken) => {
        if (isStream) for (const event of tokenEvents(call, request, token)) await reply.sendEvent(event);
      },
    };
    const result = await generateChoice(engine, request, listener, reply.signal);
    const promptText = tokenizer.detokenize(request.prompt);
    const choice = { ...result, promptText, returnTokens: call.returnTokens, limit: request.limit };
    if (isStream) for (const event of finalEvents(call, choice)) await reply.sendEvent(event);
    return choice;
  };
  try {
    const choices = await Promise.all(call.choices.map(run));
    if (!isStream) reply.sendJson(200, wholeReply(call, choices));
    else await reply.endEvents({ withDone: dialect !== 'native' });
  } catch (thrown) {
    if (!reply.hasStarted || reply.signal.aborted) throw thrown;
    await reply.sendEvent(errorBody(toEngineError(thrown)));
    await reply.endEvents({ withDone: false });
  }
}
