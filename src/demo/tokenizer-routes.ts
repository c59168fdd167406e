// The routes that turn text into ids and back: the oracles which a proxy asks. They never touch a slot.
import { booleanOr, type Body } from './body.ts';
import { chatPrompt } from './chat-request.ts';
import { EngineError } from './engine-error.ts';
import { readTokenizeContent, tokenizePrompt } from './prompt-forms.ts';
import type { DemoTokenizer } from './tokenizer.ts';

/** A piece as text, or as bytes where it is only a part of a character; '' for an echoed id without a piece. */
function pieceOf(tokenizer: DemoTokenizer, id: number): string | number[] {
  const piece = tokenizer.piece(id);
  if (piece === undefined) return '';
  const text = piece.toString();
  return Buffer.from(text).equals(piece) ? text : [...piece];
}

/** `POST /tokenize`: no BOS unless asked for, control tokens recognised unless refused. */
export function tokenizeReply(tokenizer: DemoTokenizer, body: Body): object {
  const tokens = tokenizer.tokenize(readTokenizeContent(body['content']), {
    addSpecial: booleanOr(body['add_special'], false),
    parseSpecial: booleanOr(body['parse_special'], true),
  });
  if (!booleanOr(body['with_pieces'], false)) return { tokens };
  return { tokens: tokens.map((id) => ({ id, piece: pieceOf(tokenizer, id) })) };
}

/** `POST /detokenize`. @throws EngineError 500 for anything but ids of the vocabulary. */
export function detokenizeReply(tokenizer: DemoTokenizer, body: Body): object {
  const tokens = body['tokens'] ?? [];
  if (!Array.isArray(tokens) || !tokens.every((id) => typeof id === 'number')) {
    throw new EngineError('server_error', '"tokens" must be a list of token ids');
  }
  const unknown = tokens.find((id) => tokenizer.piece(id) === undefined);
  if (unknown !== undefined)
    throw new EngineError('server_error', `token id ${unknown} is not in the vocabulary`);
  return { content: tokenizer.detokenize(tokens) };
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
