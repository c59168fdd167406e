// A real engine that really generates the markers of a next turn: a grammar makes it, where a model with a wrong EOS would.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { assertHas, requestFindings, send, settled, type Answer } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { realEngine, type RealEngine } from '../support/real-engine.ts';
import { unendingModel } from '../support/unending-model.ts';

const engine = await realEngine(unendingModel);
const showing = await realEngine(unendingModel, { args: ['--special'] });

const turn = '<|im_start|>user\nHi<|stop|>\n';
const prompt = `${turn}<|im_start|>assistant\n`;
/** The model's turn, its end, and the turns that it invents. */
const ran = `root ::= "It is four, friend." <|stop|> "\\n" <|im_start|> "user\\nAnd what is five?" <|stop|> "\\n" <|im_start|> "assistant\\nIt is five again."`;
const stops = `root ::= "It is four, friend."`;
const settings = { max_tokens: 120, temperature: 0 };
const messages = [{ role: 'user', content: 'Hi' }];

async function answered(
  t: TestContext,
  from: RealEngine,
  path: string,
  body: object,
): Promise<{ readonly proxied: ProxiedEngine; readonly answer: Answer }> {
  const proxied = await openProxy(t, (await from.server()).url);
  const answer = await send(`${proxied.url}${path}`, { ...settings, ...body });
  assert.equal(answer.status, 200);
  await settled(proxied, 1);
  return { proxied, answer };
}

describe('a reply that runs on', { skip: engine.skip }, () => {
  for (const [name, path, body] of [
    ['a chat', '/v1/chat/completions', { messages }],
    ['a streamed chat', '/v1/chat/completions', { messages, stream: true }],
    ['a text', '/v1/completions', { prompt }],
    ['streamed responses', '/v1/responses', { input: 'Hi', stream: true }],
  ] as const) {
    it(`shows the headers of its turns, where control tokens are not shown: ${name}`, async (t) => {
      const { proxied, answer } = await answered(t, engine, path, { ...body, grammar: ran });
      assert.doesNotMatch(answer.text, /im_start/);
      const [finding, ...more] = await requestFindings(proxied);
      assert.deepEqual(more, []);
      assertHas(finding, {
        kind: 'runaway-reply',
        cause: 'role-header',
        severity: 'warning',
        culprit: 'model-file',
      });
      assert.match(String(finding?.['message']), /a turn of the user after 20 characters/);
      assert.match(String(finding?.['advice']), /its EOS, "<\|endoftext\|>", is the token/);
    });
  }

  it('shows its markers where the engine is told to', async (t) => {
    const { proxied, answer } = await answered(t, showing, '/v1/chat/completions', {
      messages,
      grammar: ran,
    });
    assert.match(answer.text, /<\|im_start\|>user/);
    const [finding, ...more] = await requestFindings(proxied);
    assert.deepEqual(more, []);
    assertHas(finding, { kind: 'runaway-reply', cause: 'role-marker', culprit: 'model-file' });
    assert.match(String(finding?.['message']), /holds "<\|im_start\|>user\\n" after 28 characters/);
  });

  it('shows its markers as ids, where these are told and the text is not', async (t) => {
    const [opener] = await markerIds();
    const body = { prompt, n_predict: 3, stream: true, logit_bias: [[opener, 1000]] };
    const { proxied, answer } = await answered(t, engine, '/completion', body);
    assert.match(answer.text, new RegExp(`"content":"","tokens":\\[${opener}\\]`));
    const [finding] = await requestFindings(proxied);
    assertHas(finding, { kind: 'runaway-reply', cause: 'role-marker' });
    assert.match(String(finding?.['message']), /generated "<\|im_start\|>" as its token 0/);
  });

  it('invents the next line of a transcript', async (t) => {
    const transcript = 'A talk.\nUser: Hi\nAssistant:';
    const grammar = 'root ::= " Hello.\\nUser: Bye."';
    const { proxied } = await answered(t, engine, '/completion', {
      prompt: transcript,
      n_predict: 40,
      grammar,
    });
    const findings = await requestFindings(proxied);
    assert.deepEqual(
      findings.map(({ kind, cause }) => [kind, cause]),
      [
        ['raw-prompt', 'plain-text'],
        ['runaway-reply', 'next-turn'],
      ],
    );
    assert.doesNotMatch(JSON.stringify(findings), /User|Bye|talk/);
  });
});

describe('a reply that ends', { skip: engine.skip }, () => {
  for (const [name, path, body] of [
    ['a chat', '/v1/chat/completions', { messages }],
    ['a streamed native text', '/completion', { prompt, stream: true }],
  ] as const) {
    it(`has no finding: ${name}`, async (t) => {
      const { proxied } = await answered(t, engine, path, { ...body, grammar: stops });
      assert.deepEqual(await requestFindings(proxied), []);
    });
  }

  it('may say what a marker is to somebody who asks', async (t) => {
    const asked = [{ role: 'user', content: 'What is <|im_start|>?' }];
    const { proxied } = await answered(t, showing, '/v1/chat/completions', { messages: asked, grammar: ran });
    const kinds = (await requestFindings(proxied)).map(({ kind }) => kind);
    assert.ok(!kinds.includes('runaway-reply'));
  });
});

async function markerIds(): Promise<number[]> {
  const { url } = await engine.server();
  const answer = await send(`${url}/tokenize`, { content: '<|im_start|>', parse_special: true });
  return answer.json['tokens'] as number[];
}
