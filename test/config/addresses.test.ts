// Upstream URLs and listen addresses: what they are read as, and what is refused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isLoopbackHost, parseListenAddress, parseUpstreamUrl } from '../../src/config/addresses.ts';

describe('upstream URLs', () => {
  const read = [
    ['http://127.0.0.1:8080', { origin: 'http://127.0.0.1:8080', basePath: '', tls: false }],
    ['http://[::1]:8080/', { origin: 'http://[::1]:8080', basePath: '', tls: false }],
    ['https://gpu.internal/llm/v2/', { origin: 'https://gpu.internal', basePath: '/llm/v2', tls: true }],
    [
      'unix:/run/llama.sock',
      { origin: 'http://localhost', socketPath: '/run/llama.sock', basePath: '', tls: false },
    ],
    [
      'unix:/a b.sock:/llm/',
      { origin: 'http://localhost', socketPath: '/a b.sock', basePath: '/llm', tls: false },
    ],
  ] as const;
  for (const [text, address] of read) {
    it(`reads ${text}`, () => {
      assert.deepEqual(parseUpstreamUrl(text), address);
    });
  }

  const refused = [
    '',
    'localhost:8080',
    'ftp://127.0.0.1',
    'http://',
    'http:/x',
    'http:///x',
    'http://a:b@host',
    'http://host?key=1',
    'http://host#x',
    'http://host:99999',
    'unix:relative.sock',
    'unix:/a.sock?x',
  ];
  for (const text of refused)
    it(`refuses "${text}"`, () => {
      assert.equal(parseUpstreamUrl(text), undefined);
    });
});

describe('listen addresses', () => {
  it('reads host and port, without the brackets of IPv6', () => {
    assert.deepEqual(parseListenAddress('127.0.0.1:9930'), { host: '127.0.0.1', port: 9930 });
    assert.deepEqual(parseListenAddress('[::1]:0'), { host: '::1', port: 0 });
    assert.deepEqual(parseListenAddress('gpu-1.internal:80'), { host: 'gpu-1.internal', port: 80 });
  });

  for (const text of [
    '9930',
    ':9930',
    '127.0.0.1',
    '::1:9930',
    'http://127.0.0.1:9930',
    'host:65536',
    'host:',
  ]) {
    it(`refuses "${text}"`, () => {
      assert.equal(parseListenAddress(text), undefined);
    });
  }

  it('knows which hosts only this machine can reach', () => {
    for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost'])
      assert.equal(isLoopbackHost(host), true, host);
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.org']) {
      assert.equal(isLoopbackHost(host), false, host);
    }
  });
});
