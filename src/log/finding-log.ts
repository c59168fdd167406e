/**
 * Logs each new finding once. Equal ones (kind, cause, client, model) within the fold window are counted and told as one
 * line when the window closes. A window opens with a logged finding and closes after its time, never later because of
 * repeats; so a finding that goes on for hours is told once per window.
 */
import type { Severity } from '../exchange/finding.ts';
import type { FindingRecord } from '../exchange/finding-record.ts';

import { findingLine, repeatLine, type Repeats } from './finding-line.ts';

export type FindingLevel = 'info' | 'warn' | 'error';

export interface FindingLogParts {
  /** Writes one line: the logger's method of that level. */
  readonly write: (level: FindingLevel, fields: object, message: string) => void;
  /** `log.foldSeconds`, asked when a window opens; 0 logs every finding. */
  readonly foldSeconds: () => number;
  /** Milliseconds on any scale that does not jump. @defaultValue performance.now */
  readonly nowMs?: () => number;
}

export interface FindingLog {
  add(record: FindingRecord): void;
  /** Closes the windows whose time is over. Call it every second or so; `add` does it as well. */
  closeDue(): void;
  /** Closes all windows: at shutdown, so that no count is lost. */
  closeAll(): void;
}

interface Window {
  readonly closesAtMs: number;
  readonly repeats: Repeats;
}

/** Clients come without bound; the oldest window closes early when there would be more than these. */
const maxWindows = 1000;

const levels: Readonly<Record<Severity, FindingLevel>> = { info: 'info', warning: 'warn', error: 'error' };

export function createFindingLog(parts: FindingLogParts): FindingLog {
  const nowMs = parts.nowMs ?? (() => performance.now());
  /** In the order of opening; a window with no repeats yet has count 0. */
  const windows = new Map<string, Window>();

  function close(key: string, { repeats }: Window): void {
    windows.delete(key);
    if (repeats.count === 0) return;
    const { newest, count } = repeats;
    const message = `${count} more like it: ${newest.message}`;
    parts.write(levels[newest.severity], repeatLine(repeats), message);
  }

  function closeDue(): void {
    const now = nowMs();
    for (const [key, window] of windows) {
      if (window.closesAtMs <= now) close(key, window);
    }
  }

  function open(key: string, record: FindingRecord): void {
    const foldMs = parts.foldSeconds() * 1000;
    if (foldMs <= 0) return;
    const [oldest] = windows;
    if (oldest && windows.size >= maxWindows) close(...oldest);
    windows.set(key, {
      closesAtMs: nowMs() + foldMs,
      repeats: { since: record.time, newest: record, count: 0, lostTokens: 0, savedTokens: 0 },
    });
  }

  return {
    add: (record) => {
      closeDue();
      const key = JSON.stringify([record.kind, record.cause, record.client, record.model]);
      const window = windows.get(key);
      if (window) {
        const { since, count, lostTokens, savedTokens } = window.repeats;
        const repeats: Repeats = {
          since,
          newest: record,
          count: count + 1,
          lostTokens: lostTokens + (record.lostTokens ?? 0),
          savedTokens: savedTokens + (record.savedTokens ?? 0),
        };
        windows.set(key, { ...window, repeats });
        return;
      }
      open(key, record);
      parts.write(levels[record.severity], findingLine(record), record.message);
    },
    closeDue,
    closeAll: () => {
      for (const [key, window] of windows) close(key, window);
    },
  };
}
