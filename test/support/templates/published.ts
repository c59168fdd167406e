// The chat templates that llama.cpp keeps for its own tests, about 70 as publishers ship them. npm's node-llama-cpp
// carries llama.cpp's source as a git bundle; nothing of it is committed here.
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../cached.ts';

const run = promisify(execFile);

/** One version, so that docs/templates.md says the same on every machine. */
export const templateSource = 'node-llama-cpp@3.22.1';

const bundle = 'package/llama/gitRelease.bundle';
const folder = 'models/templates';
const limits = { timeout: 300_000, maxBuffer: 1 << 24 };

export interface PublishedTemplate {
  /** The file's name without its extension, e.g. `Qwen-Qwen3-0.6B`. */
  readonly name: string;
  readonly text: string;
}

/** The reason, for people, why there are none. */
export interface NoTemplates {
  readonly missing: string;
}

/**
 * All of them by name. Downloaded (36 MB) and unpacked into the cache folder on first use, in a few seconds; needs npm,
 * tar and git.
 */
export async function publishedTemplates(): Promise<readonly PublishedTemplate[] | NoTemplates> {
  try {
    const path = await cached(`templates-${templateSource.replace('@', '-')}`, unpack);
    const files = (await readdir(path)).filter((file) => file.endsWith('.jinja')).toSorted();
    return await Promise.all(
      files.map(async (file) => ({
        name: basename(file, '.jinja'),
        text: await readFile(join(path, file), 'utf8'),
      })),
    );
  } catch (error) {
    return { missing: reasonOf(error) };
  }
}

async function unpack(path: string): Promise<void> {
  const work = `${path}.source`;
  try {
    await mkdir(work, { recursive: true });
    await run('npm', ['pack', templateSource, '--silent', '--ignore-scripts'], { ...limits, cwd: work });
    const [archive = ''] = (await readdir(work)).filter((file) => file.endsWith('.tgz'));
    await run('tar', ['-xzf', archive, bundle], { ...limits, cwd: work });
    // Only the folder that is wanted is checked out; the bundle holds the whole source.
    await run('git', ['clone', '--quiet', '--no-checkout', bundle, 'source'], { ...limits, cwd: work });
    const source = join(work, 'source');
    await run('git', ['-C', source, 'checkout', '--quiet', 'HEAD', '--', folder], limits);
    await rename(join(source, folder), path);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** npm's own words say more than "Command failed", which Node puts in front of them. */
function reasonOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split('\n');
  const told = lines.filter((line) => line.trim() !== '' && !line.startsWith('Command failed'));
  return told[0] ?? lines[0] ?? 'no reason given';
}
