/**
 * Finds conversations whose last message is the assistant's: left over and empty, closed though it was to be gone on
 * with, or a prefill on purpose. Judges no message that calls a tool or only thinks.
 */
import { isEmptyTurn, isTextAlone } from './causes/empty-turn.ts';
import { lastToken, opensAnswer } from './causes/prompt-end.ts';
import type { Detector } from './detector.ts';
import type { Edit } from '../exchange/edits.ts';
import type { Finding } from '../exchange/finding.ts';
import { locateValue } from '../exchange/json/json-offsets.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatMessage, ChatRequest } from '../exchange/request/request.ts';
import { contentText } from '../exchange/request/system-text.ts';
import type { KnownTokens } from '../exchange/token-read.ts';

export const trailingAssistant: Detector = {
  kind: 'trailing-assistant',
  summary: "The last message is the assistant's: an empty turn, or one to go on with.",
  stage: 'request',
  need: 'ids',
  severity: 'warning',
  repairs: true,
  detect({ request, facts, prompts }) {
    const read = prompts[0];
    if (request?.kind !== 'chat' || facts === undefined || read?.known !== true) return [];
    // Of a prompt without its end nothing shows what the model goes on with.
    if (read.cut === 'end') return [];
    const last = request.messages.at(-1);
    if (last?.role !== 'assistant' || !isTextAlone(last)) return [];
    return [
      {
        kind: 'trailing-assistant',
        culprit: 'client',
        promptIndex: 0,
        ...lastToken(read),
        field: formatPath(last.path),
        ...judge(last, request, facts, read),
      },
    ];
  },
};

type Judgement = Pick<Finding, 'cause' | 'severity' | 'message' | 'advice' | 'repair'>;

function judge(last: ChatMessage, request: ChatRequest, facts: ModelFacts, read: KnownTokens): Judgement {
  const content = last.value['content'];
  const text = contentText(content);
  const opens = opensAnswer(read, facts);
  if (text.trim() === '') {
    // White space that stands in the prompt is more than nothing: to drop it changes more than the turn.
    const edits = text === '' ? dropOf(last, request) : [];
    const end = facts.generationPrompt?.text;
    const opening = JSON.stringify(end);
    const shown = opens
      ? `, and the prompt opens another answer behind it (${opening})`
      : `, so the prompt lacks what opens an answer (${opening})`;
    const effect = end === undefined ? '' : shown;
    return {
      cause: 'empty',
      severity: 'warning',
      message: `The last message is a turn of the assistant without text${effect}.`,
      advice: 'Leave the empty message out: it is mostly one that a client keeps for the answer to come.',
      ...(edits.length > 0 && { repair: { edits, proof: { by: 'rereading' } } }),
    };
  }
  const isContinued = read.text?.trimEnd().endsWith(text.trim()) ?? !opens;
  if (isContinued) {
    return {
      cause: 'prefill',
      severity: 'info',
      message: "The last message is the assistant's, and the model goes on with it.",
      advice: 'Nothing is to be done if that is meant; else let the last message be a question.',
    };
  }
  // Who asks for the opening of another answer knows that this one is over.
  const isAsked = request.json['add_generation_prompt'] === true;
  return {
    cause: 'not-continued',
    severity: opens && !isAsked ? 'warning' : 'info',
    message: `The last message is the assistant's, and the prompt ${opens ? 'closes it and opens another answer behind it' : 'ends behind it, closed'}: the model does not go on with it.`,
    advice:
      'To have it gone on with, send continue_final_message: true and add_generation_prompt: false, where the engine knows them.',
  };
}

/**
 * The edits that take the message out of the list that it is the last of, and with it the empty ones before it; [] if no
 * message were left, or the last one left were the assistant's again.
 */
function dropOf({ path }: ChatMessage, { body, messages }: ChatRequest): Edit[] {
  const kept = messages.findLast((message) => !isEmptyTurn(message));
  if (kept === undefined || kept.role === 'assistant') return [];
  const isItem = [kept.path, path].every((place) => place.length === 2 && typeof place[1] === 'number');
  if (!isItem || kept.path[0] !== path[0]) return [];
  const before = locateValue(body, kept.path);
  const dropped = locateValue(body, path);
  if (before === undefined || dropped === undefined) return [];
  return [{ start: before.end, end: dropped.end, replacement: '' }];
}
