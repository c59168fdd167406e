// Instructions in parts, and what an engine is seen to leave out of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatPath } from '../../../src/exchange/json/json-path.ts';
import type { ChatRequest } from '../../../src/exchange/request/request.ts';
import { partWithLine, systemParts } from '../../../src/exchange/request/system-text.ts';
import { buildRequest } from '../../support/exchange-builder.ts';

const hi = { role: 'user', content: 'Hi' };
const line = (hash: string): string => `x-anthropic-billing-header: cc_version=2.1; cch=${hash};`;
const request = (...texts: string[]): ChatRequest =>
  buildRequest('messages', {
    system: texts.map((text) => ({ type: 'text', text })),
    messages: [hi],
  }) as ChatRequest;
const textsOf = (rendered: string | undefined, ...texts: string[]): string[] =>
  systemParts(request(...texts), { rendered }).map(({ text }) => text);

describe('systemParts', () => {
  it('masks the hash of an attribution line where the prompt does not have it', () => {
    assert.deepEqual(textsOf(`S ${line('fffff')}B`, line('a5145'), 'B'), [line('fffff'), 'B']);
    assert.deepEqual(textsOf('B', line('a5145'), 'B'), [line('fffff'), 'B']);
  });

  it('leaves it where the prompt has it, or is not known', () => {
    assert.deepEqual(textsOf(`S ${line('a5145')}`, line('a5145')), [line('a5145')]);
    assert.deepEqual(textsOf(undefined, line('a5145')), [line('a5145')]);
  });

  it('masks nothing else', () => {
    for (const text of [` ${line('a5145')}`, 'x-anthropic-billing-header: cch=a5145', 'cch=a5145;']) {
      assert.deepEqual(textsOf('', text), [text]);
    }
  });
});

describe('systemParts of an engine that was seen to leave the line out', () => {
  const facts = { unreadAttribution: ['anthropic'] } as const;
  const left = (rendered: string | undefined, of: ChatRequest): unknown[] =>
    systemParts(of, { rendered, facts }).map(({ text, path }) => [formatPath(path), text]);

  it('leaves out the line, and a part that is nothing else', () => {
    assert.deepEqual(left(undefined, request(line('a5145'), `${line('a5145')}\nB`, 'C')), [
      ['system[1].text', 'B'],
      ['system[2].text', 'C'],
    ]);
  });

  it('believes a known prompt, not what was seen before', () => {
    assert.deepEqual(left(line('a5145'), request(line('a5145'))), [['system[0].text', line('a5145')]]);
  });

  it('leaves it where another route, another role or another place was not tried', () => {
    const chat = (role: string): ChatRequest =>
      buildRequest('chat', { messages: [{ role, content: line('a5145') }, hi] }) as ChatRequest;
    assert.equal(left(undefined, chat('system')).length, 1);
    const developer = systemParts(chat('developer'), { facts: { unreadAttribution: ['openai'] } });
    assert.equal(developer.length, 1);
    assert.deepEqual(left(undefined, request(`B\n${line('a5145')}`)), [
      ['system[0].text', `B\n${line('a5145')}`],
    ]);
  });
});

describe('partWithLine', () => {
  const parts = systemParts(request('a\nb', 'c', 'd\ne'));
  const found = (line_: number): unknown => {
    const at = partWithLine(parts, line_);
    return at && [formatPath(at.part.path), at.linesBefore];
  };

  it('counts lines through all parts', () => {
    assert.deepEqual([0, 1].map(found), [
      ['system[0].text', 0],
      ['system[0].text', 0],
    ]);
    assert.deepEqual(found(2), ['system[1].text', 2]);
    assert.deepEqual([3, 4].map(found), [
      ['system[2].text', 3],
      ['system[2].text', 3],
    ]);
  });

  it('takes the last part for lines that are gone, and none where there is none', () => {
    assert.deepEqual(found(99), ['system[2].text', 3]);
    assert.equal(partWithLine([], 0), undefined);
  });
});
