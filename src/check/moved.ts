/** Holds the prompts of then against those of today, prompt by prompt, and takes the tokens around what differs. */
import type { Exchange } from '../exchange/exchange.ts';
import type { MaskedWindow } from '../exchange/finding-record.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import { maskWindow, windowAt } from '../pipeline/masked-window.ts';
import { compareIds, type ComparedPrompt } from './movement.ts';
import type { CheckOptions } from './options.ts';
import type { ShownMovement } from './result.ts';

interface Compared {
  readonly moved: readonly ShownMovement[];
  readonly factsChanged: readonly string[];
}

/**
 * @param day of the prompts of then, as in `2026-03-01`; absent if nobody knows
 * @returns undefined where not both sides have ids: then nothing is said about what has moved.
 */
export async function compareReadings(
  then: Exchange,
  now: Exchange,
  day: string | undefined,
  options: Pick<CheckOptions, 'config' | 'asked' | 'digestKey'>,
): Promise<Compared | undefined> {
  if (then.facts === undefined || now.facts === undefined) return undefined;
  const moved: ShownMovement[] = [];
  let compared = 0;
  for (const [promptIndex, frozen] of then.prompts.entries()) {
    const todays = now.prompts[promptIndex];
    if (!frozen.known || todays?.known !== true) continue;
    compared += 1;
    const sides = [
      { ids: frozen.ids, facts: then.facts },
      { ids: todays.ids, facts: now.facts },
    ] as const;
    const movement = compareIds(...sides);
    if (movement === undefined) continue;
    const windows = sides.map((side) => shownWindow(side, movement.position, now, options));
    const [thenWindow, nowWindow] = await Promise.all(windows);
    if (thenWindow && nowWindow) moved.push({ ...movement, promptIndex, thenWindow, nowWindow });
  }
  if (compared === 0) return undefined;
  // A template that writes the date makes another prompt every day.
  const isDated = now.facts.templateWritesDate && day !== new Date().toISOString().slice(0, day?.length);
  return { moved, factsChanged: [...changedFacts(then.facts, now.facts), ...(isDated ? ['date'] : [])] };
}

/** Masked, unless the operator asked for texts and the engine of today can tell them: its vocabulary is the same. */
async function shownWindow(
  { ids, facts }: ComparedPrompt,
  position: number,
  now: Exchange,
  { config, asked, digestKey }: Pick<CheckOptions, 'config' | 'asked' | 'digestKey'>,
): Promise<MaskedWindow> {
  const window = windowAt(ids, position);
  const tells = config.privacy.showText && now.facts !== undefined && hasMarkersOf(now.facts, facts);
  const pieces = tells && now.facts ? await asked?.engine.pieces(window.ids, now.facts, asked.context) : [];
  return maskWindow(window, { facts }, digestKey, pieces);
}

function hasMarkersOf(today: ModelFacts, then: ModelFacts): boolean {
  const texts = new Map(today.markers.map(({ id, text }) => [id, text]));
  return then.markers.every(({ id, text }) => texts.get(id) === text);
}

function changedFacts(then: ModelFacts, now: ModelFacts): string[] {
  const facts: Readonly<Record<string, (of: ModelFacts) => unknown>> = {
    model: ({ modelName }) => modelName,
    engine: ({ engine }) => engine,
    build: ({ build }) => build,
    template: ({ templateHash }) => templateHash,
    bos: ({ bos, addedPrefix }) => [bos ?? null, addedPrefix],
    context: ({ contextTokens }) => contextTokens,
  };
  return Object.entries(facts)
    .filter(([, of]) => JSON.stringify(of(then)) !== JSON.stringify(of(now)))
    .map(([name]) => name);
}
