/**
 * Which segments the newest messages of a chat will make, said before the engine has rendered it, so that they can be
 * tokenized meanwhile. Learnt from what its renderings put around texts. A wrong forecast costs a question, never truth:
 * ids are remembered by the segment's own text. Holds a few characters of templates, no texts.
 */
import { LRUCache } from 'lru-cache';

import type { SegmentRead } from '../exchange/token-read.ts';

/** A message's text; '' for one that has none. */
export interface NewText {
  readonly role: string;
  readonly text: string;
}

interface Frame {
  readonly before: string;
  readonly after: string;
  /** In how many renderings in a row. */
  readonly seen: number;
}

/** Longer ones hold other messages. */
const mostCharacters = 64;
/** Before a frame is believed. */
const wanted = 2;

export class SegmentForecast {
  /** By scope, role and place: the newest message is often framed otherwise than those before. */
  readonly #frames = new LRUCache<string, Frame>({ max: 1024 });

  /** @param newest the newest first */
  segments(scope: string, newest: readonly NewText[]): string[] {
    return newest.flatMap(({ role, text }, place) => {
      const frame = this.#frames.get(keyOf(scope, role, place));
      // Templates trim texts, or do not.
      if (frame === undefined || frame.seen < wanted || text === '' || text !== text.trim()) return [];
      return [frame.before + text + frame.after];
    });
  }

  /** @param segments of the rendered chat, in order */
  learn(
    scope: string,
    newest: readonly NewText[],
    rendered: string,
    segments: readonly Pick<SegmentRead, 'textStart'>[],
  ): void {
    let end = rendered.length;
    for (const [place, { role, text }] of newest.entries()) {
      if (text === '' || text !== text.trim()) continue;
      const key = keyOf(scope, role, place);
      const start = rendered.lastIndexOf(text, end - text.length);
      const frame = start < 0 ? undefined : frameOf(start, start + text.length, rendered, segments);
      if (frame === undefined) {
        this.#frames.delete(key);
        continue;
      }
      end = start;
      const known = this.#frames.get(key);
      const isSame = known?.before === frame.before && known.after === frame.after;
      this.#frames.set(key, { ...frame, seen: isSame ? known.seen + 1 : 1 });
    }
  }
}

function keyOf(scope: string, role: string, place: number): string {
  return `${scope}\n${place}\n${role.slice(0, mostCharacters)}`;
}

/** What else is in the segment of a text; undefined if the text is in several, or with much else. */
function frameOf(
  start: number,
  end: number,
  rendered: string,
  segments: readonly Pick<SegmentRead, 'textStart'>[],
): Pick<Frame, 'before' | 'after'> | undefined {
  const index = segments.findLastIndex(({ textStart }) => textStart <= start);
  const from = segments[index]?.textStart;
  const to = segments[index + 1]?.textStart ?? rendered.length;
  if (from === undefined || to < end || start - from + to - end > mostCharacters) return undefined;
  return { before: rendered.slice(from, start), after: rendered.slice(end, to) };
}
