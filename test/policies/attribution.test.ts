// What the repair of an attribution line changes in a body, to the byte, and when it changes nothing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyEdits } from '../../src/exchange/edits.ts';
import type { Finding } from '../../src/exchange/finding.ts';
import type { RequestKind } from '../../src/exchange/request/request-reader.ts';
import type { ChatRequest, JsonObject } from '../../src/exchange/request/request.ts';
import { placedAsSent, planAttribution, type AttributionRule } from '../../src/policies/attribution.ts';
import { buildRequest } from '../support/exchange-builder.ts';

const line = (hash: string): string => `x-anthropic-billing-header: cc_version=2.1; cch=${hash};`;
const first = line('a5145');
const user = { role: 'user', content: 'Hi' };
const text = (said: string): JsonObject => ({ type: 'text', text: said });
const read = (kind: RequestKind, body: JsonObject | string): ChatRequest =>
  buildRequest(kind, body) as ChatRequest;

type Ancestor = Parameters<typeof planAttribution>[2];
const began: Ancestor = { attributionLine: first };
const wasCut: Ancestor = { sent: { head: new Uint32Array(1), from: 0 } };

function repaired(request: ChatRequest, rule: AttributionRule, ancestor?: Ancestor): string | undefined {
  const plan = planAttribution(request, rule, ancestor);
  return plan && applyEdits(request.body, [plan.edit]).toString();
}

/** Numbers and white space that no serialiser would write again. */
const body = (system: string): string =>
  `{ "seed": 12345678901234567890,"t":1.0, "system" : ${system} , "messages":[{"role":"user","content":"Hi"}]}`;
const blocks = (...texts: string[]): string =>
  `[ ${texts.map((said) => `{"text":"${said}"  ,"type":"text"}`).join(' , ')} ]`;

describe('freeze', () => {
  it('puts the bytes of the line that the conversation began with into their place, and changes no other', () => {
    const request = read('messages', body(blocks(line('b6256'), 'You are.')));
    assert.equal(repaired(request, 'freeze', began), body(blocks(first, 'You are.')));
    const inString = read('messages', body(`"${line('c7')} x\\nYou are."`));
    assert.equal(repaired(inString, 'freeze', began), body(`"${first}\\nYou are."`));
  });

  it('replaces the line however it is escaped, by the bytes as they were', () => {
    const request = read('messages', body(String.raw`"x-anthropic\u002dbilling-header: \u0022\né"`));
    const written = String.raw`x-anthropic-billing\u002dheader: \"ü\";`;
    assert.equal(repaired(request, 'freeze', { attributionLine: written }), body(`"${written}\\né"`));
  });

  it('finds the line on every route', () => {
    const other = line('d8478');
    const bodies: readonly [RequestKind, (said: string) => JsonObject][] = [
      ['chat', (said) => ({ messages: [{ role: 'system', content: `${said}\nB` }, user] })],
      ['chat', (said) => ({ messages: [{ role: 'system', content: [text(said), text('B')] }, user] })],
      ['responses', (said) => ({ instructions: `${said}\nB`, input: 'Hi' })],
      ['responses', (said) => ({ input: [{ role: 'system', content: [text(said)] }, user] })],
    ];
    for (const [kind, of] of bodies) {
      assert.equal(repaired(read(kind, of(other)), 'freeze', began), JSON.stringify(of(first)));
    }
  });

  it('changes nothing in the first request, in one with that line, or in one without any', () => {
    assert.equal(repaired(read('messages', body(blocks(first, 'B'))), 'freeze'), undefined);
    assert.equal(repaired(read('messages', body(blocks(first, 'B'))), 'freeze', began), undefined);
    assert.equal(repaired(read('messages', body(blocks('A', 'B'))), 'freeze', began), undefined);
    assert.equal(repaired(read('messages', body(blocks(first, 'B'))), 'freeze', {}), undefined);
  });
});

describe('cut', () => {
  it('takes the line out with its end, or with its block, and changes no other byte', () => {
    const cases = [
      [blocks(first, 'You are.', 'More.'), blocks('You are.', 'More.')],
      [blocks('You are.', first), blocks('You are.')],
      [blocks(`${first}\\nYou are.`), blocks('You are.')],
      [`"${first}\\u000aYou are."`, '"You are."'],
      [`"${first}\\n\\nYou are."`, '"\\nYou are."'],
    ] as const;
    for (const [before, after] of cases) {
      assert.equal(repaired(read('messages', body(before)), 'cut'), body(after));
    }
  });

  it('leaves a line that is all there is: an empty list, message or string may be refused', () => {
    for (const system of [blocks(first), `"${first}"`]) {
      assert.equal(repaired(read('messages', body(system)), 'cut'), undefined);
    }
    const alone = { messages: [{ role: 'system', content: first }, user] };
    assert.equal(repaired(read('chat', alone), 'cut'), undefined);
  });
});

describe('a conversation', () => {
  const request = read('messages', body(blocks(line('b6256'), 'B')));

  it('that began with a line keeps it, also where lines are cut meanwhile', () => {
    assert.equal(repaired(request, 'cut', began), body(blocks(first, 'B')));
  });

  it('that began without one stays so, also where lines are frozen meanwhile', () => {
    assert.equal(repaired(request, 'freeze', wasCut), body(blocks('B')));
    assert.equal(repaired(request, 'cut', {}), body(blocks('B')));
  });

  it('is left alone where lines are kept', () => {
    for (const ancestor of [undefined, began, wasCut]) {
      assert.equal(repaired(request, 'keep', ancestor), undefined);
    }
  });
});

describe('placedAsSent', () => {
  const found = (field?: string): Finding => ({
    kind: 'prefix-break',
    severity: 'warning',
    culprit: 'client',
    promptIndex: 0,
    ...(field !== undefined && { field }),
    message: `It changed (${field ?? 'somewhere'}).`,
    advice: 'Change it back.',
  });

  it('counts the block that was taken out, in the field and where the message names it', () => {
    const removed = ['messages', 0, 'content', 1];
    const fields = [
      ['messages[0].content[0].text', 'messages[0].content[0].text'],
      ['messages[0].content[1].text', 'messages[0].content[2].text'],
      ['messages[0].content[12]', 'messages[0].content[13]'],
      ['messages[1].content[1].text', 'messages[1].content[1].text'],
      ['messages[0].content', 'messages[0].content'],
      ['tools[1]', 'tools[1]'],
    ] as const;
    for (const [field, sent] of fields) assert.deepEqual(placedAsSent(found(field), removed), found(sent));
    assert.deepEqual(placedAsSent(found(), removed), found());
  });

  it('leaves fields as they are where nothing was taken out', () => {
    assert.deepEqual(placedAsSent(found('system[0].text'), undefined), found('system[0].text'));
  });
});
