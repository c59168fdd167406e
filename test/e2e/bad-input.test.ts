// What no one should send or serve, on the real engine: the engine's own answer comes back, and what is said of the prompt
// is right, or unknown for a reason.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Json, JsonObject } from '../../src/exchange/request/request.ts';
import {
  assertHas,
  chat,
  clean,
  eventually,
  requestFindings,
  send,
  settled,
  type Answer,
} from '../support/exchanges.ts';
import { byteModelFile, type ByteModel } from '../support/gguf/byte-model.ts';
import { openProxy } from '../support/open-proxy.ts';
import { postJson } from '../support/post-json.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { realEngine } from '../support/real-engine.ts';

const turns =
  '{% for m in messages %}{{ "<|" + m.role + "|>\n" + m.content + "<|end|>\n" }}{% endfor %}' +
  '{% if add_generation_prompt %}{{ "<|assistant|>\n" }}{% endif %}';
const turnMarkers = ['<|system|>', '<|user|>', '<|assistant|>', '<|end|>'];

const engineOf = (model: Omit<ByteModel, 'eos'>) =>
  realEngine(() => byteModelFile({ ...model, eos: '<|end|>' }), { args: ['--parallel', '1'] });
const added = 200_000;
const raising = await engineOf({
  name: 'raises',
  markers: turnMarkers,
  chatTemplate:
    '{% for m in messages %}{% if m.role == "tool" %}{{ raise_exception("No tools here.") }}{% endif %}{% endfor %}' +
    turns,
});
const large = await engineOf({
  name: 'many-added',
  markers: turnMarkers,
  userDefined: Array.from({ length: added }, (_, index) => `<extra_${index}>`),
  chatTemplate: turns,
});
const nested = await engineOf({
  name: 'nested-markers',
  markers: [...turnMarkers, '<|end|>x', '<|'],
  chatTemplate: turns,
});
const syntax = await realEngine(() =>
  byteModelFile({
    name: 'syntax-markers',
    markers: ['[.*+?](a|b)', '^(?:$'],
    eos: '^(?:$',
    chatTemplate:
      '{% for m in messages %}{{ "[.*+?](a|b)" + m.role + "\n" + m.content + "^(?:$\n" }}{% endfor %}[.*+?](a|b)assistant\n',
  }),
);
const plain = await engineOf({ name: 'plain', markers: turnMarkers, chatTemplate: turns });
const qwen3 = await realEngine('qwen3', { args: ['--parallel', '1'] });
const { skip } = plain;

const say = (content: string): JsonObject => ({ messages: [{ role: 'user', content }] });

/** Through the proxy, after seeing that the engine answers the same without it. */
async function asTheEngine(proxied: ProxiedEngine, url: string, body: object | Buffer): Promise<Answer> {
  const path = '/v1/chat/completions';
  const direct = await send(url + path, body);
  const answer = await send(proxied.url + path, body);
  assert.equal(answer.status, direct.status, answer.text);
  if (direct.status >= 400) assert.equal(answer.text, direct.text);
  return answer;
}

/** The ids of the chat's prompt, as the engine tells them. */
async function engineIds(url: string, body: object): Promise<number[]> {
  const { prompt } = (await postJson<{ prompt: string }>(`${url}/apply-template`, body)).body;
  const question = { content: prompt, add_special: true, parse_special: true };
  return (await postJson<{ tokens: number[] }>(`${url}/tokenize`, question)).body.tokens;
}

async function idOf(url: string, marker: string): Promise<number | undefined> {
  const question = { content: marker, add_special: false, parse_special: true };
  return (await postJson<{ tokens: number[] }>(`${url}/tokenize`, question)).body.tokens[0];
}

async function countChecks(proxied: ProxiedEngine): Promise<{ match: number; mismatch: number }> {
  const [match = 0, mismatch = 0] = await Promise.all(
    ['match', 'mismatch'].map((result) => proxied.metric('tokenweir_count_checks_total', { result })),
  );
  return { match, mismatch };
}

