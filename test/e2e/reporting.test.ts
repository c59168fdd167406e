// What is told of an exchange, to whom, and what is never told: request ids, folded log lines, the findings API, and no
// text of any prompt.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withBos } from '../support/byte-models.ts';
import { assertHas, chat, complete, eventually, learnt, send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const engine = await realEngine(withBos.file);
const { skip } = engine;
const doubled = { prompt: `<s>${withBos.turn}` };

describe('an exchange', { skip }, () => {
  it('has one id in the header, the log and the findings API: the one that the client sent', async (t) => {
    const proxied = await openProxy(t, (await engine.server()).url);
    const headers = {
      'x-request-id': 'mine-1',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    };
    const answer = await complete(proxied, doubled, headers);
    assert.equal(answer.headers.get('tokenweir-request-id'), 'mine-1');
    const ids = { requestId: 'mine-1', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' };
    const log = proxied.lines.find(({ event }) => event === 'finding');
    assertHas(log, { ...ids, kind: 'double-bos', level: 'error', culprit: 'client', field: 'prompt' });
    assertHas(
      (await proxied.findings()).find(({ kind }) => kind === 'double-bos'),
      ids,
    );
    const made = await complete(proxied, doubled);
    assert.match(made.headers.get('tokenweir-request-id') ?? '', /^[0-9a-f-]{36}$/);
  });

  it('has four headers at most, and the findings only where they are wanted', async (t) => {
    const { url } = await engine.server();
    const ours = (headers: Headers): string[] =>
      [...headers.keys()].filter((name) => name.startsWith('tokenweir-'));
    const proxied = await openProxy(t, url);
    const all = ['tokenweir-action', 'tokenweir-findings', 'tokenweir-inspection', 'tokenweir-request-id'];
    assert.deepEqual(ours((await complete(proxied, doubled)).headers), all);
    const silent = await openProxy(t, url, { HEADERS_FINDINGS: 'false' });
    const three = all.filter((name) => name !== 'tokenweir-findings');
    assert.deepEqual(ours((await complete(silent, doubled)).headers), three);
    const passed = await fetch(`${proxied.url}/v1/models`);
    assert.deepEqual(ours(passed.headers), []);
  });

  it('adds no CORS fields to those of the engine, whose decision it is what a page may read', async (t) => {
    const { url } = await engine.server();
    const proxied = await openProxy(t, url);
    const cors = async (at: { readonly url: string }): Promise<readonly [string, string][]> =>
      [...(await complete(at, doubled, { origin: 'https://page.example' })).headers].filter(([name]) =>
        name.startsWith('access-control-'),
      );
    const direct = await cors({ url });
    assert.deepEqual(await cors(proxied), direct);
    assert.ok(direct.some(([name]) => name === 'access-control-allow-origin'));
    assert.ok(direct.every(([name]) => name !== 'access-control-expose-headers'));
  });

  it('that is like the one before is folded into its log line, with a count', async (t) => {
    const proxied = await openProxy(t, (await engine.server()).url, { LOG_FOLD_SECONDS: '600' });
    for (let count = 0; count < 4; count += 1) await complete(proxied, doubled);
    await complete(proxied, doubled, { authorization: 'Bearer another client' });
    await settled(proxied, 5);
    const lines = (event: string) =>
      proxied.lines.filter((line) => line['event'] === event && line['kind'] === 'double-bos');
    assert.equal(lines('finding').length, 2);
    assert.equal(lines('finding-repeated').length, 0);
    assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'double-bos' }), 5);
    // No count is lost at the end.
    await proxied.server.drain();
    assert.deepEqual(
      lines('finding-repeated').map(({ count }) => count),
      [3],
    );
  });
});

describe('the text of a prompt', { skip }, () => {
  const secret = 'Xylophone';
  const bodies = [
    {
      messages: [
        { role: 'system', content: `It is 12:00:01, ${secret}.` },
        { role: 'user', content: secret },
      ],
    },
    {
      messages: [
        { role: 'system', content: `It is 12:00:07, ${secret}.` },
        { role: 'user', content: secret },
        { role: 'assistant', content: secret },
        { role: 'user', content: `${secret}?` },
      ],
    },
  ];

  it('and its ids leave the process in no way', async (t) => {
    const server = await engine.server();
    const proxied = await openProxy(t, server.url, { LOG_LEVEL: 'trace', UPSTREAM_API_KEY: 'operators-key' });
    await learnt(proxied);
    const headers = { authorization: 'Bearer clients-key', 'tokenweir-session': `session-${secret}` };
    for (const body of bodies) await chat(proxied, body, headers);
    await complete(proxied, { prompt: `<s><|user|>${secret}<|end|>` }, headers);
    await complete(proxied, { prompt: secret, n_predict: 4 }, headers);
    await send(`${proxied.url}/completion`, `{"prompt":"${secret}`, { headers });
    await settled(proxied, 5);
    const kinds = new Set((await proxied.findings()).map(({ kind }) => kind));
    for (const kind of ['double-bos', 'prefix-break', 'raw-prompt'])
      assert.ok(kinds.has(kind), `${kind} is told`);
    const paths = ['/metrics', '/api/findings', '/api/sessions', '/config', '/', '/version', '/readyz'];
    const told = [
      JSON.stringify(proxied.lines),
      ...(await Promise.all(paths.map(async (path) => (await fetch(proxied.adminUrl + path)).text()))),
    ].join('\n');
    for (const hidden of [secret, 'clients-key', 'operators-key'])
      assert.ok(!told.includes(hidden), `${hidden} is told`);
    // Nor can a vocabulary turn back what is shown: a window holds pseudonyms instead of ids.
    const { json } = await send(`${server.url}/tokenize`, { content: secret });
    const tokens = json['tokens'] as number[];
    const shown = (await proxied.findings()).flatMap(({ window, ancestorWindow }) =>
      [window, ancestorWindow].map((one) => (one as { pieces: object[] } | undefined)?.pieces ?? []),
    );
    assert.ok(shown.filter((pieces) => pieces.length > 0).length > 3, 'an earlier turn is shown too');
    for (const piece of shown.flat()) {
      const { id, text } = piece as { id?: unknown; text?: string };
      assert.ok(
        typeof id === 'string' ? !tokens.map(String).includes(id) : /^<.*>$/.test(text ?? ''),
        JSON.stringify(piece),
      );
    }
  });

  it('is shown where the operator asks for it', async (t) => {
    const proxied = await openProxy(t, (await engine.server()).url, { PRIVACY_SHOW_TEXT: 'true' });
    await complete(proxied, { prompt: `<s><|user|>${secret}<|end|>` });
    for (const body of bodies) await chat(proxied, body);
    await settled(proxied, 3);
    const textsOf = async (kind: string): Promise<(string | undefined)[]> => {
      const byKind = async (): Promise<Readonly<Record<string, unknown>> | undefined> =>
        (await proxied.findings()).find((finding) => finding['kind'] === kind);
      // It is told once the engine has said what its ids stand for.
      await eventually(async () => (await byKind()) !== undefined, `${kind} is told`);
      const found = await byKind();
      return [found?.['window'], found?.['ancestorWindow']].map((window) =>
        (window as { pieces: { text: string }[] } | undefined)?.pieces.map(({ text }) => text).join(''),
      );
    };
    const [doubledText, none] = await textsOf('double-bos');
    assert.match(doubledText ?? '', /^<s><s><\|user\|>Xyl/);
    assert.equal(none, undefined);
    const [now, before] = await textsOf('prefix-break');
    assert.match(now ?? '', /00:07, Xyl/);
    assert.equal(before, now?.replace('00:07', '00:01'));
  });
});
