// `tokenweir doctor` against real engines: what it says of real families, odd models, routers, sleepers, and of nobody.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { command } from '../../src/commands/doctor.ts';
import type { CommandContext } from '../../src/commands/command.ts';
import { missingUpstream } from '../../src/commands/missing-upstream.ts';
import { startDemoEngine } from '../../src/demo/engine.ts';
import { adviceIds, type Diagnosis } from '../../src/doctor/diagnosis.ts';
import { runCommand } from '../support/command-run.ts';
import { startUpstream, type Answer } from '../support/fake-upstream.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { startLlamaServer } from '../support/llama-server/server.ts';
import { postJson } from '../support/post-json.ts';
import { realEngine } from '../support/real-engine.ts';

function doctor(flags: CommandContext['flags'], rest: Partial<CommandContext> = {}) {
  return runCommand(command, flags, rest);
}

async function adviceOf(upstream: string): Promise<string[]> {
  const { stdout } = await doctor({ upstream, json: true });
  const diagnosis = JSON.parse(stdout) as Diagnosis;
  assert.ok(diagnosis.known);
  return diagnosis.advice.map(({ id, severity }) => `${severity} ${id}`);
}

const qwen3 = await realEngine('qwen3');
const gemma3 = await realEngine('gemma3');
const llama31 = await realEngine('llama3.1');
const { skip } = qwen3;

const renderedQ =
  '<|im_start|>system\nYou are terse.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n';

