// `/v1/messages` and `/v1/responses` through the proxy, in front of a real engine: the same ids, sessions and findings as
// on the chat route, under the names that these clients know.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { assertHas, clean, requestFindings, send, settled, type Answer } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { expected, testedEngine } from '../support/tested-engine.ts';

const qwen3 = await testedEngine('qwen3');
const { skip } = qwen3;

type Headers = Readonly<Record<string, string>>;
const ask =
  (path: string, limit: object) =>
  ({ url }: { readonly url: string }, body: object, headers: Headers = {}): Promise<Answer> =>
    send(`${url}${path}`, { ...limit, ...body }, { headers });
const messages = ask('/v1/messages', { model: 'qwen3', max_tokens: 2 });
const respond = ask('/v1/responses', { max_output_tokens: 2 });

const user = (content: unknown): object => ({ role: 'user', content });
const assistant = (content: unknown): object => ({ role: 'assistant', content });
const text = (said: string): object => ({ type: 'text', text: said });
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const terse = 'You are terse.';
const sum = 'What is 2 + 2?';

async function assertClean(proxied: ProxiedEngine, exchanges: number): Promise<void> {
  await settled(proxied, exchanges);
  assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), exchanges);
  assert.equal(await proxied.metric('tokenweir_inspections_total', { result: 'ok' }), exchanges);
  const loud = (await requestFindings(proxied)).filter(({ severity }) => severity !== 'info');
  assert.deepEqual(loud, []);
}

async function open(t: TestContext): Promise<ProxiedEngine> {
  return openProxy(t, (await qwen3.server()).url);
}

describe('/v1/messages', { skip }, () => {
  it('is counted as the engine counts, whole and streamed', async (t) => {
    const proxied = await open(t);
    const body = { system: terse, messages: [user(sum)] };
    assert.deepEqual((await messages(proxied, body)).said, clean);
    assert.deepEqual((await messages(proxied, { ...body, stream: true })).said, clean);
    await assertClean(proxied, 2);
    assert.equal(await proxied.metric('tokenweir_prompt_tokens_total', { route: 'messages' }), 50);
  });

  it('is no break over turns with tools, thinking and blocks', async (t) => {
    const proxied = await open(t);
    const tools = [{ name: 'get_weather', description: 'Weather.', input_schema: schema }];
    const history: object[] = [user([text('Hi.')])];
    // The template leaves reasoning out of the history with the next question: here there is none.
    const turns = [
      [assistant([text('Hello.')]), user('How are you?')],
      [assistant('Fine.'), user([text('Good.'), text('Rain in Oslo?')])],
      [
        assistant([
          { type: 'thinking', thinking: 'Hm.', signature: '' },
          { type: 'tool_use', id: 't1', name: 'get_weather', input: { city: 'Oslo', at: 1 } },
        ]),
        user([{ type: 'tool_result', tool_use_id: 't1', content: [text('Rain.')] }]),
      ],
    ];
    const system = [text(terse), text('Be kind.')];
    for (const turn of [[], ...turns]) {
      history.push(...turn);
      assert.equal((await messages(proxied, { system, tools, messages: history })).status, 200);
    }
    await assertClean(proxied, 4);
    assert.equal(await proxied.metric('tokenweir_session_lookups_total', { source: 'ancestor' }), 3);
  });

  it('finds a clock in the second block of the system, and names the block', async (t) => {
    const proxied = await open(t);
    const body = (time: string, ...turns: object[]): object => ({
      system: [text(terse), { ...text(`Be kind.\nIt is ${time}.`), cache_control: { type: 'ephemeral' } }],
      messages: [user(sum), ...turns],
    });
    await messages(proxied, body('10:00:01'));
    const answer = await messages(proxied, body('10:00:42', assistant('4.'), user('And times 3?')));
    assert.equal(answer.said.findings, 'prefix-break;volatile-time');
    const [finding] = await requestFindings(proxied);
    // <|im_start|>system\n You are terse . Be kind . \n It is   1 0 : 0 0 : …
    assertHas(finding, {
      field: 'system[1].text',
      severity: 'warning',
      culprit: 'client',
      tokens: await tokensOf(proxied, '<|im_start|>system\nYou are terse.Be kind.\nIt is 10:00:'),
    });
  });

  it('says which message of the history was edited', async (t) => {
    const proxied = await open(t);
    const rest = [assistant('4.'), user('And times 3?'), assistant('12.'), user('Minus 5?')];
    await messages(proxied, {
      system: terse,
      messages: [user([text(sum), text('Hm.')]), ...rest.slice(0, 2)],
    });
    await messages(proxied, {
      system: terse,
      messages: [user([text(sum), text('Hm.')]), assistant('5.'), ...rest.slice(1)],
    });
    assertHas((await requestFindings(proxied))[0], { cause: 'history-edited', field: 'messages[1]' });
  });

  it('passes requests that only count', async (t) => {
    const proxied = await open(t);
    for (const [path, body] of [
      ['/v1/messages/count_tokens', { model: 'qwen3', system: terse, messages: [user(sum)] }],
      ['/v1/responses/input_tokens', { instructions: terse, input: sum }],
    ] as const) {
      if (!expected.countingRoutes.includes(path)) continue;
      const { json, headers } = await send(`${proxied.url}${path}`, body);
      assert.equal(json['input_tokens'], 25);
      assert.equal(headers.get('tokenweir-action'), null);
    }
  });

  it('is forwarded as it is where the engine must refuse it, with its own error', async (t) => {
    const proxied = await open(t);
    const answer = await messages(proxied, { messages: [{ role: 'user' }] });
    assert.equal(answer.status, 400);
    const { error, reason } = expected.withoutContent;
    assertHas(answer.json['error'] as Record<string, unknown>, error);
    assert.equal(answer.said.inspection, `unknown;${reason}`);
    assert.equal((await messages(proxied, { system: terse })).said.inspection, 'unknown;unreadable-body');
  });
});

