/** Request targets and methods reach the engine as they were sent, whatever the router or a URL parser thinks of them. */
import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { after, describe, it } from 'node:test';
import { answerOk } from '../support/fake-upstream.ts';
import { valuesOf } from '../support/http-message.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { exchangeBytes, get } from '../support/raw-client.ts';
import { startRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();
const rig = await startRig(answerOk);
const based = await startRig(answerOk, { basePath: '/engine/v7/' });
after(async () => {
  await rig.close();
  await based.close();
  await assertNoLeaks();
});

const targets = [
  '/',
  '/props?autoload=false&x=%20&x=+&y',
  '//a',
  '//a//b',
  '/a/../b',
  '/a/./b/..',
  '/%2e%2e/a',
  '/%zz',
  '/%ff',
  '/a%2Fb',
  '/a\\b',
  '/a;b=c',
  '/a"<>|^`{}',
  '/a?b?c#d',
  '/A/b/',
  `/${'x'.repeat(30_000)}`,
  `/props?${'y'.repeat(30_000)}`,
];

describe('targets', () => {
  for (const target of targets) {
    it(`${target.slice(0, 40)} (${target.length})`, async () => {
      const index = rig.upstream.exchanges.length;
      const reply = await exchangeBytes(rig.port, Buffer.from(get(target), 'latin1'));
      assert.equal(reply.startLine, 'HTTP/1.1 200 OK');
      assert.equal((await rig.upstream.exchange(index)).target, target);
    });

    it(`${target.slice(0, 40)} (${target.length}) behind a base path`, async () => {
      const index = based.upstream.exchanges.length;
      await exchangeBytes(based.port, Buffer.from(get(target), 'latin1'));
      assert.equal((await based.upstream.exchange(index)).target, `/engine/v7${target}`);
    });
  }

  it('a generation route keeps its query and gets the base path', async () => {
    const index = based.upstream.exchanges.length;
    const body = '{}';
    await exchangeBytes(
      based.port,
      `POST /completion?a=%20b HTTP/1.1\r\nHost: p\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    assert.equal((await based.upstream.exchange(index)).target, '/engine/v7/completion?a=%20b');
    assert.equal(based.inspector.seen.at(-1)?.incoming.path, '/completion');
  });
});

describe('methods', () => {
  for (const method of METHODS.filter((name) => name !== 'CONNECT')) {
    it(`${method} arrives, and so does its body`, async () => {
      const index = rig.upstream.exchanges.length;
      const body = '{"a":1.0}';
      const reply = await exchangeBytes(
        rig.port,
        `${method} /some/path HTTP/1.1\r\nHost: p\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      assert.equal(reply.startLine, 'HTTP/1.1 200 OK');
      const exchange = await rig.upstream.exchange(index);
      assert.equal(exchange.method, method);
      assert.equal(exchange.request.body.toString(), body);
    });
  }

  it('OPTIONS gets the answer of the engine, CORS headers and all', async () => {
    rig.upstream.answerWith((exchange) =>
      exchange.reply(
        '200 OK',
        'Access-Control-Allow-Origin: http://page\r\nAccess-Control-Allow-Headers: *',
        '',
      ),
    );
    const reply = await exchangeBytes(
      rig.port,
      'OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: p\r\nOrigin: http://page\r\nAccess-Control-Request-Method: POST\r\n\r\n',
    );
    assert.deepEqual(valuesOf(reply, 'access-control-allow-origin'), ['http://page']);
    assert.deepEqual(valuesOf(reply, 'access-control-allow-headers'), ['*']);
    rig.upstream.answerWith(answerOk);
  });
});

describe('content types', () => {
  for (const type of [
    'nonsense',
    'application/',
    '/json',
    'text/plain; charset',
    'a/b; x="',
    'multipart/form-data; boundary=x',
    '',
  ]) {
    for (const path of ['/tokenize', '/v1/chat/completions']) {
      it(`${path} carries "${type}"`, async () => {
        const index = rig.upstream.exchanges.length;
        const reply = await exchangeBytes(
          rig.port,
          `POST ${path} HTTP/1.1\r\nHost: p\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}Content-Length: 2\r\n\r\n{}`,
        );
        assert.equal(reply.startLine, 'HTTP/1.1 200 OK');
        const { request } = await rig.upstream.exchange(index);
        assert.deepEqual(valuesOf(request, 'content-type'), type === '' ? [] : [type]);
        assert.equal(request.body.toString(), '{}');
      });
    }
  }
});
