// `tokenweir serve` as a process in front of a real engine: how it starts, reloads, drains and ends.
import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { withBos } from '../support/byte-models.ts';
import { assertHas, complete } from '../support/exchanges.ts';
import { gatedEngine } from '../support/gated-engine.ts';
import { realEngine } from '../support/real-engine.ts';
import { ServeProcess } from '../support/serve-process.ts';

const engine = await realEngine(withBos.file);
const { skip } = engine;

const doubled = { prompt: `<s>${withBos.turn}` };
const limit = { timeout: 60_000 };

async function metric(adminUrl: string, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
}

function settings(upstream: string, mode: string, more = ''): string {
  return `upstream: { url: '${upstream}' }\nmode: ${mode}\ninspection: { budgetMs: 20000 }\n${more}`;
}

describe('tokenweir serve starts', limit, () => {
  it('not without an upstream, and says how to name one', async (t) => {
    const served = new ServeProcess(t, {});
    assert.equal(await served.ended, 2);
    assert.match(served.stderr, /upstream\.url is not set; allowed: --upstream URL, TOKENWEIR_UPSTREAM_URL/);
  });

  it('not with a configuration that has mistakes, and names all of them', async (t) => {
    const served = new ServeProcess(t, { file: 'mode: lenient\ninspection: { budgetMs: -1 }\n' });
    assert.equal(await served.ended, 2);
    assert.match(served.stderr, /proxy\.yaml:1.*mode/);
    assert.match(served.stderr, /proxy\.yaml:2.*inspection\.budgetMs/);
  });

  for (const flag of ['--listen', '--admin']) {
    it(`not on a port that is taken, given by ${flag}, and ends`, async (t) => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      t.after(() => taken.close());
      const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
      const served = new ServeProcess(t, { flags: ['--upstream', 'http://127.0.0.1:1', flag, address] });
      assert.equal(await served.ended, 2);
      assert.match(served.stderr, /can't listen on .*EADDRINUSE.*--listen and --admin/);
      assert.ok(served.stderr.includes(address));
    });
  }
});

describe('tokenweir serve, reloading,', { skip, ...limit }, () => {
  it('takes a valid file for new requests, and keeps the old one where the new has mistakes', async (t) => {
    const gated = await gatedEngine((await engine.server()).url);
    t.after(() => gated.close());
    const served = new ServeProcess(t, { file: settings(gated.url, 'observe') });
    const { url, adminUrl } = await served.serving();
    assert.equal((await complete({ url }, doubled)).status, 200);

    // In flight while the configuration changes: it keeps the one that it came under.
    const gate = gated.hold('/tokenize');
    const inFlight = complete({ url }, { prompt: `<s>${withBos.turn}held` });
    await gate.reached;
    served.writeFile(settings(gated.url, 'strict'));
    assertHas(await served.reload(), { event: 'config-reloaded', changed: ['mode'] });
    gate.open();
    assert.equal((await inFlight).said.action, 'pass');
    assert.equal((await complete({ url }, doubled)).status, 400);
    assert.equal(await metric(adminUrl, 'tokenweir_config_last_reload_successful'), '1');

    served.writeFile(settings(gated.url, 'lenient'));
    const rejected = await served.reload();
    assertHas(rejected, { event: 'config-rejected', level: 'error' });
    assert.match(JSON.stringify(rejected['errors']), /proxy\.yaml:2.*lenient/);
    assert.equal(await metric(adminUrl, 'tokenweir_config_last_reload_successful'), '0');
    assert.equal((await complete({ url }, doubled)).status, 400);

    served.writeFile(settings('http://127.0.0.1:1', 'observe', 'log: { foldSeconds: 5 }'));
    const from = served.lines.length;
    await served.reload();
    const warning = await served.line(({ event }) => event === 'config-needs-restart', from);
    assertHas(warning, { level: 'warn', keys: ['upstream.url', 'log.foldSeconds'] });
    assert.equal((await complete({ url }, doubled)).status, 200);
    assert.equal(await metric(adminUrl, 'tokenweir_config_last_reload_successful'), '1');
  });
});

