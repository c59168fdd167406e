// A real nginx before an engine, as many operators have one: from the PATH, else unpacked from the machine's own Debian
// archive into the cache folder (600 kB; nothing is installed).
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cached } from './cached.ts';
import { freePort } from './llama-server/server.ts';

const run = promisify(execFile);
const limits = { timeout: 120_000 };

export interface Nginx {
  readonly url: string;
  stop(): Promise<void>;
}

/** The path of an nginx, or, for people, why there is none. */
export async function findNginx(): Promise<{ readonly command: string } | { readonly missing: string }> {
  try {
    const onPath = await run('nginx', ['-v'], limits).then(
      () => true,
      () => false,
    );
    if (onPath) return { command: 'nginx' };
    const folder = await cached('nginx-1', async (path) => {
      const debs = `${path}.debs`;
      await mkdir(debs, { recursive: true });
      try {
        await run('apt-get', ['download', '-o', 'APT::Sandbox::User=', 'nginx'], { ...limits, cwd: debs });
        await mkdir(path);
        for (const file of await readdir(debs)) await run('dpkg-deb', ['-x', join(debs, file), path], limits);
        // Proves that it runs on this machine.
        await run(join(path, 'usr/sbin/nginx'), ['-v'], limits);
      } finally {
        await rm(debs, { recursive: true });
      }
    });
    return { command: join(folder, 'usr/sbin/nginx') };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Starts one that hands on to `engine` whatever the locations don't answer.
 * @param locations `location` blocks in nginx's language
 */
export async function startNginx(command: string, engine: string, locations = ''): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenweir-nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const config = `
    daemon off; master_process off; pid ${join(folder, 'pid')}; error_log stderr crit;
    events {}
    http {
      access_log off; ${temporary.join(' ')} client_max_body_size 64m;
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass ${engine}; }
        ${locations}
      }
    }`;
  await writeFile(join(folder, 'nginx.conf'), config);
  const child = spawn(command, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  const ended = once(child, 'exit').catch(() => undefined);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true });
  };
  for (let waited = 0; !(await listens(port)); waited += 20) {
    if (child.exitCode !== null || waited > 10_000) {
      await stop();
      throw new Error(`nginx did not start with ${config}`);
    }
    await sleep(20);
  }
  return { url: `http://127.0.0.1:${port}`, stop };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
