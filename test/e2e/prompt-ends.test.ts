// What a prompt ends with on a real engine: a last message of the assistant, and all the ways to ask for an answer.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getWeather, Q, S } from '../support/conversations.ts';
import { assertHas, chat, clean, requestFindings, send, settled } from '../support/exchanges.ts';
import type { Family } from '../support/gguf/families.ts';
import { openProxy } from '../support/open-proxy.ts';
import { completeText, expected, testedEngine } from '../support/tested-engine.ts';

const families: readonly Family[] = ['qwen3', 'gemma3', 'llama3.1'];
const engines = await Promise.all(families.map((family) => testedEngine(family)));
const [{ skip }] = engines as [(typeof engines)[number]];
const each = families.map((family, index) => ({ family, engine: engines[index]! }));

const leftover = [...Q, { role: 'assistant', content: '' }];
const prefill = [...Q, { role: 'assistant', content: 'The answer is ' }];
/** What may stand beside it, and what is named then. */
const continuations = [
  [{}, expected.lastIsAssistant],
  [
    { continue_final_message: true, add_generation_prompt: false },
    { findings: 'trailing-assistant;prefill', severity: 'info' },
  ],
  [{ chat_template_kwargs: { enable_thinking: false } }, expected.lastIsAssistant],
] as const;
const rewrite = { MODE: 'strict', DETECTORS_TRAILING_ASSISTANT_ACTION: 'rewrite' };
const found = (findings: string) => ({ ...clean, findings });

