// A llama-server of a test's own: started on a free port, watched, paused, killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { untilHealthy, WatchedProcess, type WatchedServer } from '../watched-process.ts';
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

export type LlamaServer = WatchedServer;

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
  const watched = new WatchedProcess(child, 'llama-server');
  const deadline = Date.now() + (options.startTimeoutMs ?? 60_000);
  try {
    // Port 0 lets the server choose, so that two test files never race for one; it says which when the model is loaded.
    const listening = /listening on http:\/\/[^\s:]+:(\d+)/;
    const port = Number((await watched.waitForLog(listening, { timeoutMs: deadline - Date.now() }))[1]);
    await untilHealthy(`http://${host}:${port}/health`, deadline);
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
