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
  'chat-template': {
    path: conversation,
    fields: { chat_template: '{% for message in messages %}{{ message.content }}{% endfor %}' },
    meaningless: { chat_template: '' },
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

    const losesText = llamaIgnoredFields.some((field) => field.name === name && field.effect === 'text');
    it(`${name}: is ignored by the engine, and said so ${losesText ? 'each time' : 'once'}`, async (t) => {
      const { url } = await engine.server();
      assert.equal(await promptOf(url, path, fields), await promptOf(url, path, {}));
      const proxied = await open(t);
      const { said } = await send(`${proxied.url}${path}`, bodyFor(path, fields));
      assert.deepEqual(said, { ...clean, findings: `parameter-ignored;${name}` });
      const again = await send(`${proxied.url}${path}`, bodyFor(path, fields));
      assert.deepEqual(again.said, losesText ? said : clean);
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

  const weirKeeper = 'Answer as the keeper of a weir.';
  const user = { role: 'user', content: 'Hi' };
  const dialects: Record<string, { body: object; readOver: Record<string, string>; read: object }> = {
    '/v1/messages': {
      body: { messages: [user], max_tokens: 2 },
      readOver: { instructions: 'instructions', system_prompt: 'system-prompt' },
      read: { system: weirKeeper },
    },
    '/v1/responses': {
      body: { input: 'Hi', max_output_tokens: 2 },
      readOver: { system: 'system', system_prompt: 'system-prompt' },
      read: { instructions: weirKeeper },
    },
  };
  for (const [path, { body, readOver, read }] of Object.entries(dialects)) {
    it(`is said of instructions that ${path} does not read, and not of those that it reads`, async (t) => {
      const proxied = await openProxy(t, (await qwen3.server()).url);
      const told = (more: object) => send(`${proxied.url}${path}`, { ...body, ...more });
      const promptTokens = ({ json }: Awaited<ReturnType<typeof told>>) => {
        const usage = json['usage'] as { input_tokens: number; cache_read_input_tokens?: number };
        return usage.input_tokens + (usage.cache_read_input_tokens ?? 0);
      };
      const without = await told({});
      assert.deepEqual(without.said, clean);
      for (const [field, cause] of Object.entries(readOver)) {
        const answer = await told({ [field]: weirKeeper });
        assert.equal(promptTokens(answer), promptTokens(without));
        assert.deepEqual(answer.said, { ...clean, findings: `parameter-ignored;${cause}` });
      }
      const heeded = await told(read);
      assert.ok(promptTokens(heeded) > promptTokens(without));
      assert.deepEqual(heeded.said, clean);
      const template = await told({ chat_template: '{{ messages[0].content }}' });
      assert.equal(promptTokens(template), promptTokens(without));
      assert.deepEqual(template.said, { ...clean, findings: 'parameter-ignored;chat-template' });
    });
  }

  it('is said of /v1/messages, where thinking that is switched off goes on', async (t) => {
    const proxied = await openProxy(t, (await qwen3.server()).url);
    const { said } = await send(`${proxied.url}/v1/messages`, {
      messages: [user],
      max_tokens: 2,
      thinking: { type: 'disabled' },
    });
    assert.deepEqual(said, { ...clean, findings: 'parameter-ignored;thinking' });
  });
});
