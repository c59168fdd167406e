// `tokenweir check` where it can not: inputs, options or an engine that are not there.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { CommandContext } from '../../../src/commands/command.ts';
import { cleanRequest, doubledRequest, openCheckFolder } from '../../support/check-folder.ts';
import { startUpstream } from '../../support/fake-upstream.ts';
import { byteModelFile } from '../../support/gguf/byte-model.ts';
import { startLlamaServer } from '../../support/llama-server/server.ts';
import { realEngine } from '../../support/real-engine.ts';

const gemma3 = await realEngine('gemma3');
const { skip } = gemma3;
const { folder, file, check } = openCheckFolder();
const doubled = file('doubled.json', doubledRequest);
const clean = file('clean.json', cleanRequest);

describe('tokenweir check where it can not', () => {
  const upstream = 'http://127.0.0.1:1';

  it('exits 3 if nobody answers', async () => {
    const { code, stdout, stderr } = await check([clean, doubled], { upstream });
    assert.deepEqual([code, stdout], [3, '']);
    assert.equal(stderr, `Nothing answers at ${upstream}.\nStart the engine, or correct host and port.\n`);
  });

  it('exits 2 for inputs that can not be read, naming all of them with their lines, and asks no engine', async () => {
    const broken = file('broken.json', '{"messages": [\n  {"role": "user" "content": "Hi"}]}');
    const other = file('other.json', { answer: 42 });
    const asked = await startUpstream(() => assert.fail('the engine is asked'));
    try {
      const { code, stdout, stderr } = await check([broken, clean, other, 'none.json'], {
        upstream: asked.url,
      });
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^broken\.json:2:19: not valid JSON: "\\"" stands here; allowed: "," or "}"\n/);
      assert.match(
        stderr,
        /^other\.json: its members are "answer", which say not what it is; allowed: .* --route$/m,
      );
      assert.match(
        stderr,
        /^none\.json: the file does not exist; name a file, a folder, or - for standard input$/m,
      );
    } finally {
      await asked.close();
    }
    const escaping = file('escaping.json', { '\u202e': 1 });
    assert.match((await check([escaping], { upstream })).stderr, /members are "\\u\{202e\}"/);
    const { mistakes } = JSON.parse((await check([broken], { json: true })).stdout) as { mistakes: object[] };
    assert.equal(mistakes.length, 1);
  });

  it('says how to name a model where the engine routes to several, and loads none', { skip }, async () => {
    const models = mkdtempSync(join(folder, 'models-'));
    copyFileSync(await byteModelFile({ name: 'plain', markers: [] }), join(models, 'first.gguf'));
    const server = await startLlamaServer({ args: ['--models-dir', models] });
    try {
      const { code, stderr } = await check([clean], { upstream: server.url });
      assert.equal(code, 2);
      assert.match(
        stderr,
        /routes to several models\. It lists first \(unloaded\)\.\nName a loaded one in the request, as "model"\.\n$/,
      );
      const named = file('named.json', { model: 'first', messages: [{ role: 'user', content: 'Hi' }] });
      assert.equal((await check([named], { upstream: server.url })).code, 3);
    } finally {
      await server.stop();
    }
  });

  it('says for which route it took a request that leaves it open, and how to name it', { skip }, async () => {
    const { messages } = cleanRequest;
    const tools = [{ name: 'clock', input_schema: { type: 'object', properties: {} } }];
    const open = file('open.json', { messages, tools, max_tokens: 5 });
    const also = file('also.json', { messages, tools });
    const options = { upstream: (await gemma3.server()).url };
    const said =
      /^open\.json: taken for the route messages, as its tools have "input_schema" .*\nIf .* --route chat: /;
    assert.match((await check([open], options)).stderr, said);
    assert.match(
      (await check([open, clean, also], options)).stderr,
      /^open\.json \(and 1 other\): taken for/,
    );
    assert.equal((await check([open, clean], { ...options, route: 'messages' })).stderr, '');
    const asChat = await check([open], { ...options, route: 'chat' });
    assert.deepEqual([asChat.code, asChat.stderr], [3, '']);
    assert.match(asChat.stdout, /^not known: oracle-/m);
  });

  it('exits 2 for a folder without a fixture', async () => {
    mkdirSync(join(folder, 'empty'), { recursive: true });
    const { code, stderr } = await check(['empty'], { upstream });
    assert.equal(code, 2);
    assert.match(stderr, /^empty: the folder holds no file that ends in \.json, \.jsonl, \.ndjson; /);
  });

  it('exits 2 without an engine where one is needed', async () => {
    const { code, stderr } = await check([clean]);
    assert.equal(code, 2);
    assert.match(stderr, /^upstream\.url is not set; allowed: --upstream URL/);
    const frozen = await check([clean], { upstream, frozen: true });
    assert.equal(frozen.stderr, '--frozen asks no engine; clean.json is a request; allowed: recordings\n');
    assert.equal(frozen.code, 2);
  });

  const wrong: readonly (readonly [flags: CommandContext['flags'], says: RegExp])[] = [
    [{ failOn: 'fatal' }, /^--fail-on is "fatal"; allowed: info, warning, error\n$/],
    [{ route: 'chatter' }, /^--route is "chatter"; allowed: chat, completion, messages, responses\n$/],
    [{ session: '' }, /^--session is ""; allowed: a name/],
    [
      { record: 'clean.json' },
      /^--record is "clean\.json", which exists already; allowed: the name of a new file\n$/,
    ],
  ];
  for (const [flags, says] of wrong) {
    it(`exits 2 for ${JSON.stringify(flags)}`, async () => {
      const { code, stderr } = await check([clean], { upstream, ...flags });
      assert.equal(code, 2);
      assert.match(stderr, says);
    });
  }

  it('exits 3 for a chat that the engine refuses, and says why in its words', { skip }, async () => {
    const question = { role: 'user', content: 'Hoe laat is het?' };
    const twice = file('twice.json', { messages: [question, question] });
    const options = { upstream: (await gemma3.server()).url };
    const { code, stdout } = await check([twice], options);
    assert.equal(code, 3);
    const words = 'Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...';
    assert.equal(
      stdout,
      `twice.json\nnot known: oracle-refused (docs/errors.md)\n  the engine says: ${words.replace(' user/', '\n  user/')}\n\n` +
        '1 request: 0 clean, 0 errors, 0 warnings, 0 notes, 1 not known\n',
    );
    const { stdout: json } = await check([twice], { ...options, json: true });
    const { results } = JSON.parse(json) as { results: { now: { unknown: string; engineSays: string } }[] };
    assert.deepEqual(
      results.map(({ now }) => [now.unknown, now.engineSays]),
      [['oracle-refused', words]],
    );
  });

  it('exits 2 if the recording has nowhere to go, after it has said what it found', { skip }, async () => {
    const { url } = await gemma3.server();
    const { code, stdout, stderr } = await check([doubled], {
      upstream: url,
      record: 'nowhere/at/all.jsonl',
    });
    assert.equal(code, 2);
    assert.match(stdout, /^error\[double-bos/m);
    assert.match(stderr, /^--record is "nowhere\/at\/all\.jsonl", which does not exist; allowed: /);
    assert.ok(!existsSync(join(folder, 'nowhere')));
  });

  it('ends with a signal, saying nothing of answers that never came', async () => {
    const silent = await startUpstream(() => undefined);
    try {
      const stop = new AbortController();
      const running = check([clean], { upstream: silent.url }, { signal: stop.signal });
      const asked = await silent.exchange(0);
      stop.abort('SIGINT');
      await asked.closed;
      assert.deepEqual(await running, { code: 3, stdout: '', stderr: '' });
    } finally {
      await silent.close();
    }
  });
});
