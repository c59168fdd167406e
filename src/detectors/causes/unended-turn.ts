/** A user's turn in the model's own form that nothing ends before the answer is opened, where the template ends each. */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import { ownForms } from './turn-forms.ts';
import { firstMarker, firstSign, turnSigns, type TurnSign } from './turn-signs.ts';

export interface UnendedTurn {
  readonly turn: TurnSign;
  readonly answer: TurnSign;
  /** What the template ends a user's turn with. */
  readonly end: string;
}

/** Looked for where a prompt ends with the opening of an answer: what stands further up may be quoted. */
export function unendedTurn(text: string, facts: ModelFacts): UnendedTurn | undefined {
  const { userTurnEnd: end, generationPrompt, thinkTail } = facts;
  const asked = openingOf('user', facts);
  const answered = openingOf('assistant', facts);
  if (end === undefined || asked === undefined || answered === undefined || isSame(asked, answered))
    return undefined;
  const forms = ownForms(facts);
  const from = firstMarker(text, forms);
  if (from < 0) return undefined;
  let turn: TurnSign | undefined;
  let answer: TurnSign | undefined;
  for (const sign of turnSigns(text, forms, from)) {
    turn = answer;
    answer = sign;
  }
  if (turn === undefined || answer === undefined || !isSame(turn, asked) || !isSame(answer, answered))
    return undefined;
  const opening = generationPrompt?.text ?? '';
  const behind = text.slice(answer.start).trim();
  const isOpen =
    text.slice(answer.end).trim() === '' ||
    [opening, opening + (thinkTail?.text ?? '')].some((one) => one.trim() === behind);
  return isOpen && text.slice(turn.end, answer.start).trim() !== '' ? { turn, answer, end } : undefined;
}

function openingOf(wanted: string, facts: ModelFacts): TurnSign | undefined {
  const opening = facts.roleMarkers.find(({ role }) => role === wanted)?.opening ?? '';
  const sign = firstSign(opening, ownForms(facts));
  return sign?.kind === 'opening' ? sign : undefined;
}

function isSame(a: TurnSign, b: TurnSign): boolean {
  return a.kind === 'opening' && b.kind === 'opening' && a.text === b.text && a.role === b.role;
}