describe('tokenweir doctor on real families', { skip }, () => {
  it('Qwen3: no BOS anywhere, a think tail of 4 tokens', async () => {
    const { url } = await qwen3.server();
    const { code, stdout, stderr } = await doctor({ upstream: url });
    assert.equal(code, 0);
    assert.equal(stderr, '');
    assert.match(stdout, /^ {2}kind {5}llama-server, build \S+$/m);
    assert.match(stdout, /^ {2}context {2}32768 tokens per slot, 2 slots; the model was trained for 65536$/m);
    assert.match(stdout, /^ {2}first line {9}\{%- if tools %\}$/m);
    assert.match(stdout, /^ {2}user +<\|im_start\|>user\\n$/m);
    assert.match(stdout, /^ {2}turn end +<\|im_end\|>$/m);
    assert.match(
      stdout,
      /^ {2}generation prompt {2}<\|im_start\|>assistant\\n {2}3 tokens: {2}151644 77091 198$/m,
    );
    assert.match(
      stdout,
      /^ {2}think tail .*<think>\\n\\n<\/think>\\n\\n {2}4 tokens: {2}151667 271 151668 271$/m,
    );
    assert.match(stdout, /^ {2}\/v1\/chat\/completions {2}none$/m);
    assert.match(stdout, /^ {2}\/completion {11}none added to text$/m);
    assert.match(stdout, /^ {2}info {5}no-bos$/m);
    assert.match(stdout, /^ {2}info {5}think-tail$/m);
    assert.match(stdout, /^ {2}info {5}content-lost;reasoning\n +With reasoning of an earlier answer: /m);
    assert.match(stdout, /^ {2}info {5}parameter-ignored;thinking\n +The engine ignores thinking: /m);
    assert.match(stdout, /^ {2}info {5}tools-dropped;tool-member\n/m);
    assert.doesNotMatch(stdout, /tools-dropped;(?:all|some)-tools/);
    assert.match(stdout, /\n0 errors, 0 warnings, 22 notes\n$/);
  });

  it('Qwen3: the text table shows 25 ids with specials parsed and 46 without', async () => {
    const { url } = await qwen3.server();
    const { stdout } = await doctor({ upstream: url, text: renderedQ });
    assert.match(stdout, /^ {2}parse_special {2}add_special {2}tokens {2}ids$/m);
    assert.match(stdout, /^ {2}true {11}true {13}25 {2}A {2}as the routes that take text read it$/m);
    assert.match(stdout, /^ {2}true {11}false {12}25 {2}A$/m);
    assert.match(stdout, /^ {2}false {10}true {13}46 {2}B$/m);
    assert.match(stdout, /^ {2}false {10}false {12}46 {2}B$/m);
    assert.match(stdout, /^ {2}A {2}151644 <\|im_start\|> {2}8948 "system" {2}198 "\\n" {2}2610 "You"/m);
    assert.match(stdout, /^ {2}B {2}27 "<" {2}91 "\|" {2}318 "im" {2}4906 "_start"/m);
  });

  it('Gemma 3: <bos> is added to text, so that clients that render it themselves get two', async () => {
    const { url } = await gemma3.server();
    const { stdout } = await doctor({ upstream: url, text: '<bos>Hi' });
    assert.match(stdout, /^ {2}\/v1\/chat\/completions {2}starts with <bos> \(id 2\)$/m);
    assert.match(stdout, /^ {2}\/v1\/completions {7}<bos> \(id 2\) added in front of text$/m);
    assert.match(stdout, /^ {2}think tail +none: thinking off adds nothing$/m);
    assert.match(stdout, /^ {2}warning {2}bos-added-to-text\n.*\n.*get two BOS tokens/m);
    assert.match(stdout, /^ {2}A {2}2 <bos> {2}2 <bos> {2}10979 "Hi"$/m);
  });

  it('Gemma 3: tools are dropped, and what the template does not take is refused', async () => {
    const { stdout } = await doctor({ upstream: (await gemma3.server()).url, json: true });
    const diagnosis = JSON.parse(stdout) as Diagnosis;
    assert.ok(diagnosis.known);
    const told = diagnosis.observed.map(({ id, severity, sends }) => `${severity} ${id} with ${sends}`);
    assert.deepEqual(
      told.filter((line) => !line.includes('parameter-ignored')),
      [
        'warning tools-dropped;all-tools with a tool',
        'info content-lost;developer-as-system with a developer message',
        'info content-lost;reasoning with reasoning of an earlier answer',
        'info content-lost;speaker-names with names of several speakers',
        'info refused with a second system message',
        'info refused with a loop of tools with reasoning',
        'info refused with a tool and its result in blocks on /v1/messages',
        'info refused with a tool and its result as items on /v1/responses',
      ],
    );
    const refused = diagnosis.observed.filter(({ id }) => id === 'refused').map(({ message }) => message);
    const words = 'Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...';
    assert.deepEqual([...new Set(refused)], [`The engine refuses the request: ${words}`]);
  });

  it('Llama 3.1: role markers of several tokens', async () => {
    const { url } = await llama31.server();
    const { stdout } = await doctor({ upstream: url });
    assert.match(stdout, /^ {2}user +<\|start_header_id\|>user<\|end_header_id\|>\\n\\n$/m);
    assert.match(stdout, /^ {2}\/completion +<\|begin_of_text\|> \(id 128000\) added in front of text$/m);
  });

  it('shows the bytes of a token that is a part of a character', async () => {
    const { url } = await llama31.server();
    const { stdout } = await doctor({ upstream: url, text: '🙂' });
    assert.match(stdout, /^ {2}B {2}9468 "\\xf0\\x9f" {2}19044 "\\x99\\x82"$/m);
  });

  it('exits 1 if there is advice that --fail-on names, or graver', async () => {
    const [qwen, gemma] = [(await qwen3.server()).url, (await gemma3.server()).url];
    assert.equal((await doctor({ upstream: gemma, failOn: 'warning' })).code, 1);
    assert.equal((await doctor({ upstream: gemma, failOn: 'error' })).code, 0);
    assert.equal((await doctor({ upstream: qwen, failOn: 'warning' })).code, 0);
    assert.equal((await doctor({ upstream: qwen, failOn: 'info' })).code, 1);
  });
});

