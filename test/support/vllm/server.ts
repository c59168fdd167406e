// A vLLM of a test's own, without a GPU: started on a free port with little memory, watched, paused, killed.
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { freePort } from '../llama-server/server.ts';
import { untilHealthy, WatchedProcess, type WatchedServer } from '../watched-process.ts';
import { findVllm } from './environment.ts';

export interface VllmOptions {
  /** Path of a folder in Hugging Face's format; the model's name is the folder's, e.g. `qwen3`. */
  model: string;
  /**
   * Come after the defaults, so they win: `--max-model-len 32768`, `--enforce-eager`, `--block-size 32`, which is the
   * smallest that its attention for CPUs takes and a quarter of what it takes by itself.
   */
  args?: readonly string[];
  /** Default: a free one. Give one to start a server anew where another has been. */
  port?: number;
  env?: Readonly<Record<string, string>>;
  /** Default 8 minutes: its processes import some thousand Python modules each. */
  startTimeoutMs?: number;
}

export type Vllm = WatchedServer;

const host = '127.0.0.1';
/** 262,144 tokens of the small models. */
const cacheBytes = 64 * 1024 * 1024;

/**
 * Starts `vllm serve` and waits until `/health` is 200. It ends with this process, however that ends, and does not keep
 * it alive.
 * @throws Error if there is no vLLM, or with the log if it ends or is not ready in time.
 */
export async function startVllm(options: VllmOptions): Promise<Vllm> {
  const vllm = await findVllm();
  if ('missing' in vllm) throw new Error(`no vLLM: ${vllm.missing}`);
  const port = options.port ?? (await freePort());
  const child = spawn(vllm.command, [...vllm.args, ...argumentsOf(options, port)], {
    env: { ...environmentWithoutSettings(), ...settings, ...vllm.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: its engine is a process of its own, and must end with it.
    detached: true,
  });
  const watched = new WatchedProcess(child, 'vLLM', { wholeGroup: true, stopPatienceMs: 20_000 });
  const deadline = Date.now() + (options.startTimeoutMs ?? 480_000);
  try {
    await watched.waitForLog(/Application startup complete/, { timeoutMs: deadline - Date.now() });
    await untilHealthy(`http://${host}:${port}/health`, deadline);
    return watched.at(port);
  } catch (error) {
    await watched.kill();
    throw error;
  }
}

function argumentsOf({ model, args = [] }: VllmOptions, port: number): string[] {
  return [
    ...['serve', model, '--served-model-name', basename(model), '--host', host, '--port', String(port)],
    ...['--max-model-len', '32768', '--block-size', '32', '--kv-cache-memory-bytes', String(cacheBytes)],
    // No compiler is needed, and no minute is spent in it; the worker lives in the engine's process.
    ...['--enforce-eager', '--distributed-executor-backend', 'uni'],
    ...args,
  ];
}

/** The environment can set much; a developer's own settings must not change what tests see. */
function environmentWithoutSettings(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VLLM|HF|TORCH|OMP)_|^PYTHON/.test(name)),
  );
}

const settings: Readonly<Record<string, string>> = {
  HF_HUB_OFFLINE: '1',
  VLLM_NO_USAGE_STATS: '1',
  // Its own processes talk to each other over this address.
  VLLM_HOST_IP: host,
  // One thread: more would spin against other test files.
  OMP_NUM_THREADS: '1',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  // Allows the executor without a worker process.
  VLLM_ENABLE_V1_MULTIPROCESSING: '0',
  // Log probabilities would be compiled on first use, for a minute.
  TORCHDYNAMO_DISABLE: '1',
};
