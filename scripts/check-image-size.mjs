// Installs what the image installs (no dev, no optional dependencies) into a folder of its own, built program included,
// checks that it starts from there, and fails if node_modules takes more than 60 MB of disk. Leaves nothing behind.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const limit = 60_000_000;
const install = ['ci', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'];

/** Bytes allocated on disk, as `du` counts them: what the image layer holds is less. */
function allocated(path) {
  const status = lstatSync(path);
  const own = status.blocks * 512;
  return status.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + allocated(join(path, name)), own)
    : own;
}

if (!existsSync('dist/cli.js')) throw new Error('dist/cli.js is missing: run `npm run build` first');
const folder = mkdtempSync(join(tmpdir(), 'tokenweir-image-'));
try {
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'dist']) {
    cpSync(name, join(folder, name), { recursive: true });
  }
  execFileSync('npm', install, { cwd: folder, stdio: 'inherit' });
  const version = execFileSync(process.execPath, ['dist/cli.js', 'version'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const bytes = allocated(join(folder, 'node_modules'));
  const told = `node_modules of the image: ${(bytes / 1e6).toFixed(1)} MB, at most ${limit / 1e6} MB`;
  console.log(`${told}; it starts: ${version.trim().split('\n')[0]}`);
  if (bytes > limit) {
    console.error('The image has grown too heavy: see `npm ls --omit=dev --all` for what came in.');
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
