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

const legacyId = `user_${'a'.repeat(64)}_account__session_0b5f1c7e-6d1c-4f0e-9a51-3f2b8c7d9e10`;

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

  const uuid = '0b5f1c7e-6d1c-4f0e-9a51-3f2b8c7d9e10';
  const header = { 'x-claude-code-session-id': ` ${uuid} ` };
  const fromClaudeCode = (userId: unknown): ReturnType<typeof buildRequest> =>
    buildRequest('messages', {
      messages: [{ role: 'user', content: 'Hi' }],
      metadata: { user_id: userId as string },
    });

  it("understands Claude Code's header and both forms of its metadata, on its own route alone", () => {
    const json = fromClaudeCode(JSON.stringify({ device_id: 'd', session_id: uuid }));
    const legacy = fromClaudeCode(legacyId);
    const inMetadata = { source: 'claude-code-metadata', value: uuid };
    assert.deepEqual(readSessionKey({}, json), inMetadata);
    assert.deepEqual(readSessionKey({}, legacy), inMetadata);
    assert.deepEqual(readSessionKey(header, legacy), { source: 'claude-code-header', value: uuid });
    assert.deepEqual(readSessionKey({ ...header, 'tokenweir-session': 'a' }, legacy)?.source, 'header');
    assert.equal(readSessionKey(header, request)?.source, 'prompt-cache-key');
    const elsewhere = { messages: [{ role: 'user', content: 'Hi' }], metadata: { user_id: legacyId } };
    assert.equal(readSessionKey(header, buildRequest('chat', elsewhere)), undefined);
  });

  it('takes no other user id for a session', () => {
    const others = [
      'user-7',
      '{"session_id":7}',
      '{"session_id":""}',
      '[]',
      '{',
      7,
      null,
      `{"a":"${'x'.repeat(2000)}"}`,
    ];
    for (const userId of [...others, `user_a_session_${'x'.repeat(36)}`, `${legacyId}0`]) {
      assert.equal(readSessionKey({}, fromClaudeCode(userId)), undefined, String(userId));
    }
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
