// What `serve --record` keeps of real traffic, and what `check` finds in it afterwards without any engine.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { openCheckFolder } from '../support/check-folder.ts';
import { gatedEngine } from '../support/gated-engine.ts';
import { realEngine } from '../support/real-engine.ts';
import { send } from '../support/exchanges.ts';
import { ServeProcess } from '../support/serve-process.ts';

const engine = await realEngine('qwen3');
const { skip } = engine;
const { folder, file, check, checkJson } = openCheckFolder();
const out = mkdtempSync(join(tmpdir(), 'tokenweir-recorded-'));
after(() => {
  rmSync(out, { recursive: true });
});

const question = [{ role: 'user', content: 'Name a lake in the Alps.' }];

interface Recorded {
  readonly type: string;
  readonly body: string;
  readonly reply?: { readonly choices: readonly Readonly<Record<string, unknown>>[] };
}

const exchangesIn = (text: string): readonly Recorded[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded)
    .filter(({ type }) => type === 'exchange');

describe('serve --record', { skip }, () => {
  it('keeps what the engine said of its answers, of which check says what serve has said', async (t) => {
    const gated = await gatedEngine((await engine.server()).url);
    t.after(() => gated.close());
    const recording = join(out, 'live.jsonl');
    const serve = new ServeProcess(t, {
      flags: ['--upstream', gated.url, '--record', recording],
      env: { TOKENWEIR_INSPECTION_BUDGET_MS: '20000' },
    });
    const { listen } = (await serve.line(({ msg }) => msg === 'tokenweir serves')) as { listen: string };
    const path = '/v1/chat/completions';
    // Four tokens are a limit of the client's own; the engine's account of a prompt that it has cut is not its own.
    const { json: cut } = await send(listen + path, { messages: question, max_tokens: 4 });
    gated.answer(path, {
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Como. Very deep.' } },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
    });
    const long = [{ role: 'user', content: 'A lake. '.repeat(80) }];
    await send(listen + path, { messages: long, max_tokens: 64 });
    gated.answer(path, { error: { code: 500, message: 'no', type: 'server_error' } });
    await send(listen + path, { messages: question, max_tokens: 64 });
    serve.signal('SIGTERM');
    assert.equal(await serve.ended, 0);
    const closed = serve.lines.find(({ msg }) => msg === 'recording closed');
    assert.deepEqual([closed?.['recorded'], closed?.['leftOut']], [3, 0]);

    const text = readFileSync(recording, 'utf8');
    assert.equal(statSync(recording).mode & 0o777, 0o600);
    const recorded = exchangesIn(text);
    const { choices } = recorded[0]?.reply ?? { choices: [] };
    assert.equal(choices.length, 1);
    const usage = cut['usage'] as Record<string, number>;
    assert.equal(choices[0]?.['promptTokens'], usage['prompt_tokens']);
    assert.equal(choices[0]?.['finishReason'], 'length');
    // No word of an answer, nor the ids of one.
    assert.ok(!text.includes('Very deep'));
    assert.ok(!text.includes('generatedIds'));

    const { results, summary } = await checkJson([recording]);
    const said = results.map(({ then }) =>
      then !== undefined && 'findings' in then.reply
        ? then.reply.findings.map(({ kind, cause, severity }) => [kind, cause, severity])
        : then?.reply,
    );
    assert.deepEqual(said, [
      [['output-truncated', 'own-limit', 'info']],
      [['prompt-truncated', 'within-context', 'error']],
      [],
    ]);
    assert.equal(summary.repliesNotRecorded, 0);
    const live = serve.lines
      .filter(({ event }) => event === 'finding')
      .map(({ kind, cause, severity }) => [kind, cause, severity]);
    for (const one of said.flat())
      assert.ok(
        live.some((other) => String(other) === String(one)),
        String(one),
      );

    const human = await check([recording]);
    assert.equal(human.code, 1);
    assert.match(human.stdout, /\nwrong in the reply then:\nerror\[prompt-truncated;/);
    const { stdout } = await check([recording], { upstream: (await engine.server()).url });
    assert.match(stdout, /\nwrong in the reply then:\nerror\[prompt-truncated;/);
  });

  it('says that there is no reply to judge where a check made the recording', async () => {
    const { url } = await engine.server();
    const request = file('question.json', { messages: question });
    const live = await checkJson([request], { upstream: url, record: 'unanswered.jsonl' });
    assert.deepEqual(live.results[0]?.now?.reply, { unknown: 'not-generated' });
    const { results, summary } = await checkJson(['unanswered.jsonl']);
    assert.deepEqual(results[0]?.then?.reply, { unknown: 'not-recorded' });
    assert.equal(summary.repliesNotRecorded, 1);
    const { stdout, code } = await check(['unanswered.jsonl']);
    assert.match(stdout, /^1 request: 1 clean, 0 errors, 0 warnings, 0 notes, 1 reply not recorded\n$/);
    assert.equal(code, 0);
  });

  it('writes over no file that is there', async (t) => {
    const name = file('taken.jsonl', 'mine');
    const taken = join(folder, name);
    const serve = new ServeProcess(t, { flags: ['--upstream', 'http://127.0.0.1:9', '--record', taken] });
    assert.equal(await serve.ended, 2);
    assert.match(
      serve.stderr,
      /^--record is ".*taken\.jsonl", which exists already; allowed: the name of a new file\n$/,
    );
    assert.equal(readFileSync(taken, 'utf8'), 'mine');
  });
});
