/**
 * Finds prompts that lack the BOS their model is fed with otherwise: by the engine's own doing or by its template's. Says
 * nothing of models that show neither, and nothing of fill-in prompts.
 */
import { isFillIn } from './causes/fill-in.ts';
import { cutField } from './causes/cut-field.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { Marker, ModelFacts } from '../exchange/model-facts.ts';
import type { RawPrompt } from '../exchange/request/request.ts';

type MissingBos = Pick<Finding, 'cause' | 'culprit' | 'fact' | 'field' | 'advice'> & {
  /** Half a sentence. */
  readonly evidence: string;
};

export const missingBos: Detector = {
  kind: 'missing-bos',
  summary: 'The prompt does not start with the BOS token that the model is otherwise fed with.',
  stage: 'request',
  need: 'head',
  severity: 'error',
  repairs: false,
  detect(exchange) {
    const { facts, heads } = exchange;
    const bos = facts?.bos;
    if (facts === undefined || bos === undefined) return [];
    return heads.flatMap((head, promptIndex) => {
      if (!head.known || head.ids[0] === bos.id) return [];
      const missing = missingIn(exchange, facts, bos, promptIndex);
      return missing === undefined ? [] : [finding(missing, bos, promptIndex, head.ids.length > 0)];
    });
  },
};

/** Undefined where nothing says that there should be one. */
function missingIn(
  { request, heads }: Exchange,
  facts: ModelFacts,
  bos: Marker,
  promptIndex: number,
): MissingBos | undefined {
  const added = request?.kind === 'completion' ? facts.addedPrefix.completion : facts.addedPrefix.chat;
  const isAdded = added.includes(bos.id);
  if (!isAdded && facts.templateWritesBos !== true) return undefined;
  const head = heads[promptIndex];
  const wanted = isAdded ? 'the engine puts one in front of texts' : 'the chat template writes one';
  if (request !== undefined && head?.known === true && head.cut === 'start') {
    const by = cutField(request) ?? '';
    return {
      cause: 'cut-off',
      culprit: 'client',
      field: by,
      evidence: `${wanted}, and the client has the start of the prompt cut off`,
      advice: `Leave ${by} out and drop earlier messages instead, or have the end cut off.`,
    };
  }
  if (request?.kind !== 'completion') {
    // A template may write BOS with the first message.
    if (request?.messages.length === 0) return undefined;
    return {
      cause: 'template',
      culprit: 'template',
      evidence: `${wanted}, but not in this conversation`,
      advice: `Whoever serves the model must have its chat template write ${bos.text} in every case; the client is not the cause.`,
    };
  }
  const prompt = request.prompts[promptIndex];
  if (prompt === undefined || isEmpty(prompt) || isFillIn(prompt, facts)) return undefined;
  const field = formatPath(prompt.path);
  if (prompt.form === 'ids' || (prompt.form === 'mixed' && typeof prompt.items[0] === 'number')) {
    return {
      cause: 'ids',
      culprit: 'client',
      field,
      evidence: `${wanted}, and the client sent ids, to which none is added`,
      advice: `Put the id ${bos.id} in front of the ids.`,
    };
  }
  if (isAdded) {
    // Nobody is accused of a switch that the request does not hold: then the facts are of another engine than the ids.
    if (request.json['add_special_tokens'] !== false) return undefined;
    return {
      cause: 'switched-off',
      culprit: 'client',
      field: 'add_special_tokens',
      evidence: `${wanted}, and the client switched that off`,
      advice: `Leave add_special_tokens out, or start the text with ${bos.text}.`,
    };
  }
  return {
    cause: 'model-file',
    culprit: 'model-file',
    fact: 'model-file',
    field,
    evidence: `${wanted}, but the model file does not have one put in front of a raw text`,
    advice: `Whoever serves the model must switch on the automatic BOS in the model file; until then start raw texts with ${bos.text}.`,
  };
}

function isEmpty(prompt: RawPrompt): boolean {
  return (prompt.form === 'text' && prompt.text === '') || (prompt.form === 'ids' && prompt.ids.length === 0);
}

function finding(
  { evidence, ...missing }: MissingBos,
  bos: Marker,
  promptIndex: number,
  hasTokens: boolean,
): Finding {
  return {
    kind: 'missing-bos',
    severity: 'error',
    promptIndex,
    ...(hasTokens && { tokens: { start: 0, end: 1 } }),
    message: `The prompt does not start with BOS (${bos.text}, id ${bos.id}): ${evidence}.`,
    ...missing,
  };
}
