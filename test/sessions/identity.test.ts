// Pseudonyms, operators' names for clients, and where a session key comes from.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { identifyClient, maxSessionKeyLength, readSessionKey } from '../../src/sessions/identity.ts';
import { buildRequest } from '../support/exchange-builder.ts';

const digestKey = Buffer.alloc(16, 1);
const options = { digestKey, clients: {} };

describe('identifyClient', () => {
  it('knows a client by its credentials, wherever it comes from', () => {
    const one = identifyClient({ authorization: 'Bearer key-1' }, '10.0.0.1', options);
    const again = identifyClient({ authorization: 'bearer key-1' }, '10.0.0.2', options);
    const other = identifyClient({ 'x-api-key': 'key-2' }, '10.0.0.1', options);
    assert.equal(one.pseudonym, again.pseudonym);
    assert.notEqual(one.pseudonym, other.pseudonym);
  });

  it('knows one without credentials by its address', () => {
    const at = (address: string): string => identifyClient({}, address, options).pseudonym;
    assert.equal(at('10.0.0.1'), at('10.0.0.1'));
    assert.notEqual(at('10.0.0.1'), at('10.0.0.2'));
    assert.notEqual(at('key-1'), identifyClient({ 'x-api-key': 'key-1' }, '', options).pseudonym);
  });

  it('gives other pseudonyms in another process', () => {
    const elsewhere = identifyClient({}, '10.0.0.1', { ...options, digestKey: Buffer.alloc(16, 2) });
    assert.notEqual(elsewhere.pseudonym, identifyClient({}, '10.0.0.1', options).pseudonym);
  });

  it('holds neither credentials nor address', () => {
    const text = JSON.stringify(identifyClient({ authorization: 'Bearer key-1' }, '10.0.0.1', options));
    assert.doesNotMatch(text, /key-1|10\.0\.0\.1/);
  });

  it("gives a client the operator's name", () => {
    const keyHash = createHash('sha256').update('key-1').digest('hex').toUpperCase();
    const clients = {
      nobody: {},
      coder: { keyHash },
      batch: { header: { name: 'X-Team', value: 'batch' } },
      both: { header: { name: 'x-team' }, keyHash: '0'.repeat(64) },
      team: { header: { name: 'x-team' } },
    };
    const name = (headers: Record<string, string>): string | undefined =>
      identifyClient(headers, '10.0.0.1', { digestKey, clients }).name;
    assert.equal(name({ authorization: 'Bearer key-1' }), 'coder');
    assert.equal(name({ 'x-api-key': 'key-1' }), 'coder');
    assert.equal(name({ 'x-team': 'batch' }), 'batch');
    assert.equal(name({ 'x-team': 'other' }), 'team');
    assert.equal(name({ 'x-api-key': 'key-2' }), undefined);
  });
});

describe('readSessionKey', () => {
  const request = buildRequest('chat', {
    messages: [{ role: 'user', content: 'Hi' }],
    prompt_cache_key: ' body ',
  });

  it('believes the header before the body', () => {
    assert.deepEqual(readSessionKey({ 'tokenweir-session': ' a ' }, request), {
      source: 'header',
      value: 'a',
    });
    assert.deepEqual(readSessionKey({ 'x-tokenweir-session': 'b' }, request), {
      source: 'header',
      value: 'b',
    });
    assert.deepEqual(readSessionKey({ 'tokenweir-session': ' ' }, request), {
      source: 'prompt-cache-key',
      value: 'body',
    });
  });

  it('is undefined if the client names no session', () => {
    const unnamed = buildRequest('chat', {
      messages: [{ role: 'user', content: 'Hi' }],
      prompt_cache_key: 7,
    });
    assert.equal(readSessionKey({}, unnamed), undefined);
    assert.equal(readSessionKey({}, undefined), undefined);
  });

  it('cuts a key that is too long', () => {
    const key = readSessionKey({ 'tokenweir-session': ['x'.repeat(5000), 'y'] }, undefined);
    assert.equal(key?.value.length, maxSessionKeyLength);
  });
});