describe('Claude Code on /v1/messages', { skip }, () => {
  const header = (hash: string, version = '2.1.101.e51'): object =>
    text(`x-anthropic-billing-header: cc_version=${version}; cc_entrypoint=cli; cch=${hash};`);
  const more = [assistant('4.'), user('And times 3?')];
  const claude = text('You are Claude Code.\nIt is 10:00.');

  it('is not told of a hash that the engine keeps from the model', async (t) => {
    const proxied = await open(t);
    await messages(proxied, { system: [header('a5145'), claude], messages: [user(sum)] });
    const body = { system: [header('b6256'), claude], messages: [user(sum), ...more] };
    assert.deepEqual((await messages(proxied, body)).said.findings, null);
    await assertClean(proxied, 2);
    const reusable = await proxied.metric('tokenweir_prompt_tokens_reusable_total');
    assert.ok(reusable >= expected.reusable(40), `the prefix holds: ${reusable} tokens`);
  });

  it('is told of the rest of the line, and of a clock behind a line of which only the hash changed', async (t) => {
    const proxied = await open(t);
    await messages(proxied, { system: [header('a5145'), claude], messages: [user(sum)] });
    const update = { system: [header('b6256', '2.1.102.f62'), claude], messages: [user(sum), ...more] };
    assert.equal((await messages(proxied, update)).said.findings, expected.changedAttributionLine);
    const later = text('You are Claude Code.\nIt is 10:07.');
    const clock = {
      system: [header('c7367', '2.1.102.f62'), later],
      messages: [user(sum), ...more, ...more],
    };
    assert.equal((await messages(proxied, clock)).said.findings, 'prefix-break;volatile-time');
    const fields = (await requestFindings(proxied)).map(({ field, culprit }) => [field, culprit]);
    const line = expected.changedAttributionLine === null ? [] : [['system[0].text', 'client']];
    assert.deepEqual(fields, [...line, ['system[1].text', 'client']]);
  });

  it('is told what else broke the prefix where the engine keeps the line from the model', async (t) => {
    const proxied = await open(t);
    const history = [user([text(sum), text('Hm.')]), ...more, assistant('12.'), user('Minus 5?')];
    const turn = (version: string, messages_: object[]): Promise<Answer> =>
      messages(proxied, { system: [header('a5145', version), claude], messages: messages_ });
    await turn('2.1.101.e51', history.slice(0, 3));
    const edited = await turn('2.1.102.f62', [history[0]!, assistant('5.'), ...history.slice(2)]);
    assert.equal(edited.said.findings, expected.editedBehindAttributionLine);
  });

  it('names its sessions', async (t) => {
    const proxied = await open(t);
    const body = { messages: [user(sum)] };
    const longer = { messages: [user(sum), ...more] };
    const id = '0b5f1c7e-6d1c-4f0e-9a51-3f2b8c7d9e10';
    const metadata = { user_id: JSON.stringify({ session_id: id }) };
    await messages(proxied, body, { 'x-claude-code-session-id': id });
    await messages(proxied, longer, { 'x-claude-code-session-id': id });
    await messages(proxied, { ...longer, metadata });
    const found = async (source: string): Promise<number> =>
      proxied.metric('tokenweir_session_lookups_total', { source });
    await assertClean(proxied, 3);
    assert.deepEqual(
      [await found('new'), await found('claude-code-header'), await found('claude-code-metadata')],
      [1, 1, 1],
    );
  });
});

