// The numbers of real models through the real proxy: ids are facts, so each of these is exact. Shared by the engines.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { getTime, getWeather, Q, S } from '../support/conversations.ts';
import { assertHas, chat, clean, requestFindings, send, settled, type Answer } from '../support/exchanges.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import type { RealEngine } from '../support/real-engine.ts';
import { completeText, expected, testedEngine } from '../support/tested-engine.ts';

const qwen3 = await testedEngine('qwen3');
const gemma3 = await testedEngine('gemma3');
const { skip } = qwen3;

async function serve(
  t: TestContext,
  engine: RealEngine,
  settings?: Readonly<Record<string, string>>,
): Promise<ProxiedEngine> {
  return openProxy(t, (await engine.server()).url, settings);
}

function promptTokens({ json }: Answer): unknown {
  return json['usage'] === undefined
    ? json['tokens_evaluated']
    : (json['usage'] as { prompt_tokens: number }).prompt_tokens;
}

/** What a client that renders by itself sends: the template's text, with the BOS that the template begins with. */
const renderedByClient =
  '<bos><start_of_turn>user\nYou are terse.\n\nWhat is 2 + 2?<end_of_turn>\n<start_of_turn>model\n';

describe('numbers of Qwen3', { skip }, () => {
  it('reads the short chat as 25 ids', async (t) => {
    const proxied = await serve(t, qwen3);
    const answer = await chat(proxied, { messages: Q });
    assert.deepEqual(answer.said, clean);
    assert.equal(promptTokens(answer), 25);
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_total', { route: 'chat' }), 25);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
    assert.deepEqual(await requestFindings(proxied), []);
  });

  it('passes the questions that show the ids: 25, and 46 where control tokens can be read as text', async (t) => {
    const proxied = await serve(t, qwen3);
    const ids = await expected.chatIds(proxied, Q);
    assert.equal(ids.length, 25);
    assert.deepEqual(ids.slice(0, 9), [151644, 8948, 198, 2610, 525, 50537, 13, 151645, 198]);
    if (expected.withoutControlTokens === undefined) return;
    const { json } = await send(`${proxied.url}/apply-template`, { messages: Q });
    const asText = { content: json['prompt'], parse_special: false };
    const { json: read } = await send(`${proxied.url}/tokenize`, asText);
    assert.equal((read['tokens'] as unknown[]).length, expected.withoutControlTokens);
  });

  it('reads a tool as the engine does, an extra field of it or not', async (t) => {
    const proxied = await serve(t, qwen3);
    const plain = await chat(proxied, { messages: Q, tools: [getWeather] });
    const { type, ...rest } = getWeather as { type: string; function: object };
    const extra = { type, function: { ...rest.function, return: { type: 'string' } } };
    const extended = await chat(proxied, { messages: Q, tools: [extra] });
    const { oneTool } = expected;
    assert.deepEqual([promptTokens(plain), promptTokens(extended)], [oneTool.plain, oneTool.withReturn]);
    // Engines read such a member over: Transformers would print it.
    const dropped = { ...clean, findings: 'tools-dropped;tool-member' };
    assert.deepEqual([plain.said, extended.said], [clean, dropped]);
    await settled(proxied, 2);
    const both = oneTool.plain + oneTool.withReturn;
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_total'), both);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 2);
  });

  for (const [how, headers] of [
    ['with a session key', { 'tokenweir-session': 'S' }],
    ['without a session key', {}],
  ] as const) {
    it(`sees three growing turns as one conversation without a break, ${how}`, async (t) => {
      const proxied = await serve(t, qwen3);
      for (const messages of S) assert.deepEqual((await chat(proxied, { messages }, headers)).said, clean);
      await settled(proxied, 3);
      assert.equal(await proxied.metric('tokenweir_prefix_breaks_total'), 0);
      assert.equal(await proxied.metric('tokenweir_session_lookups_total', { source: 'new' }), 1);
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 3);
      assert.deepEqual(await requestFindings(proxied), []);
    });

    it(`sees the empty think block as info, 25 of 29 and 42 of 46, ${how}`, async (t) => {
      const proxied = await serve(t, qwen3);
      const thinkingOff = { chat_template_kwargs: { enable_thinking: false } };
      const said = [];
      for (const messages of S)
        said.push((await chat(proxied, { messages, ...thinkingOff }, headers)).said.findings);
      assert.deepEqual(said, [null, 'prefix-break;empty-think-tail', 'prefix-break;empty-think-tail']);
      const found = await requestFindings(proxied);
      assert.deepEqual(
        found.map(({ severity, culprit, tokens, lostTokens }) => ({ severity, culprit, tokens, lostTokens })),
        [
          { severity: 'info', culprit: 'template', tokens: { start: 25, end: 26 }, lostTokens: 4 },
          { severity: 'info', culprit: 'template', tokens: { start: 42, end: 43 }, lostTokens: 4 },
        ],
      );
      await settled(proxied, 3);
      const labels = { cause: 'empty-think-tail', culprit: 'template' };
      assert.equal(await proxied.metric('tokenweir_prefix_breaks_total', labels), 2);
      assert.equal(await proxied.metric('tokenweir_prefix_lost_tokens_total', labels), 8);
      assert.equal(
        await proxied.metric('tokenweir_findings_total', { kind: 'prefix-break', severity: 'info' }),
        2,
      );
      assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'prefix-break' }), 2);
      // Turn one has 29 ids, turn two 46: what they keep is what the engine may reuse.
      const reusable = expected.reusable(25) + expected.reusable(42);
      assert.equal(await proxied.metric('tokenweir_prompt_tokens_reusable_total'), reusable);
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 3);
    });

    it(`sees reordered tools once, 56 of 234, ${how}`, async (t) => {
      const proxied = await serve(t, qwen3);
      const tools = [getWeather, getTime];
      const said = [];
      for (const [index, messages] of S.entries()) {
        const body = { messages, tools: index === 0 ? tools : tools.toReversed() };
        said.push((await chat(proxied, body, headers)).said.findings);
      }
      assert.deepEqual(said, [null, 'prefix-break;tools-reordered', null]);
      const [found] = await requestFindings(proxied);
      assertHas(found, {
        kind: 'prefix-break',
        cause: 'tools-reordered',
        severity: 'warning',
        culprit: 'client',
        tokens: { start: 56, end: 57 },
        lostTokens: 234 - 56,
        field: 'tools[0]',
        action: 'pass',
      });
      await settled(proxied, 3);
      const labels = { cause: 'tools-reordered', culprit: 'client' };
      assert.equal(await proxied.metric('tokenweir_prefix_breaks_total', labels), 1);
      assert.equal(await proxied.metric('tokenweir_prefix_lost_tokens_total', labels), 178);
      assert.equal(await proxied.metric('tokenweir_prefix_break_position_tokens_sum'), 56);
      assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 3);
    });
  }
});

