/** What differs between two readings of a model's facts, in words that people can compare. Pure. */
import type { ChangingFact } from '../../exchange/engine-event.ts';
import type { Marker, ModelFacts } from '../../exchange/model-facts.ts';

export interface FactsChange {
  readonly what: ChangingFact;
  readonly from: string;
  readonly to: string;
}

/** Of more markers only the first ones are named. */
const mostNamed = 8;

/** Both as they were learnt: markers that traffic has shown since are no change of the engine's. */
export function changesBetween(old: ModelFacts, now: ModelFacts): readonly FactsChange[] {
  const changes: FactsChange[] = [
    { what: 'template', from: old.templateHash || 'none', to: now.templateHash || 'none' },
    { what: 'bos', from: bosOf(old), to: bosOf(now) },
    { what: 'context', from: String(old.contextTokens), to: String(now.contextTokens) },
    { what: 'build', from: old.build, to: now.build },
    { what: 'markers', from: without(old.markers, now.markers), to: without(now.markers, old.markers) },
  ];
  return changes.filter(({ from, to }) => from !== to);
}

function bosOf({ bos, addedPrefix }: ModelFacts): string {
  const token = bos === undefined ? 'none' : `${JSON.stringify(bos.text)} (id ${bos.id})`;
  return addedPrefix.chat.length + addedPrefix.completion.length > 0
    ? `${token}, added by the tokenizer`
    : token;
}

/** The markers that the others lack, or have with another id. */
function without(markers: readonly Marker[], others: readonly Marker[]): string {
  const known = new Map(others.map(({ text, id }) => [text, id]));
  const own = markers.filter(({ text, id }) => known.get(text) !== id);
  const named = own.slice(0, mostNamed).map(({ text, id }) => `${JSON.stringify(text)} (id ${id})`);
  const more = own.length > mostNamed ? [`and ${own.length - mostNamed} more`] : [];
  return [...named, ...more].join(', ') || 'none';
}
