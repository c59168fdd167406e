// A llama-server of a test's own: started on a free port, watched, paused, killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, Socket } from 'node:net';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findLlamaServer } from './binary.ts';

export interface LlamaServerOptions {
  /**
   * Path of a GGUF file; the model's name is the file's, e.g. `qwen3`. Without one the server starts in router mode:
   * give `--models-dir FOLDER` then, whose files are the models.
   */
  model?: string;
  /** Come after the defaults, so they win: `--parallel 2`, `--ctx-size 65536` (all slots together), one thread. */
  args?: readonly string[];
  /** Default: a free one. Give one to start a server anew where another has been. */
  port?: number;
  env?: Readonly<Record<string, string>>;
  /** Default 60 s: a machine that is busy with other tests may need several for a large vocabulary. */
  startTimeoutMs?: number;
}

export interface LlamaServer {
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
  /** SIGTERM, as an operator would; SIGKILL if that takes more than 5 s. Safe to call again. */
  stop(): Promise<void>;
}

const host = '127.0.0.1';

/**
 * Starts llama-server and waits until `/health` is 200. It ends with this process, however that ends, and does not
 * keep it alive.
 * @throws Error if there is no llama-server, or with the log if it ends or is not ready in time.
 */
export async function startLlamaServer(options: LlamaServerOptions): Promise<LlamaServer> {
  const binary = await findLlamaServer();
  if ('missing' in binary) throw new Error(`no llama-server: ${binary.missing}`);
  const child = spawn(binary.command, [...binary.args, ...argumentsOf(options)], {
    env: { ...environmentWithoutSettings(), ...binary.env, ...options.env },
    ...(binary.cwd !== undefined && { cwd: binary.cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const watched = new WatchedProcess(child);
  const deadline = Date.now() + (options.startTimeoutMs ?? 60_000);
  try {
    // Port 0 lets the server choose, so that two test files never race for one; it says which when the model is loaded.
    const listening = /listening on http:\/\/[^\s:]+:(\d+)/;
    const port = Number((await watched.waitForLog(listening, { timeoutMs: deadline - Date.now() }))[1]);
    await healthy(`http://${host}:${port}/health`, deadline);
    return watched.at(port);
  } catch (error) {
    await watched.kill();
    throw error;
  }
}

/** A port that nothing listens on now: for a server that is to be watched while it loads, or comes later. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function argumentsOf({ model, args = [], port = 0 }: LlamaServerOptions): string[] {
  return [
    ...(model === undefined ? [] : ['--model', model, '--alias', basename(model, '.gguf')]),
    ...['--host', host, '--port', String(port), '--ctx-size', '65536', '--parallel', '2'],
    // One thread per server: more would spin against each other in parallel test files.
    ...['--threads', '1', '--no-warmup', '--no-ui', '--offline', '--log-colors', 'off'],
    ...args,
  ];
}

/** The environment can set every option; a developer's own settings must not change what tests see. */
function environmentWithoutSettings(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LLAMA_')));
}

async function healthy(url: string, deadline: number): Promise<void> {
  for (;;) {
    const status = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
      async (response) => (await response.arrayBuffer(), response.status),
      (error: unknown) => String(error),
    );
    if (status === 200) return;
    if (Date.now() > deadline) throw new Error(`llama-server is not healthy: ${status}`);
    await sleep(25);
  }
}

class WatchedProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  /** Its output is closed, too: nothing will be printed any more. */
  #hasEnded = false;
  #log = '';
  #printed = new Set<() => void>();

  constructor(child: ChildProcess) {
    this.#child = child;
    const watchdog = killWithThisProcess(child);
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
        end(`llama-server ended: ${signal ?? `exit code ${code ?? 'unknown'}`}`);
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

  at(port: number): LlamaServer {
    return {
      url: `http://${host}:${port}`,
      port,
      pid: this.#child.pid!,
      log: () => this.#log,
      waitForLog: (pattern, options) => this.waitForLog(pattern, options),
      pause: () => this.pause(),
      resume: () => void this.#child.kill('SIGCONT'),
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
        throw new Error(`llama-server ended before it printed ${pattern}:\n${this.#tail()}`);
      }
      if (Date.now() >= deadline) {
        throw new Error(`llama-server did not print ${pattern} in ${timeoutMs} ms:\n${this.#tail()}`);
      }
      await this.#nextPrint(deadline - Date.now());
    }
  }

  async pause(): Promise<void> {
    this.#child.kill('SIGSTOP');
    while (!(await isStopped(this.#child.pid!))) await sleep(1);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#untilEnded(10_000);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGCONT');
    this.#child.kill('SIGTERM');
    if (!(await this.#untilEnded(5_000))) await this.kill();
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
function killWithThisProcess(child: ChildProcess): ChildProcess | undefined {
  if (child.pid === undefined) return undefined;
  const script = 'cat >/dev/null; kill -9 "$1"';
  const watchdog = spawn('/bin/sh', ['-c', script, 'watchdog', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C in the terminal must not end it before us.
    detached: true,
  });
  watchdog.unref();
  if (watchdog.stdin instanceof Socket) watchdog.stdin.unref();
  return watchdog;
}
