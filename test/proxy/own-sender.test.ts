/** Which pass-through requests may go through the framework: only those that it leaves as they are. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { needsOwnSender } from '../../src/proxy/own-sender.ts';
import { originForm, pathOf } from '../../src/proxy/request-target.ts';

function message(method: string, url: string, headers: Record<string, string> = {}): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { method, url, headers });
}

const body = { 'content-length': '2', 'content-type': 'application/json; charset=utf-8' };

describe('needsOwnSender', () => {
  const plain = [
    message('GET', '/'),
    message('GET', '/v1/models/some-model:latest?autoload=false&x=%zz'),
    message('HEAD', '/props', { 'content-length': '0' }),
    message('POST', '/tokenize', body),
    message('DELETE', '/v1/stream?conv_id=../x'),
    message('GET', '/a/...b/c.d'),
  ];
  for (const request of plain) {
    it(`is false for ${request.method} ${request.url}`, () => {
      assert.equal(needsOwnSender(request), false);
    });
  }

  const odd = [
    message('GET', '//a'),
    message('GET', '/a/../b'),
    message('GET', '/a/.'),
    message('GET', '/%41'),
    message('GET', '/a\\b'),
    message('OPTIONS', '*'),
    message('GET', 'http://a/b'),
    message('GET', '/a', body),
    message('DELETE', '/a', { ...body, 'content-length': '9' }),
    message('HEAD', '/a', { 'transfer-encoding': 'chunked' }),
    message('POST', '/a', { 'content-length': '2' }),
    message('POST', '/a', { ...body, 'content-type': 'nonsense' }),
    message('PUT', '/a', { ...body, 'content-type': 'a/b; x="y' }),
  ];
  for (const request of odd) {
    it(`is true for ${request.method} ${request.url} ${JSON.stringify(request.headers)}`, () => {
      assert.equal(needsOwnSender(request), true);
    });
  }
});

describe('request targets', () => {
  for (const [target, form, path] of [
    ['/a?b', '/a?b', '/a'],
    ['//a/b', '//a/b', '//a/b'],
    ['http://h:1/a?b', '/a?b', '/a'],
    ['HTTP://h', '/', '/'],
    ['http://h?x', '/?x', '/'],
    ['*', '*', '*'],
    ['/a?u=http://h/b', '/a?u=http://h/b', '/a'],
  ] as const) {
    it(target, () => {
      assert.deepEqual([originForm(target), pathOf(target)], [form, path]);
    });
  }
});
