// DNS rebinding: a page that points its own name at this machine gets no answer from the admin port.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createHostAllowList, isLoopback } from '../../src/admin/host-allow-list.ts';

import { listening } from './admin-under-test.ts';

describe('a loopback listener', () => {
  const hosts = createHostAllowList('127.0.0.1', ['gpu-box.lan', 'Metrics.Example:9939']);
  for (const host of [
    'localhost:9939',
    'LOCALHOST',
    'localhost.:9939',
    'tokenweir.localhost',
    '127.0.0.1:9939',
    '127.8.8.8',
    '[::1]:9939',
    'gpu-box.lan',
    'gpu-box.lan:80',
    'metrics.example',
  ]) {
    it(`answers to ${host}`, () => {
      assert.equal(hosts.allows(host), true);
    });
  }
  for (const host of [
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:9939',
    'notlocalhost',
    'evil@localhost',
    'localhost:9939:1',
    '192.168.1.7:9939',
    'other.gpu-box.lan',
  ]) {
    it(`does not answer to ${host ?? 'no host'}`, () => {
      assert.equal(hosts.allows(host), false);
    });
  }
});

describe('a listener that other machines reach', () => {
  const hosts = createHostAllowList('0.0.0.0', []);
  it('answers to plain addresses, which cannot be rebound', () => {
    for (const host of ['10.0.0.5:9939', '[fd00::7]:9939', '0.0.0.0:9939', 'localhost:9939']) {
      assert.equal(hosts.allows(host), true, host);
    }
  });
  it('answers to no name that the operator has not listed', () => {
    for (const host of ['evil.example:9939', '10.0.0.5.evil.example', 'tokenweir:9939']) {
      assert.equal(hosts.allows(host), false, host);
    }
  });
  it('answers to its own name', () => {
    assert.equal(createHostAllowList('gpu-box.lan', []).allows('gpu-box.lan:9939'), true);
    assert.equal(createHostAllowList('fd00::7', []).allows('[fd00::7]:9939'), true);
  });
});

describe('isLoopback', () => {
  it('knows loopback in all spellings and nothing else', () => {
    for (const host of ['localhost', '127.0.0.1', '127.255.0.1', '::1', '::ffff:127.0.0.1']) {
      assert.equal(isLoopback(host), true, host);
    }
    for (const host of ['0.0.0.0', '::', '128.0.0.1', '127.0.0.1.evil.example', 'localhost.evil', '']) {
      assert.equal(isLoopback(host), false, host);
    }
  });
});

describe('every path', () => {
  it('refuses a foreign host before anything else and says what to do', async (t) => {
    const ask = await listening(t, { access: { listenHost: '127.0.0.1', token: 'hush' } });
    for (const path of ['/', '/metrics', '/healthz', '/api/findings', '/nowhere']) {
      const answer = await ask(path, { host: 'evil.example', authorization: 'Bearer hush' });
      assert.equal(answer.status, 421, path);
      assert.equal(answer.json()['code'], 'ADMIN_HOST_REFUSED');
      assert.match(String(answer.json()['detail']), /"evil\.example".*admin\.allowedHosts/);
    }
    assert.equal((await ask('/healthz')).status, 200);
  });
});
