// What stands at a prompt's head on a real engine: BOS that is missing, BOS that nobody wants, and all that is right.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Q } from '../support/conversations.ts';
import { assertHas, chat, clean, complete, requestFindings, settled } from '../support/exchanges.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const turns =
  '{% for m in messages %}{{ "<|" + m.role + "|>" + m.content + "<|end|>" }}{% endfor %}' +
  '{% if add_generation_prompt %}{{ "<|assistant|>" }}{% endif %}';
const markers = ['<|system|>', '<|user|>', '<|assistant|>', '<|end|>'];
const turn = '<|user|>Hi<|end|><|assistant|>';
const fillIn = ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'];

const gemma3 = await realEngine('gemma3');
const qwen3 = await realEngine('qwen3');
const llama31 = await realEngine('llama3.1');
/** As Gemma 4's first model files were: the template writes BOS, and no other route has one. */
const unflagged = await realEngine(() =>
  byteModelFile({
    name: 'unflagged',
    markers: ['<s>', ...markers, ...fillIn],
    bos: '<s>',
    chatTemplate: `{{ bos_token }}${turns}`,
  }),
);
/** As Qwen2's first model files were: no BOS is named, and one is put in front. */
const nameless = await realEngine(() =>
  byteModelFile({ name: 'nameless', markers, namesBos: false, addBos: true, chatTemplate: turns }),
);
const undecided = await realEngine(() =>
  byteModelFile({
    name: 'undecided',
    markers: ['<s>', ...markers],
    bos: '<s>',
    addBos: true,
    chatTemplate: turns,
  }),
);
const base = await realEngine(() =>
  byteModelFile({ name: 'base', markers: ['<s>', ...fillIn], bos: '<s>', addBos: true }),
);
const { skip } = gemma3;

describe('missing-bos', { skip }, () => {
  it("blames a client's ids, at the token and in the field", async (t) => {
    const proxied = await openProxy(t, (await gemma3.server()).url);
    const answer = await complete(proxied, { prompt: [105, 2364, 107] });
    assert.equal(answer.json['tokens_evaluated'], 3);
    assert.equal(answer.said.findings, 'missing-bos;ids');
    await settled(proxied, 1);
    assertHas((await requestFindings(proxied))[0], {
      kind: 'missing-bos',
      severity: 'error',
      culprit: 'client',
      field: 'prompt',
      tokens: { start: 0, end: 1 },
    });
  });

  it('is rejected where the operator asks for it, if the client did it', async (t) => {
    const settings = { MODE: 'strict', DETECTORS_MISSING_BOS_ACTION: 'reject' };
    const { gated, proxied } = await openGated(t, (await gemma3.server()).url, settings);
    const answer = await complete(proxied, { prompt: [105, 2364, 107] });
    assert.equal(answer.status, 400);
    assertHas(answer.json['error'] as Record<string, unknown>, { code: 'missing_bos', param: 'prompt' });
    assert.equal(gated.count('/completion'), 0);
    const innocent = await openProxy(t, (await unflagged.server()).url, settings);
    assert.equal((await complete(innocent, { prompt: turn })).status, 200);
  });

  it('blames a model file that adds none though its template writes one', async (t) => {
    const proxied = await openProxy(t, (await unflagged.server()).url);
    assert.equal((await complete(proxied, { prompt: turn })).said.findings, 'missing-bos;model-file');
    assert.deepEqual((await complete(proxied, { prompt: `<s>${turn}` })).said, clean);
    assert.deepEqual((await chat(proxied, { messages: Q })).said, clean);
    const fim = '<|fim_prefix|>def add(<|fim_suffix|>return<|fim_middle|>';
    assert.deepEqual((await complete(proxied, { prompt: fim })).said, clean);
  });

  it('is not said of what is right', async (t) => {
    for (const [engine, ids, text] of [
      [gemma3, [2, 105, 2364, 107], '<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n'],
      [
        llama31,
        [128_000, 128_006, 882],
        '<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
      ],
      [qwen3, [151_644, 872, 198], '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n'],
    ] as const) {
      const proxied = await openProxy(t, (await engine.server()).url);
      for (const prompt of [text, ids, [...ids, 'Hi'], [text, [...ids]]]) {
        assert.deepEqual((await complete(proxied, { prompt })).said, clean, JSON.stringify(prompt));
      }
      assert.deepEqual((await chat(proxied, { messages: Q })).said, clean);
    }
    const proxied = await openProxy(t, (await base.server()).url, { MODELS: '{"base":{"kind":"base"}}' });
    for (const prompt of ['Once upon a time', '', '<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>'])
      assert.deepEqual((await complete(proxied, { prompt })).said, clean, prompt);
  });
});

describe('unwanted-bos', { skip }, () => {
  it('names the ordinary token that a default made of a missing BOS', async (t) => {
    const proxied = await openProxy(t, (await nameless.server()).url);
    assert.equal((await chat(proxied, { messages: Q })).said.findings, 'unwanted-bos;ordinary-token');
    assert.deepEqual((await complete(proxied, { prompt: turn })).said, clean, 'a fact is told once');
    const other = await openProxy(t, (await nameless.server()).url);
    assert.deepEqual((await complete(other, { prompt: [11, 12] })).said, clean);
    assert.equal((await complete(other, { prompt: turn })).said.findings, 'unwanted-bos;ordinary-token');
    const [finding] = await requestFindings(proxied);
    assertHas(finding, { severity: 'warning', culprit: 'model-file', tokens: { start: 0, end: 1 } });
    assert.match(finding?.['message'] as string, /ordinary token \("\\u000b", id 11\)/);
  });

  it('is no more than a fact where the template does without the BOS that is added', async (t) => {
    const proxied = await openProxy(t, (await undecided.server()).url);
    assert.equal((await chat(proxied, { messages: Q })).said.findings, 'unwanted-bos;not-in-template');
    assertHas((await requestFindings(proxied))[0], { severity: 'info' });
  });
});
