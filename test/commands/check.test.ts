// `tokenweir check` on real engines: requests, traces, standard input, recordings with and without an engine, and what it
// says when an input or the engine is not there.
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { command } from '../../src/commands/check.ts';
import type { CommandContext } from '../../src/commands/command.ts';
import type { CheckResult, CheckSummary } from '../../src/check/result.ts';
import { startUpstream } from '../support/fake-upstream.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { runCommand, type Ran } from '../support/command-run.ts';
import { getTime, getWeather, S } from '../support/conversations.ts';
import { startLlamaServer } from '../support/llama-server/server.ts';
import { realEngine } from '../support/real-engine.ts';

const gemma3 = await realEngine('gemma3');
const qwen3 = await realEngine('qwen3');
const { skip } = gemma3;

const folder = mkdtempSync(join(tmpdir(), 'tokenweir-check-'));
after(() => {
  rmSync(folder, { recursive: true });
});

/** A file in a folder that only this test file has; its name. */
function file(name: string, content: object | string): string {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  return name;
}

function check(
  operands: readonly string[],
  flags: CommandContext['flags'] = {},
  rest: Partial<CommandContext> = {},
): Promise<Ran> {
  return runCommand(command, flags, { cwd: folder, operands, ...rest });
}

interface Document {
  readonly summary: CheckSummary;
  readonly results: readonly CheckResult[];
}

async function checkJson(
  operands: readonly string[],
  flags: CommandContext['flags'] = {},
): Promise<Document> {
  const { stdout } = await check(operands, { ...flags, json: true });
  return JSON.parse(stdout) as Document;
}

const rendered = '<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n';
const doubled = file('doubled.json', { prompt: `<bos>${rendered}`, n_predict: 4 });
const clean = file('clean.json', { messages: [{ role: 'user', content: 'Hi' }] });

describe('tokenweir check of requests', { skip }, () => {
  it('exits 1 for a doubled BOS, with its place, who did it and what to change', async () => {
    const { code, stdout, stderr } = await check([doubled], { upstream: (await gemma3.server()).url });
    assert.deepEqual([code, stderr], [1, '']);
    assert.match(stdout, /^doubled\.json\nerror\[double-bos;literal\] model gemma3, route completion\n/);
    assert.match(stdout, /^ +--> prompt, tokens 0–1$/m);
    assert.match(stdout, /^ 0 \| <bos> <bos> <start_of_turn> ‹.*\n {3}\| \^{11}$/m);
    assert.match(stdout, /^ {3}= culprit: client$/m);
    assert.match(stdout, /\n1 request: 0 clean, 1 error, 0 warnings, 0 notes\n$/);
  });

  it('exits 0 for a clean one, and says no more than that', async () => {
    const { code, stdout } = await check([clean], { upstream: (await gemma3.server()).url });
    assert.deepEqual([code, stdout], [0, '1 request: 1 clean, 0 errors, 0 warnings, 0 notes\n']);
  });

  it('reads standard input', async () => {
    const stdin = () => Promise.resolve(readFileSync(join(folder, doubled)));
    const { code, stdout } = await check(['-'], { upstream: (await gemma3.server()).url }, { stdin });
    assert.equal(code, 1);
    assert.match(stdout, /^-\nerror\[double-bos;literal\]/);
  });

  it('takes a folder whole, in alphabetical order, and ends with one line', async () => {
    file('fixtures/b/doubled.json', readFileSync(join(folder, doubled), 'utf8'));
    file('fixtures/a.jsonl', `{"prompt": ${JSON.stringify(rendered)}}\n{"prompt": "Hi there"}\n`);
    file('fixtures/README.md', 'not a fixture');
    const { code, stdout } = await check(['fixtures'], { upstream: (await gemma3.server()).url });
    assert.equal(code, 1);
    assert.deepEqual(
      [...stdout.matchAll(/^(\S+)\n\w+\[([^\]]+)\]/gm)].map(([, source, name]) => [source, name]),
      [
        ['fixtures/a.jsonl:2', 'raw-prompt;plain-text'],
        [join('fixtures', 'b', 'doubled.json'), 'double-bos;literal'],
      ],
    );
    assert.match(stdout, /\n3 requests: 1 clean, 1 error, 1 warning, 0 notes\n$/);
  });

  it('fails at the severity that --fail-on names', async () => {
    const { url } = await gemma3.server();
    const plain = file('plain.json', { prompt: 'Hi there' });
    assert.equal((await check([plain], { upstream: url })).code, 0);
    assert.equal((await check([plain], { upstream: url, failOn: 'warning' })).code, 1);
    assert.equal((await check([clean], { upstream: url, failOn: 'info' })).code, 0);
  });

  it('holds no text back where the operator asks to see it, and all of it where not', async () => {
    const { url } = await gemma3.server();
    const secret = file('secret.json', { prompt: '<bos><start_of_turn>user\nXylophone' });
    for (const flags of [{}, { json: true }]) {
      assert.doesNotMatch((await check([secret], { upstream: url, ...flags })).stdout, /ophone/);
    }
    assert.match((await check([secret], { upstream: url, showText: true })).stdout, /"\\n" "X/);
  });

  it('follows the configuration, as the proxy does', async () => {
    const { url } = await gemma3.server();
    const config = file('proxy-off.yaml', `upstream:\n  url: ${url}\nmodels:\n  gemma3:\n    kind: base\n`);
    const plain = file('plain.json', { prompt: 'Hi there' });
    assert.equal((await check([plain], { config, failOn: 'info' })).code, 0);
    const exempt = file('exempt.yaml', 'inspection:\n  exempt:\n    - route: completion\n');
    const { code, stdout } = await check([doubled], { config: exempt, upstream: url });
    assert.deepEqual(
      [code, stdout.split('\n').at(-2)],
      [0, '1 request: 0 clean, 0 errors, 0 warnings, 0 notes, 1 not known'],
    );
  });

  it('reads no more of a body than the proxy would', async () => {
    const env = { TOKENWEIR_LIMITS_REQUEST_BYTES: '1KiB' };
    const large = file('large.json', { prompt: `<bos>${'weir '.repeat(300)}` });
    const { code, stdout } = await check([large], { upstream: (await gemma3.server()).url }, { env });
    assert.equal(code, 3);
    assert.match(stdout, /^large\.json\nnot known: body-too-large /);
  });

  it('does not call clean what is not known', async () => {
    const { url } = await gemma3.server();
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const media = file('media.json', { messages: [{ role: 'user', content: [image] }] });
    const { code, stdout } = await check([media], { upstream: url });
    assert.equal(code, 3);
    assert.match(
      stdout,
      /^media\.json\nnot known: \S+ \(docs\/errors\.md\)\n\n1 request: 0 clean, .*, 1 not known\n$/,
    );
    assert.equal((await check([media], { upstream: url, allowUnknown: true })).code, 0);
  });
});

