// Things that take seconds to make and never change (an unpacked llama-server, model files) are made once per machine
// and shared by all test processes, which node:test runs in parallel.
import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A lock whose holder has not touched it for this long (ms) belongs to a process that died. */
const staleAfter = 30_000;
const touchEvery = 3_000;
const pollEvery = 100;

/** `$TOKENWEIR_TEST_CACHE`, else `$XDG_CACHE_HOME/tokenweir`, else `~/.cache/tokenweir`. */
export function cacheFolder(): string {
  const own = process.env['TOKENWEIR_TEST_CACHE'];
  if (own) return own;
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tokenweir');
}

/**
 * The path of `name` (relative, may have folders) in the cache, after `build` has made it if it was not there.
 *
 * `build` gets a fresh path beside its final place and makes a file or folder there; a rename then publishes it, so
 * nobody ever sees half of it. The lock only saves work: two builders at once (after a wrongly broken lock) are
 * harmless, for the first rename wins and the other's work is thrown away.
 * @throws what `build` throws; nothing is left behind then and the next caller tries again.
 */
export async function cached(name: string, build: (path: string) => Promise<void>): Promise<string> {
  const finished = join(cacheFolder(), name);
  const lock = `${finished}.lock`;
  while (!(await exists(finished))) {
    await mkdir(dirname(finished), { recursive: true });
    const work = await takeLock(lock);
    if (work === undefined) {
      await breakStaleLock(lock);
      await sleep(pollEvery);
      continue;
    }
    const touching = setInterval(
      () => void utimes(lock, new Date(), new Date()).catch(() => undefined),
      touchEvery,
    );
    try {
      if (await exists(finished)) break;
      await build(work);
      await publish(work, finished);
    } catch (error) {
      const robbed = !(await exists(dirname(work)));
      if (!robbed) throw error;
    } finally {
      clearInterval(touching);
      if (await exists(dirname(work))) await rm(lock, { recursive: true, force: true });
    }
  }
  return finished;
}

/** @returns the path to build at, inside a folder of our own in the lock; undefined if somebody else holds it. */
async function takeLock(lock: string): Promise<string | undefined> {
  try {
    await mkdir(lock);
    const mine = join(lock, randomUUID());
    await mkdir(mine);
    return join(mine, 'work');
  } catch (error) {
    if (isCode(error, 'EEXIST') || isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function breakStaleLock(lock: string): Promise<void> {
  const age = await stat(lock).then(
    (found) => Date.now() - found.mtimeMs,
    () => 0,
  );
  if (age > staleAfter) await rm(lock, { recursive: true, force: true });
}

async function publish(work: string, finished: string): Promise<void> {
  try {
    await rename(work, finished);
  } catch (error) {
    // A folder that another builder has published meanwhile can't be replaced, and need not be.
    if (!isCode(error, 'ENOTEMPTY') && !isCode(error, 'EEXIST')) throw error;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
