// A server of a test's own, as a child process: its log, its life and its end. It knows no engine.
import { spawn, type ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface WatchedServer {
  /** `http://127.0.0.1:PORT`, no slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Everything that it has printed so far, stdout and stderr as they came. */
  log(): string;
  /**
   * Waits until what it printed matches, looking from character `from` (default 0) on.
   * @throws Error with the log's end after `timeoutMs` (default 10 s), or if the server ends before.
   */
  waitForLog(pattern: RegExp, options?: { timeoutMs?: number; from?: number }): Promise<RegExpExecArray>;
  /** SIGSTOP: connections are still accepted by the kernel, but nothing answers, from when this resolves. */
  pause(): Promise<void>;
  resume(): void;
  /** SIGKILL: connections are reset; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM, as an operator would; SIGKILL if that takes more than a few seconds. Safe to call again. */
  stop(): Promise<void>;
}

export interface WatchOptions {
  /**
   * SIGKILL, SIGSTOP and SIGCONT go to all processes of the child's group: it must have been spawned `detached`.
   * Default: to the child alone.
   */
  readonly wholeGroup?: boolean;
  /** How long `stop()` waits between SIGTERM and SIGKILL. Default 5 s. */
  readonly stopPatienceMs?: number;
}

/**
 * Waits until a GET of `url` is answered 200.
 * @throws Error with the last status or error once `deadline` (as `Date.now()` counts) has passed
 */
export async function untilHealthy(url: string, deadline: number): Promise<void> {
  for (;;) {
    const status = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
      async (response) => (await response.arrayBuffer(), response.status),
      (error: unknown) => String(error),
    );
    if (status === 200) return;
    if (Date.now() > deadline) throw new Error(`${url} is not healthy: ${status}`);
    await sleep(25);
  }
}

/** Holds the log of a child process and its life: it ends with this process, however that ends, and does not keep it alive. */
export class WatchedProcess {
  readonly #child: ChildProcess;
  readonly #name: string;
  /** What signals go to: the process, or, as a negative number, its whole group. */
  readonly #target: number | undefined;
  readonly #stopPatienceMs: number;
  readonly #ended: Promise<void>;
  /** Its output is closed, too: nothing will be printed any more. */
  #hasEnded = false;
  #log = '';
  #printed = new Set<() => void>();

  /** @param name what error messages call it */
  constructor(
    child: ChildProcess,
    name: string,
    { wholeGroup = false, stopPatienceMs = 5_000 }: WatchOptions = {},
  ) {
    this.#child = child;
    this.#name = name;
    this.#target = wholeGroup && child.pid !== undefined ? -child.pid : child.pid;
    this.#stopPatienceMs = stopPatienceMs;
    const watchdog = killWithThisProcess(this.#target);
    this.#ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        watchdog?.kill();
        this.#hasEnded = true;
        this.#append(`\n[${reason}]\n`);
        resolve();
      };
      child.once('error', (error) => {
        end(error.message);
      });
      child.once('close', (code, signal) => {
        end(`${name} ended: ${signal ?? `exit code ${code ?? 'unknown'}`}`);
      });
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#append(text);
      });
      if (stream instanceof Socket) stream.unref();
    }
    child.unref();
  }

  /** The server as tests see it, once it is known where it listens. */
  at(port: number): WatchedServer {
    return {
      url: `http://127.0.0.1:${port}`,
      port,
      pid: this.#child.pid!,
      log: () => this.#log,
      waitForLog: (pattern, options) => this.waitForLog(pattern, options),
      pause: () => this.pause(),
      resume: () => {
        this.#signal('SIGCONT');
      },
      kill: () => this.kill(),
      stop: () => this.stop(),
    };
  }

  async waitForLog(pattern: RegExp, { timeoutMs = 10_000, from = 0 } = {}): Promise<RegExpExecArray> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const match = pattern.exec(this.#log.slice(from));
      if (match !== null) return match;
      if (this.#hasEnded) {
        throw new Error(`${this.#name} ended before it printed ${pattern}:\n${this.#tail()}`);
      }
      if (Date.now() >= deadline) {
        throw new Error(`${this.#name} did not print ${pattern} in ${timeoutMs} ms:\n${this.#tail()}`);
      }
      await this.#nextPrint(deadline - Date.now());
    }
  }

  async pause(): Promise<void> {
    this.#signal('SIGSTOP');
    while (!(await isStopped(this.#child.pid!))) await sleep(1);
  }

  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.#untilEnded(10_000);
  }

  async stop(): Promise<void> {
    this.#signal('SIGCONT');
    // To the child alone: it stops what it has started in its own order.
    this.#child.kill('SIGTERM');
    if (!(await this.#untilEnded(this.#stopPatienceMs))) await this.kill();
  }

  /** The child is not referenced, so a timer must keep this process alive while we wait. */
  async #untilEnded(timeoutMs: number): Promise<boolean> {
    const timer = new AbortController();
    const timeout = sleep(timeoutMs, false, { signal: timer.signal }).catch(() => false);
    const ended = await Promise.race([this.#ended.then(() => true), timeout]);
    timer.abort();
    return ended;
  }

  #nextPrint(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#printed.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#printed.add(done);
    });
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#hasEnded || this.#target === undefined) return;
    try {
      process.kill(this.#target, signal);
    } catch (error) {
      // It has ended a moment ago.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }

  #append(text: string): void {
    this.#log += text;
    for (const wake of [...this.#printed]) wake();
  }

  #tail(): string {
    return this.#log.slice(-4_000);
  }
}

/** A signal takes effect on each thread in its own time; on Linux `T` is the state of one that has stopped (or `Z`, `X`: ended). */
async function isStopped(pid: number): Promise<boolean> {
  const tasks = `/proc/${pid}/task`;
  const states = await readdir(tasks)
    .then((ids) => Promise.all(ids.map((id) => readFile(`${tasks}/${id}/stat`, 'utf8'))))
    .catch(() => []);
  return states.every((stat) => /^\) [TZX]/.test(stat.slice(stat.lastIndexOf(')'))));
}

/**
 * Makes the child die with this process even if this one is killed: a shell waits for the pipe from us to close.
 * @returns the shell, to be ended once the child is gone
 */
function killWithThisProcess(target: number | undefined): ChildProcess | undefined {
  if (target === undefined) return undefined;
  // As POSIX spells it: dash, which is Debian's sh, takes no `--` behind `-9`.
  const script = 'cat >/dev/null; kill -s KILL -- "$1"';
  const watchdog = spawn('/bin/sh', ['-c', script, 'watchdog', String(target)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C in the terminal must not end it before us.
    detached: true,
  });
  watchdog.unref();
  if (watchdog.stdin instanceof Socket) watchdog.stdin.unref();
  return watchdog;
}
