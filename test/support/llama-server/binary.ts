// Where a llama-server for tests comes from: the environment, the PATH, or Debian's unstable suite.
import { execFile } from 'node:child_process';
import { access, constants, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cached, cacheFolder } from '../cached.ts';
import { cpuBackend, unpackFromDebian } from './debian.ts';

/** How to start a llama-server: its own arguments come after `args`. */
export interface LlamaServerBinary {
  command: string;
  args: string[];
  /** To be added to the process's environment. */
  env: Record<string, string>;
  /** The folder that it must be started in, if it matters. */
  cwd?: string;
  /** What `--version` says, e.g. `0.7.0 (build 11669, commit Debian)`. */
  version: string;
}

/** The reason, for people, why there is none. */
export interface NoLlamaServer {
  missing: string;
}

/** For how long (ms) a failed download is not tried again: each test file is a process and would try and wait. */
const retryAfter = 60_000;

let found: Promise<LlamaServerBinary | NoLlamaServer> | undefined;

/**
 * The llama-server to test with: `$TOKENWEIR_TEST_LLAMA_SERVER`, else one on the PATH, else one unpacked from Debian's
 * unstable suite into the cache folder (about 10 seconds, once per machine). Each has proven that it runs.
 */
export function findLlamaServer(): Promise<LlamaServerBinary | NoLlamaServer> {
  found ??= find().catch((error: unknown) => ({ missing: firstLine(error) }));
  return found;
}

async function find(): Promise<LlamaServerBinary | NoLlamaServer> {
  const own = [process.env['TOKENWEIR_TEST_LLAMA_SERVER'], await onPath('llama-server')].find(Boolean);
  if (own) return withVersion({ command: own, args: [], env: {} });
  const failure = join(cacheFolder(), 'llama-server-failed');
  const recent = await recentFailure(failure);
  if (recent !== undefined) return { missing: recent };
  try {
    const folder = await cached('llama-server-1', async (path) => {
      await unpackFromDebian(path);
      await withVersion(await unpacked(path));
    });
    return await withVersion(await unpacked(folder));
  } catch (error) {
    await mkdir(cacheFolder(), { recursive: true });
    await writeFile(failure, firstLine(error));
    throw error;
  }
}

async function unpacked(folder: string): Promise<Omit<LlamaServerBinary, 'version'>> {
  const libraries = join(folder, 'usr/lib/x86_64-linux-gnu');
  const folders = [libraries, join(libraries, 'llama'), join(libraries, 'ggml')];
  return {
    command: join(folder, 'usr/bin/llama-server'),
    args: [],
    env: {
      LD_LIBRARY_PATH: folders.join(delimiter),
      // ggml looks for backends where Debian would have installed them.
      GGML_BACKEND_PATH: join(libraries, 'ggml/backends0', await cpuBackend()),
    },
    // The loader's name in the program is relative.
    cwd: libraries,
  };
}

async function withVersion(binary: Omit<LlamaServerBinary, 'version'>): Promise<LlamaServerBinary> {
  const { command, args, env, cwd } = binary;
  const { stdout, stderr } = await promisify(execFile)(command, [...args, '--version'], {
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
    timeout: 30_000,
  });
  const version = /version:\s*(.+)/.exec(stdout + stderr)?.[1];
  if (version === undefined) throw new Error(`${command} --version does not tell a version`);
  return { ...binary, version };
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return path;
  }
  return undefined;
}

async function recentFailure(file: string): Promise<string | undefined> {
  try {
    const age = Date.now() - (await stat(file)).mtimeMs;
    return age < retryAfter ? await readFile(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // apt's own words say more than "Command failed: apt-get …", which Node puts in front of them.
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('Command failed'));
  return lines.find((line) => line.startsWith('E:')) ?? lines[0] ?? text;
}
