/**
 * Counts conversations that are under way against the engine's slots. A request that nothing follows is no conversation,
 * so that thousands of single ones are no trouble. Told once, and again as the number grows.
 */
import type { EngineEvent } from '../exchange/engine-event.ts';
import type { Exchange } from '../exchange/exchange.ts';

export interface SlotWatchOptions {
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
  /** The engine's flag for the number of slots, once the engine is known. */
  readonly flag: () => string | undefined;
  readonly onEvent: (event: EngineEvent) => void;
}

/** A conversation is under way for so long after its last turn. */
const liveMs = 5 * 60_000;
/** A number that grows is not told more often than this, unless it doubles. */
const tellAgainMs = 60_000;
/** More are not needed to tell that they are too many. */
const mostSessions = 4096;
const mostModels = 64;

interface Live {
  readonly turns: number;
  readonly lastMs: number;
}

/** Of one model. `sessions` in the order of their last turns; `told` is the number told last; undefined while there are slots enough. */
interface ModelLoad {
  readonly sessions: Map<string, Live>;
  conversations: number;
  told: { readonly conversations: number; readonly atMs: number } | undefined;
}

export class SlotWatch {
  readonly #options: SlotWatchOptions;
  readonly #models = new Map<string, ModelLoad>();

  constructor(options: SlotWatchOptions) {
    this.#options = options;
  }

  /** Call once per exchange that belongs to a session and that the engine has begun to answer. */
  note({ session, facts, modelName }: Exchange): void {
    if (session === undefined || facts === undefined || facts.slots === 0) return;
    const load = this.#loadOf(modelName);
    const now = this.#options.now();
    const before = load.sessions.get(session.session);
    const turns = (before?.turns ?? 0) + 1;
    load.sessions.delete(session.session);
    load.sessions.set(session.session, { turns, lastMs: now });
    if (turns === 2) load.conversations += 1;
    dropOld(load, now);
    this.#compare(load, facts.slots, modelName, now);
  }

  #compare(load: ModelLoad, slots: number, modelName: string, now: number): void {
    const { conversations, told } = load;
    if (conversations <= slots) {
      load.told = undefined;
      return;
    }
    if (told !== undefined) {
      const patience = conversations >= told.conversations * 2 ? 0 : tellAgainMs;
      if (conversations <= told.conversations || now - told.atMs < patience) return;
    }
    load.told = { conversations, atMs: now };
    const flag = this.#options.flag();
    this.#options.onEvent({
      event: 'slots-oversubscribed',
      modelName,
      slots,
      sessions: conversations,
      ...(flag !== undefined && { flag }),
    });
  }

  #loadOf(modelName: string): ModelLoad {
    const known = this.#models.get(modelName);
    if (known !== undefined) return known;
    const [oldest] = this.#models.keys();
    if (oldest !== undefined && this.#models.size >= mostModels) this.#models.delete(oldest);
    const load: ModelLoad = { sessions: new Map(), conversations: 0, told: undefined };
    this.#models.set(modelName, load);
    return load;
  }
}

function dropOld(load: ModelLoad, now: number): void {
  for (const [session, { turns, lastMs }] of load.sessions) {
    if (now - lastMs < liveMs && load.sessions.size <= mostSessions) return;
    load.sessions.delete(session);
    if (turns > 1) load.conversations -= 1;
  }
}
