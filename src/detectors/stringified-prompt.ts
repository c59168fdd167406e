/**
 * Finds conversations that were turned into text before they were sent: role words at the beginnings of lines, the repr or
 * JSON of messages or of their parts. Silent about such text where it is quoted, continued on purpose, or the model's form.
 */
import { markerTokens, renderedOffset } from './causes/content-place.ts';
import { charactersOf, formedPrompts } from './causes/prompt-forms.ts';
import { promptHead } from './causes/prompt-head.ts';
import { spokenTexts, type SpokenText } from './causes/spoken-texts.ts';
import { stringifiedMessage, type Stringified } from './causes/stringified.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import type { ChatRequest, JsonPath } from '../exchange/request/request.ts';

const mostFindings = 16;

export const stringifiedPrompt: Detector = {
  kind: 'stringified-prompt',
  summary: 'A conversation was turned into text: role words or written objects stand where turns should.',
  stage: 'request',
  need: 'head',
  severity: 'warning',
  repairs: false,
  detect(exchange) {
    const { request, facts, modelKind } = exchange;
    if (request === undefined || facts === undefined || modelKind === 'base') return [];
    if (request.kind === 'chat') return inMessages(exchange, request, facts);
    return formedPrompts(exchange).flatMap(({ prompt, promptIndex, of }) =>
      of.form === 'stringified'
        ? [
            {
              ...finding(of.found, prompt.path, promptIndex),
              ...promptHead(exchange, promptIndex),
              ...charactersOf(prompt, of.found),
            },
          ]
        : [],
    );
  },
};

function inMessages(exchange: Exchange, request: ChatRequest, facts: ModelFacts): Finding[] {
  const findings: Finding[] = [];
  const spoken = spokenTexts(request);
  for (let index = 0; index < spoken.texts.length; index += 1) {
    const found = stringifiedMessage(spoken.texts[index] ?? '', spoken.isAlone);
    if (found === undefined) continue;
    const one = spoken.at(index);
    if (isOwnForm(one.text, facts)) continue;
    const characters = { start: found.start, end: found.end };
    findings.push({
      ...finding(found, one.path, 0),
      characters,
      ...placeOf(exchange, request, facts, one, found),
    });
    if (findings.length === mostFindings) break;
  }
  return findings;
}

/** A rendered conversation inside a message is another kind's. */
function isOwnForm(text: string, { roleMarkers }: ModelFacts): boolean {
  return roleMarkers.some(({ opening }) => opening.trim() !== '' && text.includes(opening.trim()));
}

/** Media take up positions that our ids don't have. */
function placeOf(
  { prompts: [read] }: Exchange,
  request: ChatRequest,
  { roleMarkers }: ModelFacts,
  one: SpokenText,
  { start }: Stringified,
): Pick<Finding, 'tokens'> {
  if (request.hasMedia || read?.known !== true || read.text === undefined) return {};
  const marker = one.text.slice(start, start + 16);
  const at = renderedOffset(request, read.text, roleMarkers, one, { at: start, marker });
  const tokens = at === undefined ? undefined : markerTokens(read, at, at);
  return tokens === undefined ? {} : { tokens };
}

function finding(
  { cause, words = [], isCopied = false }: Stringified,
  path: JsonPath,
  promptIndex: number,
): Finding {
  const field = formatPath(path);
  return {
    kind: 'stringified-prompt',
    cause,
    severity: isCopied ? 'info' : 'warning',
    culprit: 'client',
    promptIndex,
    field,
    message: `${messages[cause](field, words)}.`,
    advice: advices[cause],
  };
}

/** `"USER:" and "ASSISTANT:"` */
function listed(words: readonly string[]): string {
  const quoted = words.map((word) => JSON.stringify(word));
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} and ${last}`;
}

const messages: Readonly<Record<Stringified['cause'], (field: string, words: readonly string[]) => string>> =
  {
    'role-words': (field, words) =>
      words.length > 1
        ? `In ${field} ${listed(words)} stand where turns should begin, and the model reads them as text of one and the same turn`
        : `In ${field} ${listed(words)} stands where a turn should begin, and the model reads it as text`,
    'messages-as-text': (field) =>
      `What stands in ${field} is the written form of a list of messages, as str() or JSON makes it, and the model reads its brackets and quotes`,
    'parts-as-text': (field) =>
      `What stands in ${field} is the written form of a list of content parts, as str() or JSON makes it, and the model reads its brackets and quotes`,
    'object-as-text': (field) =>
      `What stands in ${field} is [object Object], which JavaScript writes for an object in the place of a text: what was meant is lost`,
  };

const advices: Readonly<Record<Stringified['cause'], string>> = {
  'role-words':
    "Send each turn as a message of its own to the chat route (LangChain's chat classes do, its text-completion classes write such lines); for a base model set models.<name>.kind to base.",
  'messages-as-text':
    'Send the list itself as messages to the chat route; somewhere before, the client makes a string of it.',
  'object-as-text':
    'Send the text itself, or the list of parts as content; somewhere before, the client joins an object to a string.',
  'parts-as-text': 'Send the list itself as content, or the texts of its parts as one string.',
};