describe('docs/doctor.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/doctor.md'), 'utf8');
  const [report = '', table = ''] = [...page.matchAll(/^```text\n([^]*?)^```$/gm)].map(([, block]) => block);
  /** What differs from machine to machine. */
  const general = (text: string) => text.replace(/^ {2}(?:address|kind|file) .*$/gm, '');

  it('shows what the doctor prints', { skip }, async () => {
    const { stdout } = await doctor({ upstream: (await gemma3.server()).url });
    assert.equal(general(stdout), general(report));
  });

  it('shows the text table as the doctor prints it', { skip }, async () => {
    const { stdout } = await doctor({ upstream: (await qwen3.server()).url, text: renderedQ });
    assert.ok(table.length > 0 && stdout.includes(`\n${table}\n`), table);
  });

  it('lists every kind of advice', () => {
    for (const id of adviceIds)
      assert.match(page, new RegExp(`^\\| \`${id}\` +\\| (info|warning|error) `, 'm'));
  });
});

describe('tokenweir doctor on odd models', { skip }, () => {
  const repeating = '{{ bos_token }}{{ bos_token }}{{ strftime_now("%Y-%m-%d") }}';
  const turns = '{% for m in messages %}<|begin|>{{ m.role }}\n{{ m.content }}<|end|>{% endfor %}';

  it('a template that repeats BOS, writes the date and holds an escape sequence; one slot', async () => {
    const file = await byteModelFile({
      name: 'odd',
      markers: ['<|bos|>', '<|begin|>', '<|end|>'],
      bos: '<|bos|>',
      addBos: true,
      chatTemplate: `{# \u001b[31m #}${repeating}${turns}`,
    });
    const server = await startLlamaServer({ model: file, args: ['--parallel', '1', '--ctx-size', '65536'] });
    try {
      assert.deepEqual(await adviceOf(server.url), [
        'error chat-bos-repeated',
        'warning bos-added-to-text',
        'warning template-writes-date',
        'info raw-text-untemplated',
        'info markers-in-user-text',
        'info one-slot',
      ]);
      const { stdout } = await doctor({ upstream: server.url });
      assert.match(stdout, /^ {2}first line +\{# \\x1b\[31m #\}/m);
      assert.match(
        stdout,
        /^ {2}\/v1\/chat\/completions {2}starts with <\|bos\|> \(id \d+\) <\|bos\|> \(id \d+\)$/m,
      );
      assert.match(stdout, /^ {2}date +writes today's date$/m);
    } finally {
      await server.stop();
    }
  });

  it('a template that writes the only BOS', async () => {
    const file = await byteModelFile({
      name: 'template-bos',
      markers: ['<|bos|>', '<|begin|>', '<|end|>'],
      bos: '<|bos|>',
      chatTemplate: `{{ bos_token }}${turns}`,
    });
    const server = await startLlamaServer({ model: file });
    try {
      assert.ok((await adviceOf(server.url)).includes('warning text-without-bos'));
    } finally {
      await server.stop();
    }
  });

  it('a template that refuses a second question: of its form nothing is said to be absent', async () => {
    const file = await byteModelFile({
      name: 'single-turn',
      markers: ['<|begin|>', '<|end|>'],
      chatTemplate: `{% if messages|length > 1 %}{{ raise_exception("One message.") }}{% endif %}${turns}<|begin|>assistant\n`,
    });
    const server = await startLlamaServer({ model: file });
    try {
      const { stdout } = await doctor({ upstream: server.url });
      for (const row of ['date', 'roles', 'generation prompt', 'think tail']) {
        assert.match(stdout, new RegExp(`^  ${row} +not seen: a plain conversation is refused$`, 'm'));
      }
      assert.match(stdout, /^ {2}warning {2}refused\n +With a plain conversation: /m);
    } finally {
      await server.stop();
    }
  });

  it('a model without a template, for which the engine falls back on one of another family', async () => {
    const server = await startLlamaServer({ model: await byteModelFile({ name: 'plain', markers: [] }) });
    try {
      const { stdout } = await doctor({ upstream: server.url });
      assert.match(stdout, /^ {2}error {4}template-missing;engine-default\n +With a plain conversation: /m);
    } finally {
      await server.stop();
    }
  });
});

describe('tokenweir doctor where it can say nothing', () => {
  it('a router: asks for --model, loads none, and examines one that is loaded', { skip }, async () => {
    const models = await mkdtemp(join(tmpdir(), 'tokenweir-doctor-'));
    const file = await byteModelFile({ name: 'plain', markers: [] });
    await copyFile(file, join(models, 'first.gguf'));
    await copyFile(file, join(models, 'second.gguf'));
    const server = await startLlamaServer({ args: ['--models-dir', models] });
    const upstream = server.url;
    try {
      const unnamed = await doctor({ upstream });
      assert.equal(unnamed.code, 2);
      assert.match(
        unnamed.stderr,
        /routes to several models\. It lists first \(unloaded\), second \(unloaded\)\./,
      );
      const unloaded = await doctor({ upstream, model: 'first' });
      assert.equal(unloaded.code, 3);
      assert.match(unloaded.stderr, /"first" at \S+ is unloaded/);
      assert.equal((await doctor({ upstream, model: 'third' })).code, 2);
      await postJson(`${upstream}/tokenize`, { content: 'a', model: 'first' });
      const { code, stdout } = await doctor({ upstream, model: 'first', text: 'a the' });
      assert.equal(code, 0);
      assert.match(stdout, /^ {2}model {4}first$/m);
      assert.match(stdout, /^ {2}A {2}97 "a" {2}258 " the"$/m);
      assert.match((await doctor({ upstream })).stderr, /first \(loaded\), second \(unloaded\)/);
    } finally {
      await server.stop();
      await rm(models, { recursive: true });
    }
  });

  it('a sleeping engine: exit 3, and it sleeps on', { skip }, async () => {
    const model = await byteModelFile({ name: 'plain', markers: [] });
    const server = await startLlamaServer({ model, args: ['--sleep-idle-seconds', '1'] });
    try {
      await server.waitForLog(/entering sleeping state/);
      const { code, stderr, stdout } = await doctor({ upstream: server.url, text: 'a' });
      assert.equal(code, 3);
      assert.match(stderr, /sleeps\. A question would wake it/);
      assert.equal(stdout, '');
      const props = (await (await fetch(`${server.url}/props`)).json()) as { is_sleeping: boolean };
      assert.equal(props.is_sleeping, true);
    } finally {
      await server.stop();
    }
  });

  it('an engine with a key: exit 2 without it, a report with it', { skip }, async () => {
    const model = await byteModelFile({ name: 'plain', markers: [] });
    const server = await startLlamaServer({ model, args: ['--api-key', 'sesame'] });
    try {
      const without = await doctor({ upstream: server.url });
      assert.equal(without.code, 2);
      assert.match(without.stderr, /TOKENWEIR_UPSTREAM_API_KEY/);
      const env = { TOKENWEIR_UPSTREAM_API_KEY: 'sesame' };
      const { code, stdout } = await doctor({ upstream: server.url }, { env });
      assert.equal(code, 0);
      assert.doesNotMatch(stdout, /sesame/);
    } finally {
      await server.stop();
    }
  });

  const loading = '{"error":{"message":"Loading model","type":"unavailable_error","code":503}}';
  const others: readonly (readonly [name: string, answer: Answer, code: number, says: RegExp])[] = [
    ['loads', (to) => to.reply('503 Service Unavailable', '', loading), 3, /still loading/],
    ['is a web site', (to) => to.reply('200 OK', '', '<html>'), 3, /not as an engine that Tokenweir knows/],
    ['has no such path', (to) => to.reply('404 Not Found', '', '{}'), 3, /not as an engine/],
  ];
  for (const [name, answer, code, says] of others) {
    it(`what answers ${name}`, async () => {
      const upstream = await startUpstream(answer);
      try {
        const run = await doctor({ upstream: upstream.url });
        assert.equal(run.code, code);
        assert.match(run.stderr.replaceAll('\n', ' '), says);
        const { stdout } = await doctor({ upstream: upstream.url, json: true });
        assert.equal((JSON.parse(stdout) as Diagnosis).known, false);
      } finally {
        await upstream.close();
      }
    });
  }

  it('nobody answers: exit 3', async () => {
    const { code, stderr } = await doctor({ upstream: 'http://127.0.0.1:1' });
    assert.equal(code, 3);
    assert.match(stderr, /^Nothing answers at http:\/\/127\.0\.0\.1:1\.\n/);
  });

  it('a signal ends the questions under way', async () => {
    const upstream = await startUpstream(() => undefined);
    try {
      const stop = new AbortController();
      const running = doctor({ upstream: upstream.url }, { signal: stop.signal });
      const asked = await upstream.exchange(0);
      stop.abort('SIGINT');
      await asked.closed;
      assert.deepEqual(await running, { code: 3, stdout: '', stderr: '' });
    } finally {
      await upstream.close();
    }
  });
});

describe('tokenweir doctor', () => {
  it('examines the demo engine', async () => {
    const engine = await startDemoEngine();
    try {
      const { code, stdout } = await doctor({ upstream: engine.url, text: '<bos>hi' });
      assert.equal(code, 0);
      assert.match(stdout, /^ {2}model {4}tokenweir-demo$/m);
      assert.match(stdout, /^ {2}A {2}476 <bos> {2}476 <bos> {2}343 "hi"$/m);
      assert.match(stdout, /^ {2}think tail .*6 tokens:/m);
      assert.ok(!stdout.includes('\u001b'));
      assert.ok((await doctor({ upstream: engine.url }, { colors: true })).stdout.includes('\u001b['));
    } finally {
      await engine.close();
    }
  });

  it('exits 2 for a severity that there is not', async () => {
    const { code, stderr } = await doctor({ upstream: 'http://127.0.0.1:1', failOn: 'fatal' });
    assert.equal(code, 2);
    assert.equal(stderr, '--fail-on is "fatal"; allowed: info, warning, error\n');
  });

  it('exits 2 with all mistakes of the configuration', async () => {
    const { code, stderr } = await doctor({ upstream: 'ftp://x', engine: 'x' });
    assert.equal(code, 2);
    assert.match(stderr, /engine\.kind[^]*upstream\.url[^]*2 mistakes/);
  });

  it('without an upstream exits 2', async () => {
    const { code, stderr } = await doctor({});
    assert.equal(code, 2);
    assert.match(stderr, /^upstream\.url is not set; allowed: --upstream URL/);
  });
});

describe('without an upstream', () => {
  it('names the engines whose ports answer, and only those', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    const closed = createServer().listen(0, '127.0.0.1');
    await Promise.all([once(listener, 'listening'), once(closed, 'listening')]);
    const { port } = listener.address() as AddressInfo;
    const { port: unused } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const ports = [
      { port, engine: 'this' },
      { port: unused, engine: 'that' },
    ];
    const answer = (name: string, usual: typeof ports) =>
      runCommand({ ...command, run: (context) => missingUpstream(context, name, usual) }, {});
    const { code, stderr } = await answer('doctor', ports);
    assert.equal(code, 2);
    assert.match(
      stderr,
      new RegExp(`this's usual port\\): tokenweir doctor --upstream http://127\\.0\\.0\\.1:${port}\n$`),
    );
    assert.doesNotMatch(stderr, /that/);
    listener.close();
    const none = await answer('serve', ports.slice(1));
    assert.match(none.stderr, new RegExp(`usual local ports \\(${unused}\\)\\. Try "tokenweir demo"`));
  });
});
