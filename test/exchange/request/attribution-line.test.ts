// Where an attribution line stands in the bodies of each dialect, and what is none.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributionLineOf, writtenAttribution } from '../../../src/exchange/request/attribution-line.ts';
import { formatPath } from '../../../src/exchange/json/json-path.ts';
import type { RequestKind } from '../../../src/exchange/request/request-reader.ts';
import type { ChatRequest, JsonObject } from '../../../src/exchange/request/request.ts';
import { buildRequest } from '../../support/exchange-builder.ts';

const line = 'x-anthropic-billing-header: cc_version=2.1; cch=a5145;';
const user = { role: 'user', content: 'Hi' };
const text = (said: string): JsonObject => ({ type: 'text', text: said });
const read = (kind: RequestKind, body: JsonObject | string): ChatRequest =>
  buildRequest(kind, body) as ChatRequest;

describe('attributionLineOf', () => {
  const found: readonly [string, RequestKind, JsonObject, string, boolean][] = [
    ['a block of its own', 'messages', { system: [text(line), text('B')] }, 'system[0].text', true],
    ['a block after another', 'messages', { system: [text('A'), text(line)] }, 'system[1].text', true],
    ['the head of a block', 'messages', { system: [text(`${line}\nB`)] }, 'system[0].text', false],
    ['the head of a string', 'messages', { system: `${line}\nB` }, 'system', false],
    [
      'a system message',
      'chat',
      { messages: [{ role: 'system', content: `${line}\n\nB` }, user] },
      'messages[0].content',
      false,
    ],
    [
      "a part of a developer's message",
      'chat',
      { messages: [{ role: 'developer', content: [text(line), text('B')] }, user] },
      'messages[0].content[0].text',
      true,
    ],
    ['instructions', 'responses', { instructions: line, input: 'Hi' }, 'instructions', true],
    [
      'an item',
      'responses',
      { input: [{ role: 'developer', content: [{ type: 'input_text', text: line }] }, user] },
      'input[0].content[0].text',
      true,
    ],
  ];
  for (const [name, kind, body, path, alone] of found) {
    it(`finds it in ${name}`, () => {
      const at = attributionLineOf(read(kind, { ...(kind === 'messages' && { messages: [user] }), ...body }));
      assert.deepEqual(at && { ...at, path: formatPath(at.path) }, { text: line, path, alone });
    });
  }

  const none: readonly [string, RequestKind, JsonObject][] = [
    ['a line that is not the first', 'messages', { system: `A\n${line}`, messages: [user] }],
    ['a space in front of it', 'messages', { system: ` ${line}`, messages: [user] }],
    ["a user's message", 'messages', { system: 'A', messages: [{ role: 'user', content: line }] }],
    ['a result of a tool', 'chat', { messages: [user, { role: 'tool', content: line }] }],
    ['no instructions', 'responses', { input: line }],
  ];
  for (const [name, kind, body] of none) {
    it(`takes ${name} for none`, () => {
      assert.equal(attributionLineOf(read(kind, body)), undefined);
    });
  }
});

describe('writtenAttribution', () => {
  it('is the bytes as they were written, escapes and all', () => {
    const written = String.raw`x-anthropic\u002dbilling-header: \"é\"\/;`;
    const body = `{"system":"${written}\\nB","messages":[{"role":"user","content":"Hi"}]}`;
    assert.equal(writtenAttribution(read('messages', body)), written);
  });
});
