// Proves the test support itself: the models that we write make a real llama-server give the ids and counts of the
// models they stand for.
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { byteModelFile } from './gguf/byte-model.ts';
import { modelFile } from './gguf/families.ts';
import { freePort, startLlamaServer } from './llama-server/server.ts';
import { mirrorOfLines, mirrorOfStanzas } from './llama-server/debian.ts';
import { postJson } from './post-json.ts';
import { realEngine } from './real-engine.ts';

const question = {
  messages: [
    { role: 'system', content: 'You are terse.' },
    { role: 'user', content: 'What is 2 + 2?' },
  ],
};

const weatherTool = (extra: Record<string, unknown> = {}) => ({
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the current weather for a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'The city name.' } },
      required: ['city'],
    },
    ...extra,
  },
});

async function render(url: string, body: object): Promise<string> {
  const reply = await postJson<{ prompt: string }>(`${url}/apply-template`, body);
  return reply.body.prompt;
}

async function tokenize(url: string, content: unknown, options: object = {}): Promise<number[]> {
  const body = { content, add_special: true, parse_special: true, ...options };
  return (await postJson<{ tokens: number[] }>(`${url}/tokenize`, body)).body.tokens;
}

const qwen3 = await realEngine('qwen3');
const gemma3 = await realEngine('gemma3');
const llama31 = await realEngine('llama3.1');
const bytes = await realEngine(() =>
  byteModelFile({
    name: 'two-markers',
    markers: ['<|begin|>', '<|end|>'],
    userDefined: ['<think>'],
    bos: '<|begin|>',
    eos: '<|end|>',
    addBos: true,
    chatTemplate: '{{ bos_token }}{% for m in messages %}{{ m.content }}<|end|>{% endfor %}',
  }),
);

describe('Qwen3 on a real llama-server', { skip: qwen3.skip }, () => {
  it('has the ids of the real vocabulary', async () => {
    const { url } = await qwen3.server();
    const ids = await tokenize(url, await render(url, question));
    assert.equal(ids.length, 25);
    assert.deepEqual(ids.slice(0, 9), [151644, 8948, 198, 2610, 525, 50537, 13, 151645, 198]);
  });

  it('spells markers out where special tokens are not parsed', async () => {
    const { url } = await qwen3.server();
    const ids = await tokenize(url, await render(url, question), { parse_special: false });
    assert.equal(ids.length, 46);
  });

  for (const [name, tool] of [
    ['as the OpenAI interface has it', weatherTool()],
    ['with a field that the template does not know', weatherTool({ return: { type: 'string' } })],
  ] as const) {
    it(`renders a tool ${name}`, async () => {
      const { url } = await qwen3.server();
      const ids = await tokenize(url, await render(url, { ...question, tools: [tool] }));
      assert.equal(ids.length, 168);
    });
  }
});

describe('Gemma 3 on a real llama-server', { skip: gemma3.skip }, () => {
  it('has the ids of the real vocabulary, which the engine counts in its reply', async () => {
    const { url } = await gemma3.server();
    const ids = await tokenize(url, await render(url, question));
    assert.equal(ids.length, 22);
    assert.deepEqual(ids.slice(0, 3), [2, 105, 2364]);
    const reply = await postJson<{ usage: { prompt_tokens: number } }>(`${url}/v1/chat/completions`, {
      ...question,
      max_tokens: 2,
    });
    assert.equal(reply.body.usage.prompt_tokens, 22);
  });

  it('gets a second BOS when a client renders its own', async () => {
    const { url } = await gemma3.server();
    const prompt = `<bos>${await render(url, question)}`;
    const reply = await postJson<{ tokens_evaluated: number }>(`${url}/completion`, { prompt, n_predict: 1 });
    assert.equal(reply.body.tokens_evaluated, 23);
  });
});