describe('a template that raises', { skip }, () => {
  it("gives the engine's own error, and the prompt is unknown; other chats are known", async (t) => {
    const { url } = await raising.server();
    const proxied = await openProxy(t, url);
    const body = {
      max_tokens: 1,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'tool', content: '1' },
      ],
    };
    const refused = await asTheEngine(proxied, url, body);
    assert.ok(refused.status >= 400);
    assert.match(refused.text, /No tools here/);
    assert.deepEqual(refused.said, { action: 'pass', findings: null, inspection: 'unknown;oracle-refused' });
    assert.deepEqual((await chat(proxied, say('hi'))).said, clean);
  });
});

describe('a vocabulary with 200,000 added tokens', { skip }, () => {
  it('is learnt by a bounded number of questions, and prompts that hold them are right', async (t) => {
    const { url } = await large.server();
    const proxied = await openProxy(t, url, {
      LIMITS_ORACLE_TIMEOUT_MS: '60000',
      INSPECTION_BUDGET_MS: '60000',
    });
    const content = 'a <extra_77> b <extra_199999>';
    assert.deepEqual((await chat(proxied, say(content))).said, clean);
    await settled(proxied, 1);
    assert.deepEqual(await countChecks(proxied), { match: 1, mismatch: 0 });
    const asked = await proxied.metric('tokenweir_oracle_requests_total');
    assert.ok(asked < 60, `${asked} questions`);
    const answer = await chat(proxied, say(`${content} <|end|>`));
    assert.equal(answer.said.findings, 'control-token-in-content;isolated');
    await settled(proxied, 2);
    const [found] = await requestFindings(proxied);
    const { start } = found?.['tokens'] as { start: number };
    const ids = await engineIds(url, say(`${content} <|end|>`));
    assert.equal(ids[start], await idOf(url, '<|end|>'));
    assert.equal((await countChecks(proxied)).mismatch, 0);
  });
});

describe('markers that are parts of each other, or hold what patterns take for syntax', { skip }, () => {
  const models = [
    ...['<|end|>', '<|end|>x', '<|'].map((marker) => ({ marker, engine: nested })),
    ...['[.*+?](a|b)', '^(?:$'].map((marker) => ({ marker, engine: syntax })),
  ];
  for (const { marker, engine } of models) {
    it(`${marker} is told with its place among the engine's ids`, async (t) => {
      const { url } = await engine.server();
      const proxied = await openProxy(t, url);
      const body = say(`a ${marker} b`);
      // The engine has seen the text before, so that markers which no template shows are known, too.
      for (let round = 1; round <= 2; round += 1) {
        await chat(proxied, body);
        await settled(proxied, round);
      }
      assert.deepEqual(await countChecks(proxied), { match: 2, mismatch: 0 });
      const [found] = await requestFindings(proxied);
      const { start } = found?.['tokens'] as { start: number };
      assert.equal((await engineIds(url, body))[start], await idOf(url, marker));
    });
  }
});

describe('10 MB in one text', { skip }, () => {
  const long = 'lorem ipsum '.repeat(850_000);
  const bodies: Readonly<Record<string, object>> = {
    '/v1/chat/completions': { max_tokens: 1, ...say(long) },
    '/completion': { n_predict: 1, prompt: long },
    '/v1/completions': { max_tokens: 1, prompt: [long, 'hi'] },
    '/v1/messages': { max_tokens: 1, system: long, ...say('hi') },
    '/v1/responses': { max_output_tokens: 1, input: long },
  };
  for (const [path, body] of Object.entries(bodies)) {
    it(`passes to the engine on ${path} unread, with a reason, and holds nobody else's request up`, async (t) => {
      const { url } = await plain.server();
      const proxied = await openProxy(t, url);
      await chat(proxied, say('hi'));
      const bytes = Buffer.from(JSON.stringify(body));
      const lag = monitorEventLoopDelay({ resolution: 5 });
      lag.enable();
      const answer = await send(proxied.url + path, bytes);
      lag.disable();
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.said.inspection, 'unknown;body-too-large');
      const worst = lag.max / 1e6;
      t.diagnostic(`the worst single turn of the event loop took ${worst.toFixed(0)} ms`);
      assert.ok(worst < 1000, `${worst} ms`);
    });
  }
});

