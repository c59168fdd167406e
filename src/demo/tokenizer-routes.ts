// The routes that turn text into ids and back: the oracles which a proxy asks. They never touch a slot.
import { booleanOr, type Body } from './body.ts';
import { chatPrompt } from './chat-request.ts';
import { EngineError, wrongType } from './engine-error.ts';
import { readTokenizeContent, tokenizePrompt } from './prompt-forms.ts';
import type { DemoTokenizer } from './tokenizer.ts';

function bytesOf(tokenizer: DemoTokenizer, id: number): Buffer {
  const piece = tokenizer.piece(id);
  if (piece !== undefined) return piece;
  const last = tokenizer.vocabularySize - 1;
  throw new EngineError('server_error', `token id ${id} is not in the vocabulary; ids are 0 to ${last}`);
}

/** A piece as text, or as bytes where it is only a part of a character. */
function pieceOf(tokenizer: DemoTokenizer, id: number): string | number[] {
  const piece = bytesOf(tokenizer, id);
  const text = piece.toString();
  return Buffer.from(text).equals(piece) ? text : [...piece];
}

/**
 * `POST /tokenize`: no BOS unless asked for, control tokens recognised unless refused.
 * @throws EngineError 400 for a wrong type, 500 for the piece of an echoed id that the vocabulary does not have.
 */
export function tokenizeReply(tokenizer: DemoTokenizer, body: Body): object {
  const tokens = tokenizer.tokenize(readTokenizeContent(body['content']), {
    addSpecial: booleanOr(body['add_special'], false),
    parseSpecial: booleanOr(body['parse_special'], true),
  });
  if (!booleanOr(body['with_pieces'], false)) return { tokens };
  return { tokens: tokens.map((id) => ({ id, piece: pieceOf(tokenizer, id) })) };
}

/** `POST /detokenize`. @throws EngineError 400 for a wrong type, 500 for an id that the vocabulary does not have. */
export function detokenizeReply(tokenizer: DemoTokenizer, body: Body): object {
  const tokens = body['tokens'] ?? [];
  if (!Array.isArray(tokens)) throw wrongType('array', tokens);
  const ids = tokens.map((id: unknown) => {
    if (typeof id !== 'number') throw wrongType('number', id);
    return Math.trunc(id);
  });
  for (const id of ids) bytesOf(tokenizer, id);
  return { content: tokenizer.detokenize(ids) };
}

/** `POST /apply-template`: the prompt's text without the BOS that the tokenizer will add. */
export function applyTemplateReply(tokenizer: DemoTokenizer, body: Body): object {
  return { prompt: chatPrompt(body, tokenizer) };
}

/** `POST …/chat/completions/input_tokens`: how many ids the chat body's prompt has. */
export function inputTokensReply(tokenizer: DemoTokenizer, body: Body): object {
  const prompt = tokenizePrompt(chatPrompt(body, tokenizer), tokenizer);
  return { input_tokens: prompt.length, object: 'response.input_tokens' };
}
