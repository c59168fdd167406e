/**
 * Rendered raw prompts that open an answer, and not as the template does: with another role's name, or with other white
 * space behind it. Learnt forms only; silent about roles that may be meant, and about answers that the client has begun.
 */
import { editDistance, plainForm } from '../../exchange/near-words.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import { ownForms } from './turn-forms.ts';
import { firstSign } from './turn-signs.ts';

export interface WrongOpening {
  readonly cause: 'other-role' | 'other-blank' | 'blank-missing';
  /** UTF-16 offsets in the prompt, from the opening's marker to the prompt's end. */
  readonly start: number;
  readonly end: number;
  /** What stands there in the place of what the template writes: a role as far as it may be told, or white space. */
  readonly written: string;
  readonly right: string;
}

/**
 * What the answering side is called by some family, framework or collection of conversations: llama.cpp's templates
 * (`assistant`; Gemma's `model`; MiniMax's `ai`; Command R's `chatbot`), LangChain (`ai`), ShareGPT (`gpt`, `bot`). Any
 * other role may be one that the model was trained on, or that a client has it play.
 */
export const answerWords: ReadonlySet<string> = new Set([
  'assistant',
  'model',
  'ai',
  'bot',
  'chatbot',
  'gpt',
]);

/** A longer name is none of a role. */
const mostRole = 64;

/** More is no end of a prompt that somebody has written so by mistake. */
const mostBlank = 64;

export function wrongOpening(text: string, facts: ModelFacts): WrongOpening | undefined {
  const opening = facts.generationPrompt?.text;
  // White space that is left of the prompt's end, and no more: texts are long.
  const end = text.trimEnd().length;
  if (opening === undefined || text.length - end > mostBlank) return undefined;
  if (!facts.markers.some((marker) => opening.includes(marker.text))) return undefined;
  return otherRole(text, opening, facts) ?? otherBlank(text, end, opening, facts);
}

function otherRole(text: string, opening: string, facts: ModelFacts): WrongOpening | undefined {
  const forms = ownForms(facts);
  const own = firstSign(opening, forms);
  if (own?.kind !== 'opening' || own.role === undefined) return undefined;
  // Nothing but a role and white space may stand behind it: texts are long.
  const beginsTail = Math.max(0, text.length - opening.length - mostRole - mostBlank);
  const at = text.slice(beginsTail).lastIndexOf(own.text);
  if (at < 0) return undefined;
  const last = firstSign(text, forms, beginsTail + at);
  if (last?.kind !== 'opening' || last.text !== own.text) return undefined;
  if (last.role === undefined || text.slice(last.end).trim() !== '') return undefined;
  const written = facts.roleMarkers.map((one) => firstSign(one.opening, forms)?.role);
  if (last.role === own.role || written.includes(last.role)) return undefined;
  const word = plainForm(last.role);
  const isOther = answerWords.has(word) && word !== plainForm(own.role);
  if (!isOther && !isSpelling(word, plainForm(own.role))) return undefined;
  return {
    cause: 'other-role',
    start: last.start,
    end: text.length,
    written: isOther ? JSON.stringify(word) : `another spelling of ${JSON.stringify(own.role)}`,
    right: JSON.stringify(own.role),
  };
}

function isSpelling(word: string, of: string): boolean {
  const most = of.length >= 9 ? 2 : of.length >= 5 ? 1 : 0;
  return Math.abs(word.length - of.length) <= most && editDistance(word, of) <= most;
}

function otherBlank(text: string, end: number, opening: string, facts: ModelFacts): WrongOpening | undefined {
  const learnt = opening.trimEnd();
  const start = end - learnt.length;
  if (!text.startsWith(learnt, start)) return undefined;
  const [written, right] = [text.slice(end), opening.slice(learnt.length)];
  if (written === right) return undefined;
  const cause = right.startsWith(written) ? 'blank-missing' : 'other-blank';
  // In the history, or with thinking switched off, the template may write more.
  const longer = [
    opening + (facts.thinkTail?.text ?? ''),
    ...facts.roleMarkers.filter(({ role }) => role === 'assistant').map((one) => one.opening),
  ];
  if (cause === 'other-blank' && longer.some((one) => one.startsWith(learnt + written))) return undefined;
  return { cause, start, end: text.length, written, right };
}
