// Does by hand what the Dockerfile does, where there is no container engine: installs without dev and optional packages
// into a folder of its own, serves from there in front of the demo engine, ends it with SIGTERM, and fails if
// node_modules takes more than 60 MB of disk. Needs `npm run build` before; leaves nothing behind.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const limit = 60_000_000;
const install = ['ci', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'];

/** Bytes allocated on disk, as `du` counts them. */
function allocated(path) {
  const status = lstatSync(path);
  const own = status.blocks * 512;
  if (!status.isDirectory()) return own;
  return readdirSync(path).reduce((sum, name) => sum + allocated(join(path, name)), own);
}

/** One chat through the program in the folder; throws unless it answers, names what it did, and ends with 0. */
async function serveOnce(folder) {
  const { startDemoEngine } = await import(pathToFileURL(join(folder, 'dist/demo/engine.js')).href);
  const engine = await startDemoEngine({ tokenIntervalMs: 0 });
  const options = ['--upstream', engine.url, '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'];
  const env = { PATH: process.env.PATH, NODE_ENV: 'production' };
  const server = spawn(process.execPath, ['dist/cli.js', 'serve', ...options], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(server, 'close');
  const lines = [];
  try {
    const { listen, admin } = await addresses(server, lines);
    const health = await fetch(`${admin}/healthz`);
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 2 });
    const answer = await fetch(`${listen}/v1/chat/completions`, { method: 'POST', body });
    const action = answer.headers.get('tokenweir-action');
    await answer.text();
    if (!health.ok || !answer.ok || action !== 'pass') {
      throw new Error(
        `serve does not work: health ${health.status}, chat ${answer.status}, action ${action}`,
      );
    }
    server.kill('SIGTERM');
    const [code] = await exited;
    if (code !== 0) throw new Error(`serve ended with ${code} after SIGTERM, not with 0`);
    const { event, msg, err } = lines.find(({ level }) => level === 'error') ?? {};
    if (msg !== undefined) throw new Error(`serve logged an error (${event}): ${msg} ${JSON.stringify(err)}`);
  } finally {
    server.kill('SIGKILL');
    await engine.close();
  }
}

/** Keeps on reading what it logs; resolves with where it listens. */
function addresses(server, lines) {
  return new Promise((resolve, reject) => {
    createInterface({ input: server.stdout })
      .on('line', (line) => {
        const fields = JSON.parse(line);
        lines.push(fields);
        if (fields.listen !== undefined && fields.admin !== undefined) resolve(fields);
      })
      .once('close', () => reject(new Error('serve ended before it listened')));
  });
}

if (!existsSync('dist/cli.js')) throw new Error('dist/cli.js is missing: run `npm run build` first');
const folder = mkdtempSync(join(tmpdir(), 'tokenweir-image-'));
try {
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'dist']) {
    cpSync(name, join(folder, name), { recursive: true });
  }
  execFileSync('npm', install, { cwd: folder, stdio: 'inherit' });
  const bytes = allocated(join(folder, 'node_modules'));
  console.log(`node_modules of the image: ${(bytes / 1e6).toFixed(1)} MB, at most ${limit / 1e6} MB`);
  if (bytes > limit) {
    console.error('The image has grown too heavy: see `npm ls --omit=dev --all` for what came in.');
    process.exitCode = 1;
  }
  await serveOnce(folder);
  console.log('serve: answered, and ended with 0 after SIGTERM');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