describe('/v1/responses', { skip }, () => {
  for (const path of expected.responsesRoutes) {
    it(`is counted as the engine counts on ${path}, whole and streamed`, async (t) => {
      const proxied = await open(t);
      const body = { instructions: terse, input: sum, max_output_tokens: 2 };
      assert.deepEqual((await send(proxied.url + path, body)).said, clean);
      assert.deepEqual((await send(proxied.url + path, { ...body, stream: true })).said, clean);
      await assertClean(proxied, 2);
      assert.equal(await proxied.metric('tokenweir_prompt_tokens_total', { route: 'responses' }), 50);
    });
  }

  it('is no break over items, with what the server gave them or without', async (t) => {
    const proxied = await open(t);
    const tools = [{ type: 'function', name: 'get_weather', description: 'W.', parameters: schema }];
    const said = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'It rains.' }],
    };
    const input: object[] = [user('Hi.')];
    const turns = [
      [{ ...said, id: 'msg_1', status: 'completed' }, user([{ type: 'input_text', text: 'Sure?' }])],
      [said, user('Rain in Oslo?')],
      [
        { id: 'rs_1', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
        {
          id: 'fc_1',
          type: 'function_call',
          call_id: 'c',
          name: 'get_weather',
          arguments: '{"city":"Oslo"}',
        },
        { type: 'function_call_output', call_id: 'c', output: 'Rain.' },
      ],
    ];
    for (const turn of [[], ...turns]) {
      input.push(...turn);
      assert.equal((await respond(proxied, { instructions: terse, tools, input })).status, 200);
    }
    await assertClean(proxied, 4);
    assert.equal(await proxied.metric('tokenweir_session_lookups_total', { source: 'ancestor' }), 3);
  });

  it('finds a clock in the instructions, and the item of an edited history', async (t) => {
    const proxied = await open(t);
    const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '4.' }] };
    const input = [user(sum), said, user('And times 3?')];
    await respond(proxied, { instructions: `${terse} It is 10:00.`, input: sum });
    const answer = await respond(proxied, { instructions: `${terse} It is 10:07.`, input });
    assert.equal(answer.said.findings, 'prefix-break;volatile-time');
    const edited = [
      user(sum),
      { ...said, content: [{ type: 'output_text', text: '5.' }] },
      ...input.slice(2),
    ];
    await respond(proxied, { instructions: `${terse} It is 10:07.`, input: [...edited, said, user('Hm?')] });
    const [clock, history] = await requestFindings(proxied);
    assertHas(clock, {
      field: 'instructions',
      tokens: await tokensOf(proxied, `<|im_start|>system\n${terse} It is 10:0`),
    });
    assertHas(history, { cause: 'history-edited', field: 'input[1]' });
  });
});

/** The place of the first token after the text. */
async function tokensOf(proxied: ProxiedEngine, before: string): Promise<{ start: number; end: number }> {
  const start = (await expected.textIds(proxied, before)).length;
  return { start, end: start + 1 };
}