describe('tokenweir check of traces', { skip }, () => {
  const messages = [{ role: 'user', content: 'Hi' }];

  it('tells what was wrong then from what is so today', async () => {
    const { url } = await gemma3.server();
    const trace = file('trace.json', { messages, rendered_request: `<bos><bos>${rendered}` });
    const { code, stdout } = await check([trace], { upstream: url });
    assert.equal(code, 1);
    assert.match(stdout, /^trace\.json, a trace\nwrong then, not today:\nerror\[double-bos/);
    assert.doesNotMatch(stdout, /changed:/);
    assert.match(stdout, /^warning\[moved since;wire-format\] model gemma3$/m);
    assert.match(stdout, /^ +--> token 1$/m);
    assert.match(
      stdout,
      /^ {2}then \| <bos> <bos> <start_of_turn> .*\n +\| {7}\^{5}\n today \| <bos> <start_of_turn> /m,
    );
  });

  it('shows ordinary tokens of either side only where the operator asks for them', async () => {
    const { url } = await gemma3.server();
    const rendered_request = rendered.replace('Hi', 'Xylophone');
    const trace = file('trace.json', { messages: [{ role: 'user', content: 'Zither' }], rendered_request });
    for (const flags of [{}, { json: true }]) {
      assert.doesNotMatch((await check([trace], { upstream: url, ...flags })).stdout, /ophone|ither/);
    }
    const { stdout } = await check([trace], { upstream: url, showText: true });
    assert.match(stdout, /^ {2}then \| .*"X" "yl".*\n[^]*^ today \| .*"Z"/m);
  });

  it('finds nothing where the prompt is what the engine makes of it, with BOS written or not, or as ids', async () => {
    const { url } = await gemma3.server();
    const ids = [2, 105, 2364, 107, 10_979, 106, 107, 105, 4368, 107];
    for (const prompt of [rendered, `<bos>${rendered}`, ids]) {
      const trace = file('trace.json', { messages, rendered_request: prompt });
      const { code, stdout } = await check([trace], { upstream: url, failOn: 'info' });
      assert.deepEqual(
        [code, stdout],
        [0, '1 request: 1 clean, 0 errors, 0 warnings, 0 notes, 0 moved since\n'],
      );
    }
  });

  it('reads the end of a prompt: a think tail that the client switched on since', async () => {
    const text =
      '<|im_start|>system\nYou are terse.<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n';
    const { url } = await qwen3.server();
    const trace = { messages: S[0], rendered_request: text };
    const same = await checkJson([file('qwen.json', trace)], { upstream: url });
    assert.deepEqual([same.results[0]?.then?.promptTokens, same.results[0]?.moved], [[25], []]);
    const quiet = file('qwen.json', { ...trace, chat_template_kwargs: { enable_thinking: false } });
    const { moved = [] } = (await checkJson([quiet], { upstream: url })).results[0]!;
    assert.deepEqual([moved[0]?.position, moved[0]?.depth], [25, 'generation-prompt']);
    assert.match(moved[0]?.message ?? '', /^Today's prompt goes on .* 4 tokens: exactly the think tail\.$/);
  });

  it('reads the end of a prompt: a generation prompt that was not there', async () => {
    const trace = file('trace.json', {
      messages,
      rendered_request: rendered.replace(/<start_of_turn>model\n$/, ''),
    });
    const { moved } = (await checkJson([trace], { upstream: (await gemma3.server()).url })).results[0]!;
    assert.deepEqual(
      moved?.map(({ position, depth }) => [position, depth]),
      [[7, 'generation-prompt']],
    );
    assert.match(
      moved[0]?.message ?? '',
      /^Today's prompt goes on .* 3 tokens: exactly the generation prompt\.$/,
    );
  });
});

describe('tokenweir check of recordings', { skip }, () => {
  it('judges them without any engine, as when they were recorded', async () => {
    const { url } = await gemma3.server();
    const live = await check([doubled, clean], { upstream: url, record: 'frozen.jsonl' });
    assert.equal(live.code, 1);
    assert.equal(live.stderr, 'frozen.jsonl: 2 recorded, prompts and ids included\n');
    assert.equal(statSync(join(folder, 'frozen.jsonl')).mode & 0o777, 0o600);
    const { code, stdout } = await check(['frozen.jsonl']);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^frozen\.jsonl:3, recorded 20\S+Z from build \S+\nwrong then:\nerror\[double-bos;literal\]/,
    );
    const pseudonyms = /‹[^›]+›/g;
    const block = (text: string): string | undefined =>
      /^error\[[^]*?\n\n/m.exec(text)?.[0].replaceAll(pseudonyms, '‹›');
    assert.equal(block(stdout), block(live.stdout));
    assert.match(stdout, /\n2 requests: 1 clean, 1 error, 0 warnings, 0 notes\n$/);
  });

  it('tells that nothing has moved, and what was wrong then and still is', async () => {
    const { url } = await gemma3.server();
    await check([doubled, clean], { upstream: url, record: 'still.jsonl' });
    const { code, stdout } = await check(['still.jsonl'], { upstream: url });
    assert.equal(code, 1);
    assert.match(stdout, /\nwrong then and today:\nerror\[double-bos/);
    assert.match(stdout, /\n2 requests: 1 clean, 1 error, 0 warnings, 0 notes, 0 moved since\n$/);
  });

  it('takes exchanges of one conversation in order, each compared with the one before', async () => {
    const { url } = await qwen3.server();
    const turns = [
      { messages: S[0], tools: [getWeather, getTime] },
      { messages: S[1], tools: [getTime, getWeather] },
      { messages: S[2], tools: [getTime, getWeather] },
    ].map((body, index) => file(`turn-${index}.json`, body));
    const { code } = await check(turns, {
      upstream: url,
      session: 'mine',
      record: 'turns.jsonl',
      failOn: 'warning',
    });
    assert.equal(code, 1);
    const { results, summary } = await checkJson(['turns.jsonl']);
    assert.deepEqual(
      results.map(({ then }) => then?.findings.map(({ kind, cause, field }) => [kind, cause, field])),
      [[], [['prefix-break', 'tools-reordered', 'tools[0]']], []],
    );
    assert.deepEqual([summary.warnings, summary.clean], [1, 2]);
    // The same files without a common name are strangers to each other.
    assert.equal((await check(turns, { upstream: url, failOn: 'warning' })).code, 0);
  });

  it('says of a template that writes the date that the day is another', async () => {
    const chatTemplate = `{{ strftime_now("%Y-%m-%d") }}${templates.plain}`;
    const server = await startLlamaServer({ model: await model(chatTemplate) });
    try {
      await check([clean], { upstream: server.url, record: 'dated.jsonl' });
      const text = readFileSync(join(folder, 'dated.jsonl'), 'utf8');
      file('old.jsonl', text.replace(/"date":"[^"]*"/, '"date":"2020-02-29T12:00:00.000Z"'));
      const changed = async (name: string) =>
        (await checkJson([name], { upstream: server.url })).results[0]?.factsChanged;
      assert.deepEqual([await changed('dated.jsonl'), await changed('old.jsonl')], [[], ['date']]);
    } finally {
      await server.stop();
    }
  });

  const turn = '{{ "<|u|>" + m.content + "<|e|>" }}';
  const templates = {
    plain: `{% for m in messages %}${turn}{% endfor %}{% if add_generation_prompt %}<|a|>{% endif %}`,
    framed: `<|s|>{% for m in messages %}${turn}{% endfor %}{% if add_generation_prompt %}<|a|>{% endif %}`,
    shouting: `{% for m in messages %}${turn.replace('m.content', 'm.content|replace("weir", "WEIR")')}{% endfor %}{% if add_generation_prompt %}<|a|>{% endif %}`,
    silent: `{% for m in messages %}${turn}{% endfor %}`,
  };
  const model = (chatTemplate: string) =>
    byteModelFile({ name: 'moved', markers: ['<|u|>', '<|a|>', '<|e|>', '<|s|>'], chatTemplate });
  const plain = realEngine(() => model(templates.plain));

  const moves: readonly (readonly [
    name: keyof typeof templates,
    position: number,
    depth: string,
    says: RegExp,
  ])[] = [
    ['framed', 0, 'wire-format', /from the first token on: .* wire format/],
    // <|u|> A space w: the fourth character of the text is the first to change.
    ['shouting', 3, 'content', /the same for 3 tokens of \d+, so the wire format is/],
    [
      'silent',
      8,
      'generation-prompt',
      /^The recorded prompt goes on .* 1 token: exactly the generation prompt\.$/,
    ],
  ];
  for (const [name, position, depth, says] of moves) {
    it(`tells where the engine renders them differently today: ${depth}`, async () => {
      const request = file('weir.json', { messages: [{ role: 'user', content: 'A weir' }] });
      const record = `before-${name}.jsonl`;
      await check([request], { upstream: (await (await plain).server()).url, record });
      const today = await startLlamaServer({ model: await model(templates[name]) });
      try {
        const { results } = await checkJson([record], { upstream: today.url });
        const [moved] = results[0]?.moved ?? [];
        assert.deepEqual([moved?.position, moved?.depth], [position, depth]);
        assert.match(moved?.message ?? '', says);
        assert.deepEqual(results[0]?.factsChanged, ['template']);
        const human = await check([record], { upstream: today.url });
        assert.match(human.stdout, new RegExp(`^warning\\[moved since;${depth}\\] model moved$`, 'm'));
        assert.match(human.stdout, /^ += changed: template$/m);
        assert.match(human.stdout, /, 1 moved since\n$/);
        // Moved is no error by itself; who keeps recordings to be told asks for warnings. Text that became another is lost.
        assert.equal(human.code, depth === 'content' ? 1 : 0);
        assert.equal((await check([record], { upstream: today.url, failOn: 'warning' })).code, 1);
        assert.equal(
          (await check([record], { upstream: today.url, failOn: 'warning', frozen: true })).code,
          0,
        );
      } finally {
        await today.stop();
      }
    });
  }
});

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

describe('docs/check.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/check.md'), 'utf8');
  const [report = '', movement = ''] = [...page.matchAll(/^```text\n([^]*?)^```$/gm)].map(
    ([, block]) => block,
  );
  /** Pseudonyms differ from run to run. */
  const general = (text: string): string => text.replaceAll(/‹[^›]+›/g, '‹›');

  it('shows what is printed', { skip }, async () => {
    const upstream = (await gemma3.server()).url;
    assert.equal(general((await check([doubled], { upstream })).stdout), general(report));
    const trace = file('trace.json', {
      messages: [{ role: 'user', content: 'Hi' }],
      rendered_request: `<bos><bos>${rendered}`,
    });
    const { stdout } = await check([trace], { upstream });
    assert.ok(movement !== '' && general(stdout).includes(general(movement)), general(stdout));
  });

  it('lists every option, and every depth', () => {
    const rows = [...page.matchAll(/^\| (`--.*?) +\|/gm)].map(([, cell = '']) => cell).join(' ');
    for (const { flags } of command.options) assert.ok(rows.includes(flags.split(' ')[0] ?? flags), flags);
    for (const depth of ['wire-format', 'content', 'generation-prompt']) {
      assert.match(page, new RegExp(`^\\| \`${depth}\` +\\|`, 'm'));
    }
  });
});
