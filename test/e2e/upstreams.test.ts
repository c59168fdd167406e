// Every way to reach an engine that upstream.url and its neighbours allow: TLS, a unix socket, a base path, a key.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createServer } from 'node:tls';
import { withBos } from '../support/byte-models.ts';
import { chat, clean, settled } from '../support/exchanges.ts';
import { findLlamaServer } from '../support/llama-server/binary.ts';
import { freePort, startLlamaServer } from '../support/llama-server/server.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';
import { selfSignedCertificate } from '../support/self-signed-certificate.ts';
import { untilHealthy, WatchedProcess } from '../support/watched-process.ts';

const engine = await realEngine(withBos.file);
const { skip } = engine;
const hi = { messages: [{ role: 'user', content: 'Hi' }] };

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenweir-upstreams-'));
});
after(() => rm(folder, { recursive: true }));

/** A llama-server that does not listen where others do; the caller says when it is ready. */
async function startElsewhere(t: TestContext, args: readonly string[]): Promise<WatchedProcess> {
  const binary = await findLlamaServer();
  if ('missing' in binary) throw new Error(binary.missing);
  const common = ['--model', await withBos.file(), '--threads', '1', '--no-warmup', '--no-ui', '--offline'];
  const child = spawn(binary.command, [...binary.args, ...common, ...args], {
    env: { ...process.env, ...binary.env },
    ...(binary.cwd !== undefined && { cwd: binary.cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const watched = new WatchedProcess(child, 'llama-server');
  t.after(() => watched.stop());
  return watched;
}

/** The engine behind TLS, with a certificate that nobody has signed but itself. */
async function behindTls(t: TestContext): Promise<{ readonly url: string; readonly ca: string }> {
  const tls = selfSignedCertificate();
  const ca = join(folder, 'cert.pem');
  await writeFile(ca, tls.cert);
  const { port } = await engine.server();
  const server = createServer(tls, (socket) => {
    const engineSocket = connect(port, '127.0.0.1');
    // Either side's end is the other's; which of them it was does not matter here.
    pipeline(socket, engineSocket, socket, () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca };
}

async function inspects(
  t: TestContext,
  upstream: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const proxied = await openProxy(t, upstream, settings);
  const answer = await chat(proxied, hi);
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.said, clean);
  assert.equal((await fetch(`${proxied.url}/health`)).status, 200);
  assert.equal((await fetch(`${proxied.adminUrl}/readyz`)).status, 200);
  await settled(proxied, 1);
  assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
}

describe('an upstream', { skip }, () => {
  it('over TLS is trusted by its authority, or because the operator says so, else not', async (t) => {
    const { url, ca } = await behindTls(t);
    await inspects(t, url, { UPSTREAM_CA: ca });
    await inspects(t, url, { UPSTREAM_INSECURE_TLS: 'true' });
    const distrusting = await openProxy(t, url);
    const answer = await chat(distrusting, hi);
    assert.equal(answer.status, 502);
    assert.equal(answer.said.inspection, 'unknown;engine-unreachable');
    assert.match(answer.text, /certificate is not trusted .*upstream\.ca/);
    const told = distrusting.lines.find(({ failure }) => failure === 'upstream_unreachable');
    assert.equal(told?.['code'], 'DEPTH_ZERO_SELF_SIGNED_CERT');
    assert.equal((await fetch(`${distrusting.url}/health`)).status, 502);
  });

  it('on a unix socket', async (t) => {
    const socket = join(folder, 'engine.sock');
    const server = await startElsewhere(t, ['--host', socket]);
    await server.waitForLog(/listening on/);
    await inspects(t, `unix:${socket}`);
  });

  it('below a base path, on TCP and on a unix socket', async (t) => {
    const port = await freePort();
    await startElsewhere(t, ['--host', '127.0.0.1', '--port', String(port), '--api-prefix', '/engine/one']);
    await untilHealthy(`http://127.0.0.1:${port}/engine/one/health`, Date.now() + 20_000);
    await inspects(t, `http://127.0.0.1:${port}/engine/one`);
    await inspects(t, `http://127.0.0.1:${port}/engine/one/`);
    const socket = join(folder, 'prefixed.sock');
    const server = await startElsewhere(t, ['--host', socket, '--api-prefix', '/engine']);
    await server.waitForLog(/listening on/);
    await inspects(t, `unix:${socket}:/engine`);
  });

  it('with a key that the operator has added to requests without one', async (t) => {
    const server = await startLlamaServer({ model: await withBos.file(), args: ['--api-key', 'K1'] });
    t.after(() => server.stop());
    const settings = { UPSTREAM_API_KEY: 'K1', UPSTREAM_INJECT_API_KEY: 'true' };
    const { gated, proxied } = await openGated(t, server.url, settings);
    assert.deepEqual((await chat(proxied, hi)).said, clean);
    assert.equal((await fetch(`${proxied.url}/v1/models`)).status, 200);
    const own = await chat(proxied, hi, { authorization: 'Bearer wrong' });
    assert.equal(own.status, 401);
    const forwarded = gated.seen.filter(({ path }) => path === '/v1/chat/completions');
    assert.deepEqual(
      forwarded.map(({ headers }) => headers['authorization']),
      ['Bearer K1', 'Bearer wrong'],
    );
  });
});
