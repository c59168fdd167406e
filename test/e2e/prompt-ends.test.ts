// What a prompt ends with on a real engine: a last message of the assistant, and all the ways to ask for an answer.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getWeather, Q, S } from '../support/conversations.ts';
import { assertHas, chat, clean, requestFindings, send, settled } from '../support/exchanges.ts';
import type { Family } from '../support/gguf/families.ts';
import { openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const families: readonly Family[] = ['qwen3', 'gemma3', 'llama3.1'];
const engines = await Promise.all(families.map((family) => realEngine(family)));
const [{ skip }] = engines as [(typeof engines)[number]];
const each = families.map((family, index) => ({ family, engine: engines[index]! }));

const leftover = [...Q, { role: 'assistant', content: '' }];
const prefill = [...Q, { role: 'assistant', content: 'The answer is ' }];
const rewrite = { MODE: 'strict', DETECTORS_TRAILING_ASSISTANT_ACTION: 'rewrite' };
const found = (findings: string) => ({ ...clean, findings });

describe('trailing-assistant', { skip }, () => {
  for (const { family, engine } of each) {
    it(`${family}: names an empty turn, and takes a prefill for what it is`, async (t) => {
      const proxied = await openProxy(t, (await engine.server()).url);
      assert.deepEqual((await chat(proxied, { messages: leftover })).said, found('trailing-assistant;empty'));
      const continued = { continue_final_message: true, add_generation_prompt: false };
      for (const fields of [{}, continued, { chat_template_kwargs: { enable_thinking: false } }]) {
        const { said } = await chat(proxied, { messages: prefill, ...fields });
        assert.deepEqual(said, found('trailing-assistant;prefill'), JSON.stringify(fields));
      }
      await settled(proxied, 4);
      const [first, ...others] = await requestFindings(proxied);
      assertHas(first, { severity: 'warning', culprit: 'client', field: 'messages[2]' });
      assert.match(first?.['message'] as string, /lacks what opens an answer/);
      for (const other of others) assertHas(other, { severity: 'info' });
    });

    it(`${family}: cuts an empty turn out, and the engine gets what it would have got without`, async (t) => {
      const server = await engine.server();
      const proxied = await openProxy(t, server.url, rewrite);
      const asked = { max_tokens: 2, temperature: 0, seed: 1, verbose: true };
      const direct = await chat(server, { ...asked, messages: Q });
      const answer = await chat(proxied, { ...asked, messages: leftover });
      assert.deepEqual(answer.said, { ...found('trailing-assistant;empty'), action: 'rewrite' });
      const promptOf = (verbose: unknown) => (verbose as { prompt: string }).prompt;
      assert.equal(promptOf(answer.json['__verbose']), promptOf(direct.json['__verbose']));
      assert.deepEqual(
        (await chat(proxied, { messages: prefill })).said,
        found('trailing-assistant;prefill'),
      );
      const space = [...Q, { role: 'assistant', content: ' ' }];
      assert.deepEqual((await chat(proxied, { messages: space })).said, found('trailing-assistant;empty'));
    });
  }

  it('is cut out of the other dialects too, and an only message is left', async (t) => {
    const proxied = await openProxy(t, (await engines[0]!.server()).url, rewrite);
    const user = { role: 'user', content: 'Hi' };
    const nothing = { role: 'assistant', content: [] };
    const messages = await send(`${proxied.url}/v1/messages`, { max_tokens: 2, messages: [user, nothing] });
    assert.deepEqual(messages.said, { ...found('trailing-assistant;empty'), action: 'rewrite' });
    assert.equal(messages.status, 200);
    const only = await chat(proxied, { messages: [{ role: 'assistant', content: '' }] });
    assert.deepEqual(only.said, found('trailing-assistant;empty'));
  });

  it('is not said of other last messages', async (t) => {
    for (const { engine } of each) {
      const proxied = await openProxy(t, (await engine.server()).url);
      const bodies: object[] = [
        ...S.map((messages) => ({ messages })),
        { messages: Q, tools: [getWeather] },
        { messages: Q, chat_template_kwargs: { enable_thinking: false } },
        { messages: Q, reasoning_effort: 'none' },
      ];
      for (const body of bodies) {
        const { said } = await chat(proxied, body);
        assert.doesNotMatch(said.findings ?? '', /trailing-assistant/, JSON.stringify(body));
      }
    }
  });
});
