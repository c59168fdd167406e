/**
 * What each raw prompt of an instruct model is, looked at once for the kinds that say so: each prompt is one fault of one
 * kind. Judges nothing.
 */
import type { Exchange } from '../../exchange/exchange.ts';
import type { Finding } from '../../exchange/finding.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { GenerationRequest, RawPrompt } from '../../exchange/request/request.ts';
import { foreignFillIn, type ForeignFillIn } from './foreign-fill-in.ts';
import { foreignPrompt, type ForeignFrame } from './foreign-frame.ts';
import { nearMarker, type NearMarker } from './near-markers.ts';
import { maybeBase, plainText, promptsToAnswer } from './plain-prompt.ts';
import { stringifiedPlain, type Stringified } from './stringified.ts';
import { unendedTurn, type UnendedTurn } from './unended-turn.ts';
import { unfilledOpening, type UnfilledOpening } from './unfilled-opening.ts';

export type PromptForm =
  | { readonly form: 'foreign'; readonly frame: ForeignFrame }
  | { readonly form: 'fill-in'; readonly found: ForeignFillIn }
  | { readonly form: 'unfilled'; readonly opening: UnfilledOpening }
  | { readonly form: 'mistyped'; readonly found: NearMarker }
  | { readonly form: 'unended'; readonly found: UnendedTurn }
  | { readonly form: 'stringified'; readonly found: Stringified }
  | { readonly form: 'plain' };

export interface FormedPrompt {
  readonly prompt: RawPrompt;
  readonly promptIndex: number;
  readonly of: PromptForm;
}

/** Longer texts fit into no usual context. */
const mostCharacters = 1024 * 1024;

const formed = new WeakMap<
  GenerationRequest,
  { readonly facts: ModelFacts; readonly prompts: readonly FormedPrompt[] }
>();

/** A place in a prompt's text; nothing of one whose text is put together from several, where no field has it. */
export function charactersOf(
  { form }: RawPrompt,
  { start, end }: { readonly start: number; readonly end: number },
): Pick<Finding, 'characters'> {
  return form === 'text' ? { characters: { start, end } } : {};
}

/** Prompts with nothing to say about, such as rendered ones, are left out; [] for base models, chats and scoring. */
export function formedPrompts(exchange: Exchange): readonly FormedPrompt[] {
  const { request, facts } = exchange;
  if (request === undefined || facts === undefined) return [];
  const known = formed.get(request);
  if (known?.facts === facts) return known.prompts;
  // A base model may be trained on anything; whether it is one is for the operator to say.
  const doubtful = maybeBase(exchange);
  const prompts = promptsToAnswer(exchange).flatMap(({ prompt, promptIndex }): FormedPrompt[] => {
    const of = formOf(prompt, facts, doubtful);
    return of === undefined ? [] : [{ prompt, promptIndex, of }];
  });
  formed.set(request, { facts, prompts });
  return prompts;
}

function formOf(prompt: RawPrompt, facts: ModelFacts, doubtful: boolean): PromptForm | undefined {
  const plain = plainText(prompt, facts);
  if (doubtful) return plain === undefined ? undefined : { form: 'plain' };
  const text = prompt.form === 'text' && prompt.text.length <= mostCharacters ? prompt.text : plain;
  if (text === undefined) return undefined;
  // Beside a template that is the engine's, the model's own form is not known.
  if (facts.templateOrigin === undefined) {
    const frame = foreignPrompt(text, facts);
    if (frame !== undefined) return { form: 'foreign', frame };
    const opening = unfilledOpening(text, facts);
    if (opening !== undefined) return { form: 'unfilled', opening };
    const mistyped = nearMarker(text, facts);
    if (mistyped !== undefined) return { form: 'mistyped', found: mistyped };
    const unended = unendedTurn(text, facts);
    if (unended !== undefined) return { form: 'unended', found: unended };
  }
  if (plain === undefined) return undefined;
  const fillIn = foreignFillIn(plain, facts);
  if (fillIn !== undefined) return { form: 'fill-in', found: fillIn };
  const found = stringifiedPlain(plain);
  return found === undefined ? { form: 'plain' } : { form: 'stringified', found };
}
