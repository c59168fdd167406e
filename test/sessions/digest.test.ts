// What two requests' digests have in common, and that hostile nesting can't overflow the stack.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChatRequest, Json, JsonObject } from '../../src/exchange/request/request.ts';
import type { RequestDigest } from '../../src/exchange/session-match.ts';
import { RequestDigester } from '../../src/sessions/digest.ts';
import { LineDigester, wordSimilarity } from '../../src/sessions/line-digests.ts';
import { saltOf } from '../../src/sessions/turn.ts';
import { buildRequest, factsOf } from '../support/exchange-builder.ts';

const digester = new RequestDigester(Buffer.alloc(16, 5));
const lines = new LineDigester(Buffer.alloc(16, 5));
const hi = { role: 'user', content: 'Hi' };

function digest(body: JsonObject): RequestDigest {
  return digester.chat(buildRequest('chat', { messages: [hi], ...body }) as ChatRequest);
}

describe('RequestDigester', () => {
  it('leaves system and developer messages out of the conversation', () => {
    const { roles, system } = digest({
      messages: [
        { role: 'system', content: 'a' },
        hi,
        { role: 'developer', content: [{ type: 'text', text: 'b\nc' }] },
      ],
    });
    assert.deepEqual(roles, ['user']);
    assert.equal(system?.lines.length, 3);
    assert.equal(digest({}).system, undefined);
  });

  it('leaves a begun reply out', () => {
    assert.deepEqual(digest({ messages: [hi, { role: 'assistant', content: 'It' }] }).roles, ['user']);
  });

  it('tells key order by the bytes and not by the value', () => {
    const [one, other] = [digest({ tools: [{ a: 1, b: [2] }] }), digest({ tools: [{ b: [2], a: 1 }] })];
    assert.equal(one.tools[0]?.value, other.tools[0]?.value);
    assert.notEqual(one.tools[0]?.bytes, other.tools[0]?.bytes);
    assert.notEqual(one.tools[0]?.value, digest({ tools: [{ a: 1, b: [3] }] }).tools[0]?.value);
  });

  it('takes one text part, or a cache mark, for the text itself', () => {
    const marked = { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } };
    const value = (content: Json): string | undefined =>
      digest({ messages: [{ role: 'user', content }] }).messages[0]?.value;
    assert.equal(value([marked]), value('Hi'));
    assert.notEqual(value('Hi'), value('Ho'));
    assert.notEqual(value([marked, marked]), value('Hi'));
  });

  it('sees every field that a template can read', () => {
    const plain = digest({}).options;
    assert.equal(digest({ temperature: 1, seed: 3 }).options, plain);
    assert.notEqual(digest({ chat_template_kwargs: { enable_thinking: false } }).options, plain);
    assert.notEqual(
      digest({ reasoning_effort: 'low' }).options,
      digest({ reasoning_effort: 'high' }).options,
    );
  });

  it('gives other digests under another key', () => {
    const other = new RequestDigester(Buffer.alloc(16, 6));
    const request = buildRequest('chat', { messages: [hi] }) as ChatRequest;
    assert.notEqual(other.chat(request).messages[0]?.value, digest({}).messages[0]?.value);
  });

  it('digests the salt that an engine reads, and none that it does not', () => {
    const request = buildRequest('chat', { messages: [hi], cache_salt: 'secret' });
    const salted = { ...factsOf.qwen3, saltsCache: true };
    const salt = saltOf(request, salted, digester);
    assert.match(salt ?? '', /^(?!.*secret).+$/);
    assert.notEqual(
      salt,
      saltOf(buildRequest('chat', { messages: [hi], cache_salt: 'other' }), salted, digester),
    );
    assert.equal(saltOf(request, factsOf.qwen3, digester), undefined);
    assert.equal(
      saltOf(buildRequest('chat', { messages: [hi], cache_salt: 5 }), salted, digester),
      undefined,
    );
  });

  it('survives nesting of any depth', () => {
    let deep: Json = 1;
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    const message = { role: 'user', content: 'Hi', extra: deep };
    const request = buildRequest('chat', { messages: [hi] }) as ChatRequest;
    const messageOfRequest = { ...request.messages[0]!, value: message };
    const { messages } = digester.chat({ ...request, messages: [messageOfRequest] });
    assert.equal(messages.length, 1);
  });

  it('holds no text', () => {
    const text = JSON.stringify(
      digest({ messages: [{ role: 'system', content: 'secret words' }, hi], tools: [{ secret: 1 }] }),
    );
    assert.doesNotMatch(text, /secret|words|Hi/);
  });
});

describe('LineDigester', () => {
  it('shares a digest where nothing is masked', () => {
    const { lines: plain, timeMasked, dateMasked } = lines.digest('one\nIt is 10:00\nMonday');
    assert.deepEqual(
      plain.map((line, index) => [line === timeMasked[index], timeMasked[index] === dateMasked[index]]),
      [
        [true, true],
        [false, true],
        [true, false],
      ],
    );
  });

  it('remembers a text by its digest', () => {
    assert.equal(lines.digest('the same\ntext'), lines.digest('the same\ntext'));
  });

  it('marks attribution lines and bounds the number of lines', () => {
    const many = lines.digest(`x-anthropic-billing-header: cch=1\n${'line\n'.repeat(10_000)}`);
    assert.deepEqual(many.attributionLines, [0]);
    assert.equal(many.lines.length, 4096);
  });
});

describe('wordSimilarity', () => {
  const similarity = (a: string, b: string): number => wordSimilarity(lines.digest(a), lines.digest(b));
  const words = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, index) => `word${from + index}`).join(' ');

  it('is exact for texts of few words', () => {
    assert.equal(similarity('You are terse.', 'You are brief.'), 0.5);
    assert.equal(similarity('', ''), 1);
    assert.equal(similarity('a b', 'c d'), 0);
    assert.equal(similarity('It is 10:00 here', 'It is 10:01 here'), 1);
  });

  it('comes close for long texts', () => {
    assert.equal(similarity(words(0, 2000), words(0, 2000)), 1);
    assert.ok(similarity(words(0, 2000), words(100, 2100)) > 0.7);
    assert.ok(similarity(words(0, 2000), words(1500, 3500)) < 0.4);
    assert.equal(similarity(words(0, 2000), words(2000, 4000)), 0);
  });

  it('sees what two texts without spaces have in common', () => {
    const agent = '你是一个编程助手。请用一句话回答，并说明来源。不确定时要说明。';
    assert.ok(similarity(`${agent}当前状态：正常。`, `${agent}当前状态：有改动。`) > 0.5);
    assert.ok(similarity(agent, '请为下面的对话写一个简短的标题，不超过五个字，不要加引号。') < 0.5);
    assert.ok(similarity('あなたは優秀な翻訳者です。', 'これはまったく別の指示なのでご注意を。') < 0.5);
  });
});
