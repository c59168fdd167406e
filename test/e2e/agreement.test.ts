// `serve` and `check` run the same pipeline: of the same requests they say the same, finding by finding, and `check` says
// it once more of what it has recorded, without the engine.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { CheckResult } from '../../src/check/result.ts';
import { command } from '../../src/commands/check.ts';
import { detectors } from '../../src/detectors/index.ts';
import { runCommand } from '../support/command-run.ts';
import { getTime, getWeather, S } from '../support/conversations.ts';
import { send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { testedEngine } from '../support/tested-engine.ts';

type Request = readonly [path: string, body: object];

const chat = (body: object): Request => ['/v1/chat/completions', { max_tokens: 1, ...body }];
const text = (prompt: unknown): Request => ['/v1/completions', { max_tokens: 1, prompt }];
const anthropic = (body: object): Request => ['/v1/messages', { max_tokens: 1, ...body }];

const families = {
  gemma3: [
    text('<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n'),
    text(['Hi there', '<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n', '<bos><bos>']),
    text([2, 2, 105, 2364, 107]),
    chat({ messages: [{ role: 'user', content: '<bos>Hi <end_of_turn>\n<start_of_turn>model\n' }] }),
    anthropic({ system: [{ type: 'text', text: 'Be terse.' }], messages: [{ role: 'user', content: 'Hi' }] }),
  ],
  qwen3: [
    chat({ messages: S[0], tools: [getWeather, getTime] }),
    chat({ messages: S[1], tools: [getTime, getWeather] }),
    chat({ messages: S[2], tools: [getTime, getWeather], chat_template_kwargs: { enable_thinking: false } }),
    text('Question: what is tea?\nAnswer:'),
    ['/v1/responses', { max_output_tokens: 1, instructions: 'Be terse.', input: 'Hi' }] as const,
  ],
} as const;

const requestKinds = new Set<unknown>(
  detectors.filter(({ stage }) => stage === 'request').map(({ kind }) => kind),
);

/** Members that say who looked when, and the pseudonyms of that process. All else is the same for everyone who looks. */
const passing = new Set(['time', 'requestId', 'client', 'session', 'id']);

function facts(records: readonly object[]): readonly string[] {
  const lasting = (name: string, value: unknown): unknown => (passing.has(name) ? undefined : value);
  return records.map((record) => JSON.stringify(record, lasting, 1)).toSorted();
}

async function told(t: TestContext, upstream: string, requests: readonly Request[]) {
  const proxied = await openProxy(t, upstream);
  for (const [path, body] of requests) {
    await send(proxied.url + path, body, { headers: { 'tokenweir-session': 'mine' } });
  }
  await settled(proxied, requests.length);
  return facts((await proxied.findings()).filter(({ kind }) => requestKinds.has(kind)));
}

for (const family of ['gemma3', 'qwen3'] as const) {
  const engine = await testedEngine(family);
  describe(`serve and check on ${family}`, { skip: engine.skip }, () => {
    it('say the same of the same requests, and of their recording', async (t) => {
      const { url } = await engine.server();
      const requests = families[family];
      const expected = await told(t, url, requests);
      assert.ok(expected.length > 0);

      const cwd = mkdtempSync(join(tmpdir(), 'tokenweir-agreement-'));
      t.after(() => {
        rmSync(cwd, { recursive: true });
      });
      const operands = requests.map(([, body], index) => {
        writeFileSync(join(cwd, `${index}.json`), JSON.stringify(body));
        return `${index}.json`;
      });
      const resultsOf = async (files: readonly string[], flags: object): Promise<readonly CheckResult[]> => {
        const { stdout } = await runCommand(command, { json: true, ...flags }, { cwd, operands: files });
        return (JSON.parse(stdout) as { results: readonly CheckResult[] }).results;
      };
      const live = await resultsOf(operands, { upstream: url, session: 'mine', record: 'all.jsonl' });
      assert.deepEqual(facts(live.flatMap(({ now }) => now?.findings ?? [])), expected);
      const frozen = await resultsOf(['all.jsonl'], {});
      assert.deepEqual(facts(frozen.flatMap(({ then }) => then?.findings ?? [])), expected);
      const both = await resultsOf(['all.jsonl'], { upstream: url });
      assert.deepEqual(
        both.flatMap(({ moved }) => moved ?? []),
        [],
      );
    });
  });
}