describe('trailing-assistant', { skip }, () => {
  for (const { family, engine } of each) {
    it(`${family}: names an empty turn, and takes a prefill for what it is`, async (t) => {
      const proxied = await openProxy(t, (await engine.server()).url);
      assert.deepEqual((await chat(proxied, { messages: leftover })).said, found('trailing-assistant;empty'));
      for (const [fields, { findings }] of continuations) {
        const { said } = await chat(proxied, { messages: prefill, ...fields });
        assert.deepEqual(said, found(findings), JSON.stringify(fields));
      }
      await settled(proxied, 4);
      const [first, ...others] = await requestFindings(proxied);
      assertHas(first, { severity: 'warning', culprit: 'client', field: 'messages[2]' });
      assert.match(first?.['message'] as string, expected.emptyLast);
      for (const [index, [, { severity }]] of continuations.entries()) assertHas(others[index], { severity });
    });

    it(`${family}: cuts an empty turn out, and the engine gets what it would have got without`, async (t) => {
      const server = await engine.server();
      const proxied = await openProxy(t, server.url, rewrite);
      const asked = { max_tokens: 2, temperature: 0, seed: 1, ...expected.promptInReply.ask };
      const direct = await chat(server, { ...asked, messages: Q });
      const answer = await chat(proxied, { ...asked, messages: leftover });
      assert.deepEqual(answer.said, { ...found('trailing-assistant;empty'), action: 'rewrite' });
      const { of } = expected.promptInReply;
      assert.deepEqual(of(answer), of(direct));
      const { said } = await chat(proxied, { messages: prefill });
      assert.deepEqual(said, found(expected.lastIsAssistant.findings));
      const space = [...Q, { role: 'assistant', content: ' ' }];
      assert.deepEqual((await chat(proxied, { messages: space })).said, found('trailing-assistant;empty'));
    });
  }

  it('is cut out of the other dialects too, and an only message is left', async (t) => {
    const proxied = await openProxy(t, (await engines[0]!.server()).url, rewrite);
    const user = { role: 'user', content: 'Hi' };
    const nothing = { role: 'assistant', content: [] };
    const messages = await send(`${proxied.url}/v1/messages`, {
      model: 'qwen3',
      max_tokens: 2,
      messages: [user, nothing],
    });
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

/** A rendered conversation per family: the question, and what opens an answer. */
const rendered: Record<Family, readonly [string, string]> = {
  qwen3: ['<|im_start|>user\nHi<|im_end|>\n', '<|im_start|>assistant\n'],
  gemma3: ['<start_of_turn>user\nHi<end_of_turn>\n', '<start_of_turn>model\n'],
  'llama3.1': [
    '<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>',
    '<|start_header_id|>assistant<|end_header_id|>\n\n',
  ],
};

describe('missing-generation-prompt', { skip }, () => {
  for (const { family, engine } of each) {
    it(`${family}: is what a client's own rendering lacks, and nothing else is`, async (t) => {
      const proxied = await openProxy(t, (await engine.server()).url);
      const [question, opening] = rendered[family];
      const wrong = await completeText(proxied, { prompt: question });
      assert.deepEqual(wrong.said, found('missing-generation-prompt;rendered-by-client'));
      const answered = `${question}${opening}Yes.`;
      for (const prompt of [question + opening, answered, question.slice(0, -8), opening])
        assert.doesNotMatch(
          (await completeText(proxied, { prompt })).said.findings ?? '',
          /generation/,
          prompt,
        );
      for (const scoring of expected.scoring)
        assert.deepEqual((await completeText(proxied, { prompt: question, ...scoring })).said, clean);
    });

    it(`${family}: is what a client opens the answer with, where it is not the template's`, async (t) => {
      const { url } = await engine.server();
      const proxied = await openProxy(t, url);
      const [question, opening] = rendered[family];
      const [, word = ''] = /([a-z]+)[^a-z]*$/.exec(opening.replace('<|end_header_id|>', '')) ?? [];
      const other = opening.replace(word, word === 'model' ? 'assistant' : 'model');
      const causes = {
        [other]: 'other-role',
        [opening.replace(word, word.toUpperCase())]: 'other-role',
        [`${opening} `]: 'other-blank',
        [`${opening}\n`]: 'other-blank',
        [opening.trimEnd()]: 'blank-missing',
      };
      for (const [end, cause] of Object.entries(causes)) {
        const { said } = await completeText(proxied, { prompt: question + end });
        assert.deepEqual(said, found(`missing-generation-prompt;${cause}`), end);
      }
      await settled(proxied, 5);
      const [first, ...others] = await requestFindings(proxied);
      const before = await expected.promptIds({ url }, question);
      const all = await expected.promptIds({ url }, question + other);
      assertHas(first, {
        culprit: 'client',
        field: 'prompt',
        tokens: { start: before.length, end: all.length },
        characters: { start: question.length, end: question.length + other.length },
      });
      assert.deepEqual(
        others.map(({ severity }) => severity),
        ['warning', 'warning', 'warning', 'info'],
      );
      const meant = [
        `${opening}Sure `,
        `${opening} Sure`,
        opening.replace(word, 'user'),
        opening.replace(word, 'tool'),
      ];
      for (const end of meant)
        assert.doesNotMatch(
          (await completeText(proxied, { prompt: question + end })).said.findings ?? '',
          /generation/,
          end,
        );
      for (const scoring of expected.scoring)
        assert.deepEqual((await completeText(proxied, { prompt: question + other, ...scoring })).said, clean);
    });

    it(`${family}: is not said of any chat`, async (t) => {
      const proxied = await openProxy(t, (await engine.server()).url);
      const open = { add_generation_prompt: false };
      const bodies: object[] = [
        ...S.map((messages) => ({ messages })),
        { messages: Q, ...open },
        { messages: Q, tools: [getWeather] },
        { messages: Q, chat_template_kwargs: { enable_thinking: false } },
        { messages: Q, chat_template_kwargs: { enable_thinking: true } },
        { messages: Q, reasoning_effort: 'none' },
        { messages: leftover },
        { messages: prefill },
        { messages: prefill, ...open, continue_final_message: true },
      ];
      for (const body of bodies) {
        const { said } = await chat(proxied, body);
        assert.doesNotMatch(said.findings ?? '', /generation/, JSON.stringify(body));
      }
    });
  }

  it('is rejected where the client rendered and the operator asks for it', async (t) => {
    const proxied = await openProxy(t, (await engines[0]!.server()).url, {
      MODE: 'strict',
      DETECTORS_MISSING_GENERATION_PROMPT_ACTION: 'reject',
    });
    const answer = await completeText(proxied, { prompt: rendered.qwen3[0] });
    assert.equal(answer.status, 400);
    assertHas(answer.json['error'] as Record<string, unknown>, { code: 'missing_generation_prompt' });
  });
});
