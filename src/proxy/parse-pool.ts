/**
 * The worker threads that read large bodies: started when first needed, replaced when they die, ended when idle. They
 * never keep the process alive except while a body is being read.
 */
import { Worker } from 'node:worker_threads';
import type { FromParseWorker, ToParseWorker } from './parse-worker.ts';

/** Bounds what one body can make a worker allocate; the worker dies of it, the process does not. */
const workerHeapMb = 1024;

interface Waiting<T> {
  answer(value: T): void;
  refuse(error: Error): void;
}

/** One thread. States: alive until it ends in any way; then `dead` holds why and every question is refused. */
export class ParseThread {
  readonly #worker: Worker;
  #dead: Error | undefined;
  /** The question that is open; absent between questions. */
  #waiting: Waiting<FromParseWorker> | undefined;

  /** Resolves when the thread has ended, in whatever way. */
  readonly ended: Promise<void>;

  constructor() {
    this.#worker = startWorker();
    this.ended = new Promise((ended) => {
      this.#worker.once('exit', () => {
        ended();
      });
    });
    this.#worker.on('message', (message: FromParseWorker) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.answer(message);
    });
    this.#worker.on('error', (cause) => {
      this.#end(new Error('the parse worker died while it read a body', { cause }));
    });
    this.#worker.on('exit', (status) => {
      this.#end(new Error(`the parse worker ended with status ${status}`));
    });
  }

  get isAlive(): boolean {
    return this.#dead === undefined;
  }

  /** One question at a time. A thread that is asked keeps the process alive until it has answered. */
  async ask(message: ToParseWorker, transfer: readonly ArrayBuffer[] = []): Promise<FromParseWorker> {
    if (this.#dead !== undefined) throw this.#dead;
    this.#worker.ref();
    try {
      return await new Promise<FromParseWorker>((answer, refuse) => {
        this.#waiting = { answer, refuse };
        this.#worker.postMessage(message, transfer);
      });
    } finally {
      this.#worker.unref();
    }
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#dead ??= error;
    this.#waiting?.refuse(this.#dead);
    this.#waiting = undefined;
  }
}

function startWorker(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: workerHeapMb };
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./parse-worker.js', import.meta.url), { resourceLimits });
  }
  // Run from source, the thread must load tsx by its API: on Node 20 `--import tsx` does nothing in a worker.
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const source = JSON.stringify(new URL('./parse-worker.ts', import.meta.url).href);
  const start = `import(${loader}).then((tsx) => { tsx.register(); return import(${source}); })`;
  return new Worker(start, { eval: true, resourceLimits });
}

/** States: open, then closed for good by `close`. */
export class ParsePool {
  readonly #size: number;
  readonly #idleMs: number;
  readonly #idle: ParseThread[] = [];
  readonly #queue: Waiting<ParseThread>[] = [];
  readonly #all = new Set<ParseThread>();
  #closed = false;

  /** At most `size` threads; one that was idle for `idleMs` is ended, and its heap with it. */
  constructor(size: number, idleMs = 30_000) {
    this.#size = size;
    this.#idleMs = idleMs;
  }

  /**
   * Runs the task with a thread of its own, waiting for one if all are busy.
   * @throws Error if the pool is or gets closed, or whatever the task throws.
   */
  async use<T>(task: (thread: ParseThread) => Promise<T>): Promise<T> {
    const thread = await this.#acquire();
    try {
      return await task(thread);
    } finally {
      this.#release(thread);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#queue.splice(0)) waiting.refuse(closedError());
    await Promise.all([...this.#all].map((thread) => thread.stop()));
  }

  async #acquire(): Promise<ParseThread> {
    if (this.#closed) throw closedError();
    const idle = this.#idle.pop();
    if (idle?.isAlive === true) return idle;
    if (idle !== undefined) this.#all.delete(idle);
    if (this.#all.size < this.#size) return this.#start();
    return new Promise((answer, refuse) => this.#queue.push({ answer, refuse }));
  }

  #start(): ParseThread {
    const thread = new ParseThread();
    this.#all.add(thread);
    return thread;
  }

  #release(thread: ParseThread): void {
    if (!thread.isAlive) this.#all.delete(thread);
    const next = this.#closed ? undefined : this.#queue.shift();
    if (next !== undefined) next.answer(thread.isAlive ? thread : this.#start());
    else if (thread.isAlive) this.#rest(thread);
  }

  #rest(thread: ParseThread): void {
    this.#idle.push(thread);
    setTimeout(() => {
      const at = this.#idle.indexOf(thread);
      if (at === -1) return;
      this.#idle.splice(at, 1);
      this.#all.delete(thread);
      void thread.stop();
    }, this.#idleMs).unref();
  }
}

function closedError(): Error {
  return new Error('the request parser is closed');
}
