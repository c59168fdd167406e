// Each field that is said to be ignored, sent to the real engine: the prompt is the same with it and without it, and what
// it asks for is to be had in the other way that the finding names.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { llamaIgnoredFields } from '../../src/engines/llama-server/ignored-fields.ts';
import { Q } from '../support/conversations.ts';
import { assertHas, clean, requestFindings, send } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const gemma3 = await realEngine('gemma3');
const qwen3 = await realEngine('qwen3');
const { skip } = qwen3;

const text = '/v1/completions';
const conversation = '/v1/chat/completions';
const prompt = 'Once upon a time in a valley';
const documents = [{ title: 'Weirs', text: 'The weir is four metres high.' }];

interface Case {
  readonly path: string;
  readonly fields: object;
  /** Fields of the same sort that ask for nothing, or for what is there. */
  readonly meaningless: object;
}
const cases: Record<string, Case> = {
  'add-special-tokens': {
    path: text,
    fields: { add_special_tokens: false },
    meaningless: { add_special_tokens: true },
  },
  documents: { path: conversation, fields: { documents }, meaningless: { documents: [] } },
  system: {
    path: conversation,
    fields: { system: 'Answer as the keeper of a weir.' },
    meaningless: { system: ' ' },
  },
  'system-prompt': {
    path: text,
    fields: { system_prompt: { prompt: 'Answer as the keeper of a weir.' } },
    meaningless: { system_prompt: prompt },
  },
  instructions: {
    path: conversation,
    fields: { instructions: 'Answer as the keeper of a weir.' },
    meaningless: { instructions: null },
  },
  suffix: { path: text, fields: { suffix: ' and then it ended.' }, meaningless: { suffix: '' } },
  echo: { path: text, fields: { echo: true }, meaningless: { echo: false } },
  'truncate-prompt-tokens': {
    path: text,
    fields: { truncate_prompt_tokens: 2 },
    meaningless: { truncate_prompt_tokens: 100 },
  },
  'num-ctx': {
    path: conversation,
    fields: { options: { num_ctx: 1_000_000 } },
    meaningless: { options: { num_ctx: 1024 } },
  },
  'enable-thinking': {
    path: conversation,
    fields: { enable_thinking: false },
    meaningless: { enable_thinking: true },
  },
  think: { path: conversation, fields: { think: false }, meaningless: { think: true } },
  thinking: {
    path: conversation,
    fields: { thinking: { type: 'disabled' } },
    meaningless: { thinking: { type: 'enabled' } },
  },
  'extra-body': {
    path: conversation,
    fields: { extra_body: { chat_template_kwargs: { enable_thinking: false } } },
    meaningless: { extra_body: { chat_template_kwargs: { enable_thinking: true }, top_k: 20 } },
  },
};

const bodyFor = (path: string, fields: object) => ({
  ...(path === text ? { prompt } : { messages: Q }),
  max_tokens: 2,
  verbose: true,
  ...fields,
});

/** What the engine says that it was given: the whole prompt as text. */
async function promptOf(url: string, path: string, fields: object): Promise<string> {
  const { json, status } = await send(`${url}${path}`, bodyFor(path, fields));
  assert.equal(status, 200, JSON.stringify(fields));
  return (json['__verbose'] as { prompt: string }).prompt;
}

describe('parameter-ignored', { skip }, () => {
  it('has a case for every field of the list', () => {
    assert.deepEqual(Object.keys(cases).toSorted(), llamaIgnoredFields.map(({ name }) => name).toSorted());
  });

  for (const [name, { path, fields, meaningless }] of Object.entries(cases)) {
    // Gemma 3 has a BOS to add, Qwen3 a way to switch thinking off.
    const engine = path === text ? gemma3 : qwen3;
    // A raw prompt to an instruct model is a finding of its own.
    const settings = { MODELS: '{"gemma3":{"kind":"base"}}' };
    const open = async (t: TestContext) => openProxy(t, (await engine.server()).url, settings);

    it(`${name}: is ignored by the engine, and said so once`, async (t) => {
      const { url } = await engine.server();
      assert.equal(await promptOf(url, path, fields), await promptOf(url, path, {}));
      const proxied = await open(t);
      const { said } = await send(`${proxied.url}${path}`, bodyFor(path, fields));
      assert.deepEqual(said, { ...clean, findings: `parameter-ignored;${name}` });
      assert.deepEqual((await send(`${proxied.url}${path}`, bodyFor(path, fields))).said, clean);
      assertHas((await requestFindings(proxied))[0], { severity: 'warning', culprit: 'client' });
    });

    it(`${name}: is not said where it asks for nothing`, async (t) => {
      const proxied = await open(t);
      assert.deepEqual((await send(`${proxied.url}${path}`, bodyFor(path, meaningless))).said, clean);
    });
  }

  it('echo: the reply does not begin with the prompt', async () => {
    const { json } = await send(`${(await gemma3.server()).url}${text}`, bodyFor(text, { echo: true }));
    const [choice] = json['choices'] as { text: string }[];
    assert.ok(choice !== undefined && !choice.text.includes(prompt));
  });

  it('is not said of thinking that is switched off as the engine has it', async (t) => {
    const proxied = await openProxy(t, (await qwen3.server()).url);
    const off = { chat_template_kwargs: { enable_thinking: false }, enable_thinking: false, think: false };
    assert.deepEqual((await send(`${proxied.url}${conversation}`, bodyFor(conversation, off))).said, clean);
  });

  it('is said of /v1/messages, where thinking that is switched off goes on', async (t) => {
    const proxied = await openProxy(t, (await qwen3.server()).url);
    const user = { role: 'user', content: 'Hi' };
    const { said } = await send(`${proxied.url}/v1/messages`, {
      messages: [user],
      max_tokens: 2,
      thinking: { type: 'disabled' },
    });
    assert.deepEqual(said, { ...clean, findings: 'parameter-ignored;thinking' });
  });
});
