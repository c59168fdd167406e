// Which template a real engine renders chats by: its own default, a name in place of one, another family's, the model's.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Q } from '../support/conversations.ts';
import { assertHas, chat, clean, complete, requestFindings, send } from '../support/exchanges.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const untemplated = await realEngine(() =>
  byteModelFile({ name: 'untemplated', markers: ['<s>', '</s>'], bos: '<s>', eos: '</s>', addBos: true }),
);
const named = await realEngine('qwen3', { args: ['--chat-template', 'llama3'] });
const builtIn = await realEngine('gemma3', { args: ['--no-jinja', '--chat-template', 'llama3'] });
const fitting = await realEngine('llama3.1', { args: ['--no-jinja', '--chat-template', 'llama3'] });
/** Markers that this vocabulary has as text, as some models were trained. */
const spelledOut = await realEngine(() =>
  byteModelFile({
    name: 'spelled-out',
    markers: ['</s>'],
    eos: '</s>',
    chatTemplate:
      '{% for m in messages %}{{ "<|" + m.role + "|>\n" + m.content + eos_token + "\n" }}{% endfor %}' +
      '{% if add_generation_prompt %}{{ "<|assistant|>\n" }}{% endif %}',
  }),
);
const { skip } = untemplated;

describe('template-missing', { skip }, () => {
  it('is said of ChatML that no token of the model stands for, once, at its first marker', async (t) => {
    const proxied = await openProxy(t, (await untemplated.server()).url);
    assert.deepEqual((await complete(proxied, { prompt: 'Once' })).said, clean);
    const { said } = await chat(proxied, { messages: Q });
    assert.equal(said.findings, 'template-missing;engine-default');
    assert.deepEqual((await chat(proxied, { messages: Q })).said, clean, 'a fact is told once');
    const [finding] = await requestFindings(proxied);
    const { url } = await untemplated.server();
    const { json } = await send(`${url}/tokenize`, { content: '<|im_start|>' });
    const end = 1 + (json['tokens'] as readonly number[]).length;
    assertHas(finding, { severity: 'error', culprit: 'engine', tokens: { start: 1, end } });
  });

  it('is said on every chat route', async (t) => {
    const { url } = await untemplated.server();
    for (const [path, body] of [
      ['/v1/messages', { messages: Q, max_tokens: 4 }],
      ['/v1/responses', { input: Q, max_output_tokens: 4 }],
    ] as const) {
      const proxied = await openProxy(t, url);
      const { said } = await send(proxied.url + path, body);
      assert.equal(said.findings, 'template-missing;engine-default', path);
    }
  });

  it("is said of a template's name that is the whole prompt", async (t) => {
    const proxied = await openProxy(t, (await named.server()).url);
    const { said } = await chat(proxied, { messages: Q });
    assert.match(said.findings ?? '', /\btemplate-missing;name-only\b/);
    const found = (await requestFindings(proxied)).find(({ kind }) => kind === 'template-missing');
    assertHas(found, { severity: 'error', culprit: 'engine' });
    assert.match(String(found?.['message']), /\("llama3"\)/);
  });

  it('is said of markers that another family has and this vocabulary lacks', async (t) => {
    const proxied = await openProxy(t, (await builtIn.server()).url);
    const { said } = await chat(proxied, { messages: Q });
    assert.match(said.findings ?? '', /\btemplate-missing;unknown-markers\b/);
    const found = (await requestFindings(proxied)).find(({ kind }) => kind === 'template-missing');
    assertHas(found, { severity: 'error', culprit: 'template' });
    assert.match(String(found?.['message']), /<\|start_header_id\|>.*<start_of_turn>/);
  });

  it('is not said where the markers are as they should be, or are text to any such model', async (t) => {
    for (const engine of [fitting, spelledOut]) {
      const proxied = await openProxy(t, (await engine.server()).url);
      const { said } = await chat(proxied, { messages: Q });
      assert.doesNotMatch(said.findings ?? '', /template-missing/);
    }
  });
});
