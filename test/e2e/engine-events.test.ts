// What happens to a real engine, told once in each of the places where events are told.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { chat, eventually, learnt, settled } from '../support/exchanges.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { startLlamaServer, type LlamaServer } from '../support/llama-server/server.ts';
import { openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { realEngine } from '../support/real-engine.ts';

/** Two models of one name that differ in template, markers and BOS. */
const first = (): Promise<string> =>
  byteModelFile({
    name: 'served',
    markers: ['<s>', '<|user|>', '<|assistant|>', '<|end|>'],
    bos: '<s>',
    addBos: true,
    chatTemplate:
      '{% for m in messages %}{{ "<|" + m.role + "|>" + m.content + "<|end|>" }}{% endfor %}{{ "<|assistant|>" }}',
  });
const second = (): Promise<string> =>
  byteModelFile({
    name: 'served',
    markers: ['<|user|>', '<|assistant|>', '<|stop|>'],
    chatTemplate:
      '{% for m in messages %}{{ "<|" + m.role + "|>" + m.content + "<|stop|>" }}{% endfor %}{{ "<|assistant|>" }}',
  });

const { skip } = await realEngine(first);

async function start(t: TestContext, options: Parameters<typeof startLlamaServer>[0]): Promise<LlamaServer> {
  const server = await startLlamaServer(options);
  t.after(() => server.stop());
  return server;
}

interface Told {
  readonly event: string;
  readonly time: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Oldest first. */
async function eventsOf({ adminUrl }: ProxiedEngine): Promise<readonly Told[]> {
  const answer = (await (await fetch(`${adminUrl}/api/events`)).json()) as { readonly events: Told[] };
  return answer.events.toReversed();
}

/** The API, the log and the metric tell the same events, so often each. */
async function assertTold(proxied: ProxiedEngine, expected: readonly string[]): Promise<readonly Told[]> {
  const told = await eventsOf(proxied);
  const names = told.map(({ event }) => event);
  assert.deepEqual(names, expected);
  assert.deepEqual(
    proxied.lines.map(({ event }) => event).filter((event) => names.includes(String(event))),
    expected,
  );
  for (const event of new Set(expected)) {
    const count = await proxied.metric('tokenweir_engine_events_total', { event });
    assert.equal(count, expected.filter((one) => one === event).length, event);
  }
  return told;
}

const hi = { messages: [{ role: 'user', content: 'Hi' }] };

describe('events of an engine', { skip }, () => {
  it('start at 0', async (t) => {
    const proxied = await openProxy(t, (await start(t, { model: await first() })).url);
    const text = await (await fetch(`${proxied.adminUrl}/metrics`)).text();
    assert.match(text, /^tokenweir_engine_events_total\{event="slots-oversubscribed"\} 0$/m);
  });

  it('tell what changed from what to what, and the lost cache once, when it restarts', async (t) => {
    const before = await start(t, { model: await first(), args: ['--ctx-size', '4096'] });
    const proxied = await openProxy(t, before.url);
    assert.equal((await chat(proxied, hi)).status, 200);
    await before.kill();
    await start(t, { model: await second(), port: before.port, args: ['--ctx-size', '2048'] });
    for (let turn = 0; turn < 3; turn += 1) assert.equal((await chat(proxied, hi)).status, 200);
    const changes = Array.from({ length: 4 }, () => 'facts-changed');
    const told = await assertTold(proxied, ['facts-learnt', 'engine-cache-lost', ...changes, 'facts-learnt']);
    assert.deepEqual(told[1]?.fields, { model: 'served', reason: 'restart' });
    const [old, now] = [told[0]?.fields['templateHash'], told.at(-1)?.fields['templateHash']];
    assert.notEqual(old, now);
    const changed = told.slice(2, -1).map(({ fields: { what, from, to } }) => ({ what, from, to }));
    // The same text has another id in the second vocabulary, so that it went and came.
    assert.deepEqual(changed, [
      { what: 'template', from: old, to: now },
      { what: 'bos', from: '"<s>" (id 264), added by the tokenizer', to: 'none' },
      { what: 'context', from: '2048', to: '1024' },
      {
        what: 'markers',
        from: '"<|assistant|>" (id 266), "<|user|>" (id 265), "<|end|>" (id 267), "<s>" (id 264)',
        to: '"<|assistant|>" (id 265), "<|stop|>" (id 266), "<|user|>" (id 264)',
      },
    ]);
    for (const { time, fields } of told.slice(2, -1)) assert.ok(String(fields['lastSeen']) < time);
    assert.equal(await proxied.metric('tokenweir_facts_changes_total', { what: 'restart' }), 1);
  });

  it('tell a lost cache once per sleep', async (t) => {
    const server = await start(t, { model: await first(), args: ['--sleep-idle-seconds', '1'] });
    const proxied = await openProxy(t, server.url);
    assert.equal((await chat(proxied, hi)).said.inspection, 'ok');
    await server.waitForLog(/server is entering sleeping state/);
    assert.equal((await chat(proxied, hi)).said.inspection, 'unknown;engine-sleeping');
    assert.equal((await chat(proxied, hi)).said.inspection, 'ok');
    const told = await assertTold(proxied, ['facts-learnt', 'engine-cache-lost']);
    assert.deepEqual(told[1]?.fields, { model: 'served', reason: 'sleep' });
  });

  it('tell that it does not answer, and when it does again', async (t) => {
    const server = await start(t, { model: await first() });
    const proxied = await openProxy(t, server.url);
    await learnt(proxied);
    await server.kill();
    for (let asked = 0; asked < 6; asked += 1) assert.equal((await chat(proxied, hi)).status, 502);
    const told = await assertTold(proxied, ['facts-learnt', 'oracle-unavailable']);
    assert.deepEqual(told[1]?.fields, { reason: 'engine-unreachable' });
    await start(t, { model: await first(), port: server.port });
    assert.equal((await chat(proxied, hi)).status, 200);
    assert.equal((await chat(proxied, hi)).said.inspection, 'ok');
    const names = (await eventsOf(proxied)).map(({ event }) => event);
    assert.deepEqual(names.slice(2, 4), ['oracle-available', 'engine-cache-lost']);
  });

  it('tell that three conversations share one slot, with the flag to raise', async (t) => {
    const server = await start(t, { model: await first(), args: ['--parallel', '1'] });
    const proxied = await openProxy(t, server.url);
    await learnt(proxied);
    const talks = ['one', 'two', 'three'].map((name) => [{ role: 'user', content: `I am ${name}.` }]);
    for (let turn = 0; turn < 2; turn += 1) {
      for (const messages of talks) {
        assert.equal((await chat(proxied, { messages })).said.inspection, 'ok');
        messages.push({ role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'And?' });
      }
    }
    await settled(proxied, 6);
    await eventually(async () => (await eventsOf(proxied)).length > 1, 'told');
    const told = await assertTold(proxied, ['facts-learnt', 'slots-oversubscribed']);
    assert.deepEqual(told[1]?.fields, {
      model: 'served',
      slots: 1,
      sessions: 2,
      advice: 'Raise --parallel to 2 or more.',
    });
  });

  it('tell nothing of slots where there are enough, or of requests that nothing follows', async (t) => {
    const server = await start(t, { model: await first(), args: ['--parallel', '1'] });
    const proxied = await openProxy(t, server.url);
    await learnt(proxied);
    for (const name of ['one', 'two', 'three', 'four']) {
      await chat(proxied, { messages: [{ role: 'user', content: `I am ${name}.` }] });
    }
    const messages = [{ role: 'user', content: 'I am five.' }];
    await chat(proxied, { messages });
    messages.push({ role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'And?' });
    await chat(proxied, { messages });
    await settled(proxied, 6);
    await assertTold(proxied, ['facts-learnt']);
  });
});