describe('bytes that are no UTF-8', { skip }, () => {
  it('in a body give the answer that the engine gives', async (t) => {
    const { url } = await plain.server();
    const proxied = await openProxy(t, url);
    const [before, after] = JSON.stringify({ max_tokens: 1, ...say('a|b') }).split('|');
    const body = Buffer.concat([Buffer.from(before!), Buffer.from([0xff, 0xc3]), Buffer.from(after!)]);
    const answer = await asTheEngine(proxied, url, body);
    assert.equal(answer.said.inspection, 'unknown;unreadable-body');
  });

  it('in the pieces of tokens keep places right: an emoji is four tokens', async (t) => {
    const { url } = await plain.server();
    const proxied = await openProxy(t, url, { PRIVACY_SHOW_TEXT: 'true' });
    const body = say('😀😀<|end|>😀');
    await chat(proxied, body);
    await settled(proxied, 1);
    assert.deepEqual(await countChecks(proxied), { match: 1, mismatch: 0 });
    // With texts a finding is told once the engine has said them, which holds no exchange up.
    await eventually(async () => (await requestFindings(proxied)).length > 0, 'the finding told');
    const [found] = await requestFindings(proxied);
    assertHas(found, { kind: 'control-token-in-content', characters: { start: 4, end: 11 } });
    const { start } = found?.['tokens'] as { start: number };
    const ids = await engineIds(url, body);
    // Behind the opening's marker and line end, and two emoji.
    assert.deepEqual([start, ids[start]], [10, await idOf(url, '<|end|>')]);
  });
});

describe('tools as no one should define them', { skip }, () => {
  const toolOf = (name: string, parameters: Json): JsonObject => ({
    type: 'function',
    function: { name, parameters },
  });

  it("with circular references get the engine's own answer", async (t) => {
    const { url } = await qwen3.server();
    const proxied = await openProxy(t, url);
    const circular = {
      $ref: '#/$defs/a',
      $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'object', properties: { next: { $ref: '#/$defs/a' } } } },
    };
    const answer = await asTheEngine(proxied, url, {
      max_tokens: 1,
      ...say('hi'),
      tools: [toolOf('f', circular)],
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.said, clean);
    await settled(proxied, 1);
    assert.equal((await countChecks(proxied)).mismatch, 0);
  });

  it('whose schema is forty levels deep, or holds regular expressions, accuse nobody', async (t) => {
    const { url } = await qwen3.server();
    const proxied = await openProxy(t, url);
    const levels = Array.from({ length: 40 }, (_, index) => `level${index}`);
    const deep = levels.reduce<Json>((inner, name) => ({ type: 'object', properties: { [name]: inner } }), {
      type: 'string',
    });
    const many = Array.from({ length: 20 }, (_, index) =>
      toolOf(`srv.tool-${index}`, {
        type: 'object',
        properties: { [`p${index}`]: { type: 'string', pattern: '^[^\\\\/:*?"<>|]+$' } },
      }),
    );
    for (const tools of [[toolOf('f', deep)], many]) {
      const answer = await asTheEngine(proxied, url, {
        ...{ max_tokens: 1, tool_choice: 'none', tools },
        ...say('hi'),
      });
      assert.deepEqual(answer.said, clean, answer.text.slice(0, 300));
    }
  });

  it('a thousand of them are read, and counted as the engine counts them', async (t) => {
    const { url } = await qwen3.server();
    const proxied = await openProxy(t, url);
    const tools = Array.from({ length: 1000 }, (_, index) => ({
      type: 'function',
      function: { name: `f${index}` },
    }));
    const answer = await chat(proxied, { max_tokens: 1, ...say('hi'), tools, tool_choice: 'none' });
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    assert.equal(answer.said.inspection, 'ok');
    await settled(proxied, 1);
    assert.deepEqual(await countChecks(proxied), { match: 1, mismatch: 0 });
  });
});
