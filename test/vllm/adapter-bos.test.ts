// A doubled BOS on a real vLLM: found on the raw route, by whom, and cut out with proof.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertHas, chat, clean, requestFindings, send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { realVllm } from '../support/vllm/real-vllm.ts';
import { completion, idsOf, tokenize } from './asking.ts';

const llama = await realVllm('llama3.1');
const bos = '<|begin_of_text|>';
const text = '<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>';
const doubled = { prompt: `${bos}${text}`, max_tokens: 2, temperature: 0, return_token_ids: true };

interface Completion {
  readonly choices: readonly { readonly prompt_token_ids: readonly number[] }[];
}

describe('a doubled BOS on a real vLLM', { skip: llama.skip }, () => {
  it('is found on the raw route, and the client told', async (t) => {
    const proxied = await openProxy(t, (await llama.server()).url);
    const { said } = await send(`${proxied.url}/v1/completions`, doubled);
    assert.match(said.findings ?? '', /double-bos/);
    await settled(proxied, 1);
    const findings = await requestFindings(proxied);
    assertHas(
      findings.find(({ kind }) => kind === 'double-bos'),
      { cause: 'literal', culprit: 'client', tokens: { start: 0, end: 2 }, severity: 'error' },
    );
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
  });

  it('is rejected in strict mode', async (t) => {
    const proxied = await openProxy(t, (await llama.server()).url, { MODE: 'strict' });
    const { status, json } = await send(`${proxied.url}/v1/completions`, doubled);
    assert.equal(status, 400);
    assert.equal((json['error'] as { code: string }).code, 'double_bos');
  });

  it('is cut out: the model gets the ids without the surplus one', async (t) => {
    const { url } = await llama.server();
    const proxied = await openProxy(t, url, { MODE: 'strict', DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' });
    const { said, json } = await send(`${proxied.url}/v1/completions`, doubled);
    assert.equal(said.action, 'rewrite');
    const given = (json as unknown as Completion).choices[0]?.prompt_token_ids;
    assert.deepEqual(given, (await idsOf(url, { prompt: doubled.prompt })).slice(1));
  });

  it('is none where the client asks for no special tokens, and none in a chat', async (t) => {
    const proxied = await openProxy(t, (await llama.server()).url);
    const { said } = await send(`${proxied.url}/v1/completions`, { ...doubled, add_special_tokens: false });
    assert.doesNotMatch(said.findings ?? '', /double-bos/);
    const answer = await chat(proxied, { messages: [{ role: 'user', content: 'Hi' }] });
    assert.deepEqual(answer.said, clean);
  });

  const hi = [{ role: 'user', content: 'Hi' }];

  it('is the client’s doing in a chat that asks for special tokens, and taken back', async (t) => {
    const { url } = await llama.server();
    const asked = { messages: hi, add_special_tokens: true, max_tokens: 2, return_token_ids: true };
    const observing = await openProxy(t, url);
    await chat(observing, asked);
    await settled(observing, 1);
    assertHas(
      (await requestFindings(observing)).find(({ kind }) => kind === 'double-bos'),
      { cause: 'requested', culprit: 'client', field: 'add_special_tokens' },
    );
    const rewriting = await openProxy(t, url, { MODE: 'strict', DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' });
    const { said, json } = await chat(rewriting, asked);
    assert.equal(said.action, 'rewrite');
    assert.deepEqual(json['prompt_token_ids'], await tokenize(url, { messages: hi }));
  });

  it('keeps the text of a raw prompt when it is repaired, as its echo shows', async (t) => {
    const { url } = await llama.server();
    const proxied = await openProxy(t, url, { MODE: 'strict', DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' });
    const { said, json } = await send(`${proxied.url}/v1/completions`, { ...doubled, echo: true });
    assert.equal(said.action, 'rewrite');
    const direct = await completion(url, { prompt: doubled.prompt, add_special_tokens: false, echo: true });
    const { choices } = json as unknown as Completion;
    assert.deepEqual(choices[0]?.prompt_token_ids, direct.choices[0]?.prompt_token_ids);
    assert.equal((choices[0] as { text?: string }).text, (direct.choices[0] as { text?: string }).text);
  });

  it('is the engine’s doing on /v1/responses: said, and neither rejected nor rewritten', async (t) => {
    const proxied = await openProxy(t, (await llama.server()).url, { MODE: 'strict' });
    const { status, said } = await send(`${proxied.url}/v1/responses`, { input: 'Hi', max_output_tokens: 2 });
    assert.equal(status, 200);
    assert.equal(said.action, 'pass');
    assert.match(said.findings ?? '', /double-bos;engine/);
    await settled(proxied, 1);
    assertHas(
      (await requestFindings(proxied)).find(({ kind }) => kind === 'double-bos'),
      { cause: 'engine', culprit: 'engine', tokens: { start: 0, end: 2 } },
    );
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
    const anthropic = { model: 'llama3.1', max_tokens: 2, messages: hi };
    assert.deepEqual((await send(`${proxied.url}/v1/messages`, anthropic)).said, clean);
  });
});
