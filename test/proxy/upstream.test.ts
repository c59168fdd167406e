/** The forms of `upstream.url`, and the words for those that are none. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveUpstream } from '../../src/proxy/upstream.ts';

describe('resolveUpstream', () => {
  const forms = [
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080', '', ''],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080', '', ''],
    ['https://gpu.example/engine/a/', 'https://gpu.example', '/engine/a', ''],
    ['http://[::1]:8080', 'http://[::1]:8080', '', ''],
    ['unix:/run/engine.sock', 'http://localhost', '', '/run/engine.sock'],
    ['unix:/run/engine.sock:/base/', 'http://localhost', '/base', '/run/engine.sock'],
  ] as const;
  for (const [url, origin, basePath, socketPath] of forms) {
    it(url, () => {
      const upstream = resolveUpstream({ url });
      assert.deepEqual(
        [upstream.origin, upstream.basePath, upstream.socketPath, upstream.tls.rejectUnauthorized],
        [origin, basePath, socketPath, true],
      );
    });
  }

  for (const url of ['', 'localhost:8080', 'ftp://a', 'unix:relative.sock', '/run/engine.sock']) {
    it(`refuses "${url}" and names the allowed forms`, () => {
      assert.throws(() => resolveUpstream({ url }), /upstream\.url is .*unix:\/path\/to\.sock/);
    });
  }

  it('refuses credentials in the address without repeating them', () => {
    assert.throws(
      () => resolveUpstream({ url: 'http://user:hunter2@host' }),
      (error: Error) => error.message.includes('credentials') && !error.message.includes('hunter2'),
    );
  });

  it('verifies certificates unless told otherwise', () => {
    assert.equal(resolveUpstream({ url: 'https://a', insecureTls: true }).tls.rejectUnauthorized, false);
    assert.throws(() => resolveUpstream({ url: 'https://a', ca: '/no/such/file.pem' }), /ENOENT/);
  });
});
