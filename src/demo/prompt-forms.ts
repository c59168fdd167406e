// The prompt forms of the raw routes (text, ids, mixed, several of them) and the content of /tokenize, turned into ids.
// Must not know which model or slot will read them.
import { isObject } from './body.ts';
import { invalidRequest, wrongType } from './engine-error.ts';
import type { DemoTokenizer, TokenizableContent } from './tokenizer.ts';

function isMixed(value: unknown): value is (string | number)[] {
  return Array.isArray(value) && value.every((part) => typeof part === 'string' || typeof part === 'number');
}

/** An array that holds any number is one prompt; `["a", "b"]` is two. */
function isOnePrompt(prompt: readonly unknown[]): boolean {
  return prompt.some((part) => typeof part === 'number');
}

function contentOf(prompt: unknown): TokenizableContent {
  if (isObject(prompt)) {
    if (Array.isArray(prompt['multimodal_data']) && prompt['multimodal_data'].length > 0) {
      throw invalidRequest('multimodal_data is not supported: the demo engine reads text only');
    }
    return contentOf(prompt['prompt_string']);
  }
  if (typeof prompt === 'string') return prompt;
  if (isMixed(prompt)) return prompt.map((part) => (typeof part === 'number' ? Math.trunc(part) : part));
  throw invalidRequest(
    '"prompt" elements must be a string, a list of tokens, a JSON object containing a prompt string, or a list of mixed strings & tokens.',
  );
}

/**
 * The ids of each prompt, in the order of the prompt indexes. BOS goes in front of prompts that start with text, and
 * texts of control tokens always become control tokens.
 * @throws EngineError 400 for a missing or empty prompt, a wrong type, or an id outside the vocabulary.
 */
export function readPrompts(prompt: unknown, tokenizer: DemoTokenizer): number[][] {
  if (prompt === undefined) throw invalidRequest("[json.exception.out_of_range.403] key 'prompt' not found");
  const prompts: readonly unknown[] = Array.isArray(prompt) && !isOnePrompt(prompt) ? prompt : [prompt];
  if (prompts.length === 0) throw invalidRequest('"prompt" must not be empty');
  return prompts.map((one) => tokenizePrompt(contentOf(one), tokenizer));
}

/** Tokenizes a prompt as every generation route does. @throws EngineError 400 if it is empty or has an unknown id. */
export function tokenizePrompt(content: TokenizableContent, tokenizer: DemoTokenizer): number[] {
  const ids = tokenizer.tokenize(content, { addSpecial: true, parseSpecial: true });
  if (ids.length === 0) throw invalidRequest('"prompt" must not be empty');
  if (ids.some((id) => tokenizer.piece(id) === undefined))
    throw invalidRequest('Prompt contains invalid tokens');
  return ids;
}

/** The `content` of `/tokenize`. @throws EngineError 400 for a wrong type. */
export function readTokenizeContent(content: unknown): TokenizableContent {
  if (content === undefined) return [];
  if (typeof content === 'string') return content;
  if (isMixed(content)) return content.map((part) => (typeof part === 'number' ? Math.trunc(part) : part));
  if (!Array.isArray(content)) throw wrongType('string', content);
  throw wrongType(
    'number',
    content.find((part) => typeof part !== 'string' && typeof part !== 'number'),
  );
}
