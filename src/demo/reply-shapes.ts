// The JSON of generation replies: native, OpenAI completions and OpenAI chat, whole and as stream events.
// Shapes only: what is counted and when events are sent is decided elsewhere.
import type { ChoiceResult, SampledToken } from './generation.ts';
import { buildInfo, modelAlias } from './labels.ts';

export interface ReplyHead {
  /** `chatcmpl-` and 32 characters, on text completions too. */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
}

/** One choice with what its reply needs to say about its prompt. */
export interface ShapedChoice extends ChoiceResult {
  /** The prompt's ids as text, control tokens written out. */
  readonly promptText: string;
  /** Fills `tokens` of the native shape. */
  readonly returnTokens: boolean;
  readonly limit: number;
}

const finishReason = ({ stopType }: ChoiceResult): 'stop' | 'length' =>
  stopType === 'limit' ? 'length' : 'stop';

function usageOf({ promptTokens, reusedTokens, tokens }: ChoiceResult): object {
  return {
    completion_tokens: tokens.length,
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + tokens.length,
    prompt_tokens_details: { cached_tokens: reusedTokens },
  };
}

function envelope(head: ReplyHead, object: string): object {
  return { created: head.created, model: modelAlias, system_fingerprint: buildInfo, object, id: head.id };
}

export function nativeFinal(choice: ShapedChoice, isStream: boolean): object {
  return {
    index: choice.index,
    content: isStream ? '' : choice.text,
    tokens: choice.returnTokens && !isStream ? choice.tokens : [],
    id_slot: choice.slotId,
    stop: true,
    model: modelAlias,
    tokens_predicted: choice.tokens.length,
    tokens_evaluated: choice.promptTokens,
    generation_settings: {
      n_predict: choice.limit,
      max_tokens: choice.limit,
      stream: isStream,
      samplers: [],
    },
    prompt: choice.promptText,
    has_new_line: choice.text.includes('\n'),
    truncated: false,
    stop_type: choice.stopType,
    stopping_word: choice.stoppingWord,
    tokens_cached: choice.slotTokens,
    timings: choice.timings,
  };
}

export function nativeEvent(index: number, promptTokens: number, token: SampledToken): object {
  return {
    index,
    content: token.text,
    tokens: [token.id],
    stop: false,
    // Only the final object tells the slot.
    id_slot: -1,
    tokens_predicted: token.count,
    tokens_evaluated: promptTokens,
  };
}

/** Choices of several prompts are merged; usage and timings are those of the first, as llama-server reports them. */
export function completionReply(
  head: ReplyHead,
  choices: readonly [ShapedChoice, ...ShapedChoice[]],
): object {
  const [first] = choices;
  return {
    choices: choices.map((choice) => ({
      text: choice.text,
      index: choice.index,
      logprobs: null,
      finish_reason: finishReason(choice),
    })),
    ...envelope(head, 'text_completion'),
    usage: usageOf(first),
    timings: first.timings,
  };
}

export function completionEvent(head: ReplyHead, index: number, text: string): object {
  return {
    choices: [{ text, index, logprobs: null, finish_reason: null }],
    ...envelope(head, 'text_completion'),
  };
}

export function completionFinalEvent(head: ReplyHead, choice: ShapedChoice): object {
  return {
    choices: [{ text: '', index: choice.index, logprobs: null, finish_reason: finishReason(choice) }],
    ...envelope(head, 'text_completion'),
    usage: usageOf(choice),
    timings: choice.timings,
  };
}

export function chatReply(head: ReplyHead, choices: readonly [ShapedChoice, ...ShapedChoice[]]): object {
  const [first] = choices;
  return {
    choices: choices.map((choice) => ({
      finish_reason: finishReason(choice),
      index: choice.index,
      message: { role: 'assistant', content: choice.text },
    })),
    ...envelope(head, 'chat.completion'),
    usage: usageOf(first),
    timings: first.timings,
  };
}

export function chatEvent(head: ReplyHead, index: number, delta: object): object {
  return { choices: [{ finish_reason: null, index, delta }], ...envelope(head, 'chat.completion.chunk') };
}

/** The finish chunk carries the timings unless a usage chunk follows it. */
export function chatFinalEvents(head: ReplyHead, choice: ShapedChoice, includeUsage: boolean): object[] {
  const common = envelope(head, 'chat.completion.chunk');
  const choices = [{ finish_reason: finishReason(choice), index: choice.index, delta: {} }];
  if (!includeUsage) return [{ choices, ...common, timings: choice.timings }];
  return [
    { choices, ...common },
    { choices: [], ...common, usage: usageOf(choice), timings: choice.timings },
  ];
}