describe('numbers of Gemma 3', { skip }, () => {
  it('reads the short chat as 22 ids that start 2 105 2364', async (t) => {
    const proxied = await serve(t, gemma3);
    const answer = await chat(proxied, { messages: Q });
    assert.deepEqual(answer.said, clean);
    assert.equal(promptTokens(answer), 22);
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_total', { route: 'chat' }), 22);
    assert.deepEqual(await requestFindings(proxied), []);
    const ids = await expected.chatIds(proxied, Q);
    assert.deepEqual([ids.length, ...ids.slice(0, 3)], [22, 2, 105, 2364]);
    // The client below renders as the engine does.
    assert.deepEqual(await expected.textIds(proxied, renderedByClient), ids);
  });

  it("finds the doubled BOS of a client's own rendering at tokens 0 and 1 of 23", async (t) => {
    const proxied = await serve(t, gemma3);
    const answer = await completeText(proxied, { prompt: renderedByClient });
    assert.deepEqual(answer.said, { action: 'pass', findings: 'double-bos;literal', inspection: 'ok' });
    assert.equal(promptTokens(answer), 23);
    const [found] = await requestFindings(proxied);
    assertHas(found, {
      kind: 'double-bos',
      cause: 'literal',
      severity: 'error',
      culprit: 'client',
      tokens: { start: 0, end: 2 },
      field: 'prompt',
      model: 'gemma3',
      route: 'completion',
    });
    const { pieces } = found?.['window'] as { pieces: { position: number; text?: string }[] };
    assert.deepEqual(
      pieces.slice(0, 3).map(({ position, text }) => [position, text]),
      [
        [0, '<bos>'],
        [1, '<bos>'],
        [2, '<start_of_turn>'],
      ],
    );
    // Ordinary tokens are pseudonyms: no text, no id that a vocabulary could turn back.
    assert.match(JSON.stringify(pieces[3]), /^\{"position":3,"class":"text","id":"[\w-]{6}"\}$/);
    await settled(proxied, 1);
    const labels = { model_name: 'gemma3', route: 'completion', kind: 'double-bos', severity: 'error' };
    assert.equal(await proxied.metric('tokenweir_findings_total', labels), 1);
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_total', { route: 'completion' }), 23);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
  });

  it('rejects it in strict mode, and the engine sees no request', async (t) => {
    const { gated, proxied } = await openGated(t, (await gemma3.server()).url, { MODE: 'strict' });
    const answer = await completeText(proxied, { prompt: renderedByClient });
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.said, { action: 'reject', findings: 'double-bos;literal', inspection: 'ok' });
    assert.equal((answer.json['error'] as { code: unknown }).code, 'double_bos');
    await settled(proxied, 1);
    assert.equal(gated.count(expected.text.path), 0);
    assert.equal(await proxied.metric('tokenweir_requests_total', { action: 'reject' }), 1);
    assert.equal(await proxied.metric('tokenweir_replies_total', { outcome: 'rejected' }), 1);
    assert.equal(await proxied.metric('tokenweir_count_checks_total'), 0);
  });

  it('rewrites it to 22', async (t) => {
    const proxied = await serve(t, gemma3, { MODE: 'strict', DETECTORS_DOUBLE_BOS_ACTION: 'rewrite' });
    const answer = await completeText(proxied, { prompt: renderedByClient });
    assert.deepEqual(answer.said, { action: 'rewrite', findings: 'double-bos;literal', inspection: 'ok' });
    assert.equal(promptTokens(answer), 22);
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_requests_total', { action: 'rewrite' }), 1);
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_total'), 22);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
  });

  it('finds nothing in the 22 ids themselves', async (t) => {
    const proxied = await serve(t, gemma3, { MODE: 'strict' });
    const answer = await completeText(proxied, { prompt: await expected.chatIds(proxied, Q) });
    assert.deepEqual(answer.said, clean);
    assert.equal(promptTokens(answer), 22);
    await settled(proxied, 1);
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_total'), 22);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), 1);
  });
});
