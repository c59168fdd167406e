/**
 * Finds a token that the engine puts in front as BOS though neither the vocabulary nor the template speaks for one. Looks
 * at what the engine adds, never at what a client writes.
 */
import type { Detector } from './detector.ts';
import type { Finding } from '../exchange/finding.ts';
import type { Marker, ModelFacts } from '../exchange/model-facts.ts';
import type { GenerationRequest } from '../exchange/request/request.ts';

type UnwantedBos = Pick<Finding, 'cause' | 'fact' | 'severity' | 'message' | 'advice'>;

export const unwantedBos: Detector = {
  kind: 'unwanted-bos',
  summary: 'The engine puts a token in front as BOS that the model shows no sign of wanting.',
  stage: 'request',
  need: 'head',
  severity: 'warning',
  repairs: false,
  detect({ request, facts, heads }) {
    if (request === undefined || facts === undefined) return [];
    const unwanted = unwantedBy(facts);
    if (unwanted === undefined) return [];
    const { id } = unwanted.token;
    return heads.flatMap((head, promptIndex) => {
      if (!head.known || head.ids[0] !== id || !isAdded(id, facts, request, promptIndex)) return [];
      return [
        {
          kind: 'unwanted-bos',
          culprit: 'model-file',
          promptIndex,
          tokens: { start: 0, end: 1 },
          ...unwanted.finding,
        },
      ];
    });
  },
};

function unwantedBy(
  facts: ModelFacts,
): { readonly token: Marker; readonly finding: UnwantedBos } | undefined {
  const { bos, ordinaryBos, templateWritesBos } = facts;
  if (ordinaryBos !== undefined) {
    const named = `${JSON.stringify(ordinaryBos.text)}, id ${ordinaryBos.id}`;
    return {
      token: ordinaryBos,
      finding: {
        cause: 'ordinary-token',
        fact: 'ordinary-token',
        severity: 'warning',
        message: `The engine puts an ordinary token (${named}) in front as BOS, and the chat template writes none: the model file names no BOS, so a default took its place.`,
        advice:
          'Whoever serves the model must switch off the automatic BOS in the model file, or name the right token there.',
      },
    };
  }
  if (bos === undefined || templateWritesBos !== false || !hasOwnTemplate(facts)) return undefined;
  return {
    token: bos,
    finding: {
      cause: 'not-in-template',
      fact: 'not-in-template',
      severity: 'info',
      message: `The engine puts BOS (${bos.text}, id ${bos.id}) in front, which the model's own chat template never writes.`,
      advice:
        'Whoever serves the model should look up whether it was trained with BOS; if not, the automatic BOS must be switched off in the model file.',
    },
  };
}

/** A template that an engine falls back to is not the model's own: to its vocabulary the markers are mere text. */
function hasOwnTemplate({ roleMarkers, markers }: ModelFacts): boolean {
  return roleMarkers.some(({ opening }) => markers.some(({ text }) => opening.includes(text)));
}

/** Ids get nothing added, and a batch may hold both. */
function isAdded(
  id: number,
  { addedPrefix }: ModelFacts,
  request: GenerationRequest,
  promptIndex: number,
): boolean {
  if (request.kind === 'chat') return addedPrefix.chat.includes(id);
  const prompt = request.prompts[promptIndex];
  const first = prompt?.form === 'mixed' ? prompt.items[0] : undefined;
  return addedPrefix.completion.includes(id) && (prompt?.form === 'text' || typeof first === 'string');
}
