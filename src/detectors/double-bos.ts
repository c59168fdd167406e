/** Finds a doubled BOS at a prompt's head and says who wrote which of them. Looks at no other place of the prompt. */
import { bosOfChat, bosOfRawPrompt, type BosSource } from './causes/bos-source.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import type { Marker } from '../exchange/model-facts.ts';

export const doubleBos: Detector = {
  kind: 'double-bos',
  summary: 'The prompt starts with two or more BOS tokens.',
  stage: 'request',
  need: 'head',
  severity: 'error',
  repairs: true,
  detect(exchange) {
    const bos = exchange.facts?.bos;
    if (bos === undefined || exchange.request === undefined) return [];
    return exchange.heads.flatMap((head, promptIndex) => {
      const count = head.known ? leadingBos(head.ids, bos) : 0;
      return count < 2 ? [] : [finding(exchange, bos, count, promptIndex)];
    });
  },
};

function leadingBos(ids: readonly number[], bos: Marker): number {
  const end = ids.findIndex((id) => id !== bos.id);
  return end < 0 ? ids.length : end;
}

function finding(exchange: Exchange, bos: Marker, count: number, promptIndex: number): Finding {
  const source = sourceOf(exchange, bos, count, promptIndex);
  return {
    kind: 'double-bos',
    cause: source.cause,
    severity: 'error',
    culprit: source.culprit,
    promptIndex,
    tokens: { start: 0, end: count },
    ...(source.field !== undefined && { field: source.field }),
    message: `The prompt starts with ${count} BOS tokens (${bos.text}, id ${bos.id}) where the model was trained on one: ${source.evidence}.`,
    advice: source.advice,
    ...(source.edits.length > 0 && {
      repair: { edits: source.edits, proof: { by: 'ids', removesLeadingTokens: count - 1 } },
    }),
  };
}

function sourceOf(
  { request, facts, prompts }: Exchange,
  bos: Marker,
  count: number,
  index: number,
): BosSource {
  if (request?.kind === 'completion') {
    const added = (facts?.addedPrefix.completion ?? []).filter((id) => id === bos.id).length;
    return bosOfRawPrompt({ prompt: request.prompts[index], body: request.body, bos, added, count });
  }
  const added = (facts?.addedPrefix.chat ?? []).filter((id) => id === bos.id).length;
  const read = prompts[index];
  return bosOfChat({
    request,
    bos,
    added,
    count,
    roleMarkers: facts?.roleMarkers ?? [],
    ...(read?.known === true && read.text !== undefined && { rendered: read.text }),
  });
}
