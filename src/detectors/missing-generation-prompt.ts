/**
 * Finds prompts that lack what opens an answer, or have something else in its place, though nobody asked for that. Silent
 * where the end can be meant: prefills, scoring, fill-in, turns that are left open, results of tools.
 */
import { wrongOpening, type WrongOpening } from './causes/answer-opening.ts';
import { tokenRange } from './causes/content-place.ts';
import { isFillIn } from './causes/fill-in.ts';
import { maybeBase } from './causes/plain-prompt.ts';
import { answersAreOpened, hasFormOf, lastToken, opensAnswer, rendersQuestion } from './causes/prompt-end.ts';
import { isScoring } from './causes/scoring.ts';
import { cutField } from './causes/cut-field.ts';
import type { Detector } from './detector.ts';
import { isArray, isObject } from '../exchange/json/body-reader.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatRequest, CompletionRequest } from '../exchange/request/request.ts';
import type { KnownTokens } from '../exchange/token-read.ts';

type Fault = Pick<Finding, 'cause' | 'culprit' | 'fact' | 'field' | 'message' | 'advice'> &
  Partial<Pick<Finding, 'severity' | 'tokens' | 'characters'>>;

export const missingGenerationPrompt: Detector = {
  kind: 'missing-generation-prompt',
  summary: 'The prompt does not open an answer, or not as the template does, and nobody asked for that.',
  stage: 'request',
  need: 'ids',
  severity: 'warning',
  repairs: false,
  detect(exchange) {
    const { request, facts, prompts } = exchange;
    if (request === undefined || facts === undefined) return [];
    return prompts.flatMap((read, promptIndex) => {
      if (!read.known) return [];
      const fault =
        request.kind === 'chat'
          ? chatFault(request, facts, read)
          : rawFault(exchange, request, facts, promptIndex, read);
      return fault === undefined
        ? []
        : [
            {
              kind: 'missing-generation-prompt',
              severity: 'warning',
              promptIndex,
              ...lastToken(read),
              ...fault,
            },
          ];
    });
  },
};

/** An unfilled place of a format string, as one published template ends with: `{role}`. */
const unfilled = /\{\{?\s*\w+\s*\}\}?/;

function chatFault(request: ChatRequest, facts: ModelFacts, read: KnownTokens): Fault | undefined {
  if (!asksForAnswer(request)) return undefined;
  const written = facts.generationPrompt?.text;
  const place = unfilled.exec(written ?? '')?.[0];
  if (place !== undefined && opensAnswer(read, facts)) {
    return {
      cause: 'malformed',
      culprit: 'template',
      fact: 'malformed',
      message: `The chat template opens an answer with ${JSON.stringify(written)}, in which ${place} was never filled in.`,
      advice: 'Whoever serves the model must give it a mended chat template; the client is not the cause.',
    };
  }
  if (opensAnswer(read, facts) || answersAreOpened(read, request, facts)) return undefined;
  if (read.cut === undefined && !hasFormOf(read, facts)) return undefined;
  const opening =
    written ?? facts.roleMarkers.find(({ role }) => role === 'assistant')?.opening ?? 'what opens an answer';
  if (read.cut !== undefined) {
    const field = cutField(request) ?? '';
    return {
      cause: 'cut-off',
      culprit: 'client',
      field,
      message: `The prompt lacks what opens an answer (${JSON.stringify(opening)}): the client has its ${read.cut} cut off.`,
      advice: `Leave ${field} out and drop earlier messages instead, or have the start cut off, and less of it.`,
    };
  }
  return {
    cause: written === undefined ? 'never-written' : 'left-out',
    culprit: 'template',
    ...(written === undefined && { fact: 'never-written' }),
    message:
      written === undefined
        ? `The prompt ends with the question: the chat template opens answers with ${JSON.stringify(opening)} in the history, and writes it nowhere for the answer to come.`
        : `The prompt ends with the question: the chat template leaves out what opens an answer (${JSON.stringify(opening)}).`,
    advice:
      'Whoever serves the model must have its chat template heed add_generation_prompt; the client is not the cause.',
  };
}

/** True for a conversation that ends with a text of the user's and has no flag that says that no answer is wanted. */
function asksForAnswer({ json, messages }: ChatRequest): boolean {
  if (json['add_generation_prompt'] === false) return false;
  if (![undefined, null, false].includes(json['continue_final_message'] as boolean | null | undefined))
    return false;
  const last = messages.at(-1);
  const content = last?.value['content'];
  const isText =
    typeof content === 'string' ||
    (isArray(content) && content.every((part) => isObject(part) && typeof part['text'] === 'string'));
  return last?.role === 'user' && isText;
}

function rawFault(
  exchange: Exchange,
  request: CompletionRequest,
  facts: ModelFacts,
  promptIndex: number,
  read: KnownTokens,
): Fault | undefined {
  const prompt = request.prompts[promptIndex];
  const opening = facts.generationPrompt?.text;
  if (prompt?.form !== 'text' || opening === undefined || exchange.modelKind === 'base') return undefined;
  if (isScoring(request) || isFillIn(prompt, facts)) return undefined;
  const field = formatPath(prompt.path);
  if (rendersQuestion(prompt.text, facts)) {
    return {
      cause: 'rendered-by-client',
      culprit: 'client',
      field,
      message: `The prompt is a rendered conversation that ends with the question: what opens an answer is missing (${JSON.stringify(opening)}).`,
      advice:
        'Render the template with add_generation_prompt: true, or send the messages to the chat route, which does.',
    };
  }
  // Beside a template that is the engine's, the model's own form is not known; nor is what a base model was trained on.
  if (facts.templateOrigin !== undefined || maybeBase(exchange)) return undefined;
  const wrong = wrongOpening(prompt.text, facts);
  return wrong && { ...toldOf(wrong, opening, field), ...placeOfWrong(wrong, read) };
}

function placeOfWrong(
  { cause, start, end }: WrongOpening,
  read: KnownTokens,
): Pick<Finding, 'tokens' | 'characters'> {
  const tokens = cause === 'other-role' ? tokenRange(read, { start, end }) : undefined;
  return { characters: { start, end }, ...(tokens && { tokens }) };
}

function toldOf({ cause, start, written, right }: WrongOpening, opening: string, field: string): Fault {
  const told = { cause, culprit: 'client', field } as const;
  const learnt = JSON.stringify(opening);
  if (cause === 'other-role') {
    return {
      ...told,
      message: `At character ${start} of ${field} the answer is opened with another role's word (${written}): the template opens answers with ${learnt}.`,
      advice: `Write ${right} there, as the template does, or send the messages to the chat route, which renders it.`,
    };
  }
  const end = `Behind ${JSON.stringify(opening.trimEnd())} the prompt ends`;
  const advice = `End the prompt with ${learnt} to the character: nothing may trim it, or put white space behind it.`;
  return cause === 'blank-missing'
    ? {
        ...told,
        severity: 'info',
        message: `${end}, where the template writes ${JSON.stringify(right.slice(written.length))} more: the model has to write that first.`,
        advice,
      }
    : {
        ...told,
        message: `${end} with ${JSON.stringify(written)}, where the template writes ${JSON.stringify(right)}: the answer begins behind other tokens than the model was trained on.`,
        advice,
      };
}