describe('tokenweir serve, told to reload while it starts,', limit, () => {
  it('goes on and reloads once it serves', async (t) => {
    const served = new ServeProcess(t, { file: settings('http://127.0.0.1:1', 'observe') });
    // The first line that it writes at all: the admin port is not open yet.
    await served.line(() => true);
    assertHas(await served.reload(), { event: 'config-reloaded', changed: [] });
    await served.serving();
  });
});

describe('tokenweir serve, where a promise fails that nobody waits for,', limit, () => {
  it('says so and goes on', async (t) => {
    const beside = "process.on('SIGUSR2', () => void Promise.reject(new Error('left behind')))";
    const served = new ServeProcess(t, { flags: ['--upstream', 'http://127.0.0.1:1'], beside });
    const { url } = await served.serving();
    served.signal('SIGUSR2');
    const line = await served.line(({ event }) => event === 'unhandled-rejection');
    assertHas(line, { level: 'error' });
    assert.match(JSON.stringify(line['err']), /left behind/);
    assert.equal((await complete({ url }, doubled)).status, 502);
    served.signal('SIGTERM');
    assert.equal(await served.ended, 0);
  });
});

describe('tokenweir serve, told to stop,', { skip, ...limit }, () => {
  const streaming = { prompt: withBos.turn, n_predict: 2000, ignore_eos: true, stream: true };

  it('lets a stream end, takes no new request, and ends', async (t) => {
    const server = await engine.server();
    const served = new ServeProcess(t, { flags: ['--upstream', server.url] });
    const { url, adminUrl } = await served.serving();
    const reply = await fetch(`${url}/completion`, { method: 'POST', body: JSON.stringify(streaming) });
    const reader = reply.body?.getReader();
    let text = Buffer.from((await reader?.read())?.value ?? []).toString();
    await server.pause();
    try {
      served.signal('SIGTERM');
      assertHas(await served.line(({ msg }) => msg === 'draining'), { signal: 'SIGTERM' });
      await assert.rejects(fetch(`${url}/health`));
      assert.equal((await fetch(`${adminUrl}/readyz`)).status, 503);
    } finally {
      server.resume();
    }
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      text += Buffer.from(part.value).toString();
    }
    assert.match(text, /"tokens_predicted":2000/);
    assert.equal(await served.ended, 0);
    assert.equal(served.lines.at(-1)?.['msg'], 'stopped');
    assert.equal(served.stderr, '');
  });

  it('cuts off what takes longer than the configured time, and ends clean', async (t) => {
    const server = await engine.server();
    const env = { TOKENWEIR_DRAIN_TIMEOUT_SECONDS: '1' };
    const served = new ServeProcess(t, { flags: ['--upstream', server.url], env });
    const { url } = await served.serving();
    const endless = { ...streaming, n_predict: -1 };
    const reply = await fetch(`${url}/completion`, { method: 'POST', body: JSON.stringify(endless) });
    const printed = server.log().length;
    served.signal('SIGTERM');
    await assert.rejects(reply.text());
    assert.equal(await served.ended, 0);
    await server.waitForLog(/cancel task/, { from: printed });
  });

  it('twice, ends at once', async (t) => {
    const server = await engine.server();
    const served = new ServeProcess(t, { flags: ['--upstream', server.url] });
    const { url } = await served.serving();
    const endless = { ...streaming, n_predict: -1 };
    const reply = await fetch(`${url}/completion`, { method: 'POST', body: JSON.stringify(endless) });
    served.signal('SIGTERM');
    await served.line(({ msg }) => msg === 'draining');
    served.signal('SIGTERM');
    assert.equal(await served.ended, 128 + 15);
    await assert.rejects(reply.text());
  });
});
