// The last members of an object, read from its end: right or not at all.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { KeptJson, lastMembers } from '../../../src/exchange/json/kept-json.ts';
import type { JsonObject } from '../../../src/exchange/request/request.ts';
import { chooser, writeJson } from './json-writing.ts';

describe('lastMembers', () => {
  it('gives members of the object and no others, wherever its beginning is cut off', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(objects, fc.nat(), fc.nat(), (object, seed, cut) => {
        const bytes = Buffer.from(writeJson(object, chooser(seed)));
        const whole = JSON.parse(bytes.toString()) as JsonObject;
        const members = lastMembers(bytes.subarray(cut % bytes.length));
        for (const [key, value] of Object.entries(members ?? {})) assert.deepEqual(value, whole[key]);
      }),
    );
  });

  it('is not fooled by text that looks like members', () => {
    const text = '"},"usage":{"prompt_tokens":1},"x":"\\';
    const bytes = Buffer.from(
      JSON.stringify({ text: text.repeat(50), usage: { prompt_tokens: 7 }, id: text }),
    );
    for (let cut = 1; cut < bytes.length - 200; cut += 1) {
      assert.deepEqual(
        lastMembers(bytes.subarray(cut)),
        { usage: { prompt_tokens: 7 }, id: text },
        String(cut),
      );
    }
  });

  it('gives nothing for arrays and for what was cut', () => {
    for (const text of ['[1,{"a":1,"b":2}]', '{"a":1,"b":2', '{"a":1,"b":"', '', '}', '"},{"']) {
      assert.equal(lastMembers(Buffer.from(text)), undefined, text);
    }
  });
});

describe('KeptJson', () => {
  it('keeps all up to the bound', () => {
    const kept = new KeptJson(10);
    for (const text of ['{"a"', ':[12', ']}']) kept.push(Buffer.from(text));
    assert.deepEqual(kept.value(), { whole: { a: [12] } });
  });

  it('keeps the end beyond it', () => {
    const kept = new KeptJson(1000);
    kept.push(Buffer.from('{"text":"'));
    for (let chunk = 0; chunk < 500; chunk += 1) kept.push(Buffer.from('a text of some length '));
    kept.push(Buffer.from('","usage":{"prompt_tokens":7}}'));
    assert.deepEqual(kept.value(), { lastMembers: { usage: { prompt_tokens: 7 } } });
    assert.equal(kept.isWhole, false);
  });
});
