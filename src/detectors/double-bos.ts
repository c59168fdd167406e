/** Finds a doubled BOS at a prompt's head and says who wrote which of them. Looks at no other place of the prompt. */
import { bosOfChat, bosOfRawPrompt, leadingBos, type BosSource } from './causes/bos-source.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import type { Marker } from '../exchange/model-facts.ts';
import type { AddedIds } from '../exchange/token-read.ts';

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
      return count < 2 || !head.known ? [] : [finding(exchange, bos, count, promptIndex, head.added)];
    });
  },
};

function finding(
  exchange: Exchange,
  bos: Marker,
  count: number,
  promptIndex: number,
  switched: AddedIds | undefined,
): Finding {
  const source = sourceOf(exchange, bos, count, promptIndex, switched);
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
  { request, facts, heads, prompts }: Exchange,
  bos: Marker,
  count: number,
  index: number,
  switched: AddedIds | undefined,
): BosSource {
  const route = request?.kind === 'completion' ? 'completion' : 'chat';
  const added = (switched?.ids ?? facts?.addedPrefix[route] ?? []).filter((id) => id === bos.id).length;
  const head = { bos, added, count, ...(switched !== undefined && { switch: switched }) };
  if (request?.kind === 'completion') {
    const allHaveOne = heads.every((other) => other.known && leadingBos(other.ids, bos) === 2);
    return bosOfRawPrompt({ ...head, prompt: request.prompts[index], body: request.body, allHaveOne });
  }
  const read = prompts[index];
  return bosOfChat({
    ...head,
    request,
    roleMarkers: facts?.roleMarkers ?? [],
    ...(read?.known === true && read.text !== undefined && { rendered: read.text }),
  });
}