describe('Llama 3.1 on a real llama-server', { skip: llama31.skip }, () => {
  it('has the ids of the real vocabulary', async () => {
    const { url } = await llama31.server();
    assert.deepEqual(await tokenize(url, 'Hello world'), [128000, 9906, 1917]);
    assert.deepEqual(
      (await tokenize(url, await render(url, question))).slice(0, 4),
      [128000, 128006, 9125, 128007],
    );
  });
});

describe('a byte model on a real llama-server', { skip: bytes.skip }, () => {
  it('has one id per byte, merge and marker', async () => {
    const { url } = await bytes.server();
    assert.deepEqual(await tokenize(url, 'a the<|end|><think>\u00e9'), [264, 97, 258, 265, 266, 195, 169]);
  });

  it('renders the given template', async () => {
    const { url } = await bytes.server();
    assert.equal(await render(url, question), 'You are terse.<|end|>What is 2 + 2?<|end|>');
  });
});

describe('a llama-server of a test', { skip: qwen3.skip }, () => {
  const file = () => byteModelFile({ name: 'plain', markers: [] });

  it('can be paused, killed and started anew on the same port', async () => {
    const first = await startLlamaServer({ model: await file() });
    await first.pause();
    await assert.rejects(fetch(`${first.url}/health`, { signal: AbortSignal.timeout(300) }), /timeout/);
    first.resume();
    assert.equal((await fetch(`${first.url}/health`)).status, 200);
    await first.kill();
    await assert.rejects(fetch(`${first.url}/health`));
    const second = await startLlamaServer({ model: await file(), port: first.port });
    assert.equal(second.url, first.url);
    await second.stop();
    await second.stop();
    assert.match(second.log(), /cleaning up before exit/);
  });

  it('can be watched while it loads', async () => {
    const port = await freePort();
    const starting = startLlamaServer({ model: await modelFile('gemma3'), port });
    let status: number | undefined;
    for (let tries = 0; status === undefined && tries < 500; tries++) {
      await sleep(10);
      status = await fetch(`http://127.0.0.1:${port}/health`).then(
        (response) => response.status,
        () => undefined,
      );
    }
    assert.equal(status, 503);
    await (await starting).stop();
  });

  it('serves several models in router mode, each in a process that ends with it', async () => {
    const models = await mkdtemp(join(tmpdir(), 'tokenweir-models-'));
    try {
      await copyFile(await file(), join(models, 'small.gguf'));
      const server = await startLlamaServer({ args: ['--models-dir', models] });
      const body = { content: 'a the', model: 'small' };
      const unloaded = await postJson(`${server.url}/tokenize?autoload=false`, body);
      assert.equal(unloaded.status, 400);
      const loaded = await postJson(`${server.url}/tokenize`, body);
      assert.deepEqual(loaded.body, { tokens: [97, 258] });
      await server.stop();
      assert.match(server.log(), /instance name=small exited/);
    } finally {
      await rm(models, { recursive: true });
    }
  });

  it('says why it did not start', async () => {
    await assert.rejects(startLlamaServer({ model: '/nowhere.gguf' }), /nowhere\.gguf/);
  });
});

describe('the Debian mirror', () => {
  it('is found in deb822 files, not the security archive', () => {
    const security =
      'Types: deb\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\nComponents: main';
    const main =
      'Types: deb\n# a note\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\nSigned-By: /k.gpg';
    assert.deepEqual(mirrorOfStanzas(`${security}\n\n${main}\n`), {
      uri: 'http://mirror.example/debian',
      signedBy: '/k.gpg',
    });
    assert.equal(mirrorOfStanzas(`${main}\nEnabled: no`), undefined);
  });

  it('is found in classic lines', () => {
    const text = [
      '# deb http://old.example/debian bookworm main',
      'deb http://other.example/node nodistro main',
      'deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian/ bookworm main contrib',
    ].join('\n');
    assert.deepEqual(mirrorOfLines(text), { uri: 'http://mirror.example/debian/', signedBy: '/k.gpg' });
  });
});
