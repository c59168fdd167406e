/** Headers pass in order, case and repetition, minus hop-by-hop ones (RFC 9110, section 7.6.1); nothing is added. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { answerOk } from '../support/fake-upstream.ts';
import type { HttpMessage } from '../support/http-message.ts';
import { valuesOf } from '../support/http-message.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { exchangeBytes, get, post } from '../support/raw-client.ts';
import { startRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();
const rig = await startRig(answerOk);
after(async () => {
  await rig.close();
  await assertNoLeaks();
});

/** The fields that the proxy itself must write for each hop. */
const framing = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive']);
const passed = (message: HttpMessage): string[] =>
  message.headers
    .filter(([name]) => !framing.has(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value}`);

async function sentUpstream(bytes: string | Buffer): Promise<HttpMessage> {
  const index = rig.upstream.exchanges.length;
  await exchangeBytes(rig.port, bytes);
  return (await rig.upstream.exchange(index)).request;
}

const cases = [
  { route: 'an inspected route', send: (headers: string) => post('/v1/chat/completions', '{}', headers) },
  {
    route: 'an uninspected generation route',
    send: (headers: string) => post('/v1/messages', '{}', headers),
  },
  { route: 'a pass-through POST', send: (headers: string) => post('/tokenize', '{}', headers) },
  { route: 'a pass-through GET', send: (headers: string) => get('/props', headers) },
];

for (const { route, send } of cases) {
  describe(`request headers on ${route}`, () => {
    it('keep order, case and repetition', async () => {
      const lines = [
        'Content-Type: application/json',
        'X-b: 2',
        'x-A: 1',
        'X-b: 1, 3',
        'Accept: a',
        'Accept: b',
        'Cookie: a=1',
        'Cookie: b=2',
        'Authorization: Bearer Key',
        'X-Conversation-Id: c1',
        'X-Empty:',
      ];
      const request = await sentUpstream(send(lines.join('\r\n')));
      assert.deepEqual(
        passed(request),
        lines.map((line) => line.replace(/:$/, ': ')),
      );
    });

    it('keep bytes above ASCII', async () => {
      const value = Buffer.from('caf\u00e9 \u00ff', 'latin1').toString('latin1');
      const head = Buffer.from(send(`X-Latin: ${value}`).toString('latin1'), 'latin1');
      assert.deepEqual(valuesOf(await sentUpstream(head), 'x-latin'), [value]);
    });

    it('lose hop-by-hop fields and those that Connection names', async () => {
      const hop = [
        'Connection: keep-alive, X-Mine',
        'Keep-Alive: timeout=9',
        'Proxy-Connection: keep-alive',
        'Proxy-Authorization: Basic eA==',
        'TE: trailers',
        'X-Mine: 1',
        'X-Yours: 2',
      ];
      assert.deepEqual(passed(await sentUpstream(send(hop.join('\r\n')))), ['X-Yours: 2']);
    });

    it('name the upstream as Host, and add no forwarding fields', async () => {
      const request = await sentUpstream(send('X-A: 1'));
      assert.deepEqual(valuesOf(request, 'host'), [`127.0.0.1:${rig.upstream.port}`]);
      assert.deepEqual(passed(request), ['X-A: 1']);
    });

    it('may fill 60 KiB', async () => {
      const big = 'v'.repeat(60 * 1024);
      assert.deepEqual(valuesOf(await sentUpstream(send(`X-Big: ${big}`)), 'x-big'), [big]);
    });

    it('may carry Expect: 100-continue, which the proxy answers itself', async () => {
      const request = await sentUpstream(send('Expect: 100-continue\r\nX-A: 1'));
      assert.deepEqual(passed(request), ['X-A: 1']);
    });
  });

  describe(`reply headers on ${route}`, () => {
    it('keep order, case, repetition and the reason phrase', async () => {
      const lines = [
        'Server: engine',
        'Set-Cookie: a=1',
        'x-Mixed: B',
        'Set-Cookie: b=2',
        'Content-Type: text/plain',
      ];
      rig.upstream.answerWith((exchange) => exchange.reply('418 Short And Stout', lines.join('\r\n'), 'x'));
      const reply = await exchangeBytes(rig.port, send('X-A: 1'));
      assert.equal(reply.startLine, 'HTTP/1.1 418 Short And Stout');
      assert.deepEqual(passed(reply), lines);
    });

    it('lose hop-by-hop fields and gain none', async () => {
      const lines =
        'Connection: close, X-Mine\r\nKeep-Alive: timeout=1\r\nX-Mine: 1\r\nProxy-Authenticate: Basic';
      rig.upstream.answerWith((exchange) => exchange.reply('200 OK', lines, 'x'));
      const reply = await exchangeBytes(rig.port, send('X-A: 1'));
      assert.deepEqual(passed(reply), []);
      assert.notDeepEqual(valuesOf(reply, 'keep-alive'), ['timeout=1']);
    });

    it('leave Location as it is', async () => {
      rig.upstream.answerWith((exchange) => exchange.reply('302 Found', 'Location: /base/x?y#z', ''));
      assert.deepEqual(valuesOf(await exchangeBytes(rig.port, send('X-A: 1')), 'location'), ['/base/x?y#z']);
    });
  });
}

describe('CORS fields of an inspected reply', () => {
  const cors = ['Access-Control-Allow-Origin: http://page', 'Access-Control-Allow-Credentials: true'];
  for (const [name, lines] of [
    ['that exposes none', cors],
    ['that exposes some', [...cors, 'Access-Control-Expose-Headers: x-engine']],
  ] as const) {
    it(`pass as the engine wrote them, in one ${name}: ours are not exposed`, async () => {
      const before = rig.inspector.verdict;
      rig.inspector.verdict = () => ({ action: 'pass', responseHeaders: [['tokenweir-action', 'pass']] });
      rig.upstream.answerWith((exchange) => exchange.reply('200 OK', lines.join('\r\n'), 'x'));
      const reply = await exchangeBytes(rig.port, post('/completion', '{}', 'Origin: http://page'));
      rig.inspector.verdict = before;
      assert.deepEqual(passed(reply), [...lines, 'tokenweir-action: pass']);
    });
  }
});

describe('answers without a body', () => {
  it('HEAD keeps the length that GET would have', async () => {
    rig.upstream.answerWith((exchange) =>
      exchange.write('HTTP/1.1 200 OK\r\nContent-Length: 4711\r\nX-A: 1\r\n\r\n'),
    );
    const reply = await exchangeBytes(rig.port, 'HEAD /props HTTP/1.1\r\nHost: p\r\n\r\n');
    assert.deepEqual(valuesOf(reply, 'content-length'), ['4711']);
    assert.equal((await rig.upstream.exchange(rig.upstream.exchanges.length - 1)).method, 'HEAD');
  });

  it('304 keeps its content type and validator', async () => {
    rig.upstream.answerWith((exchange) =>
      exchange.write('HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Type: a/b\r\n\r\n'),
    );
    const reply = await exchangeBytes(rig.port, get('/file', 'If-None-Match: "x"'));
    assert.equal(reply.startLine, 'HTTP/1.1 304 Not Modified');
    assert.deepEqual(passed(reply), ['ETag: "x"', 'Content-Type: a/b']);
  });

  it('204 has no body and no length', async () => {
    rig.upstream.answerWith((exchange) => exchange.write('HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n'));
    const reply = await exchangeBytes(rig.port, 'DELETE /v1/stream?conv_id=c1 HTTP/1.1\r\nHost: p\r\n\r\n');
    assert.equal(reply.startLine, 'HTTP/1.1 204 No Content');
    assert.deepEqual(passed(reply), ['X-A: 1']);
  });
});
