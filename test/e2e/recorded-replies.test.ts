// What a real engine did wrong in its replies is read off a recording as it was told live: by the recording's own frozen ids,
// and with the engine asked again.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { openCheckFolder } from '../support/check-folder.ts';
import { send } from '../support/exchanges.ts';
import { realEngine } from '../support/real-engine.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { changingEngine, shorteningEngine } from '../support/shortening-engine.ts';
import { unendingModel } from '../support/unending-model.ts';

/** With a small context. */
const engine = await realEngine(unendingModel, {
  args: ['--ctx-size', '512', '--parallel', '1'],
});
const { check, checkJson } = openCheckFolder();
const out = mkdtempSync(join(tmpdir(), 'tokenweir-replies-'));
after(() => {
  rmSync(out, { recursive: true });
});

const user = (content: string): object => ({ role: 'user', content });
const hi = [user('Hi')];
const talk = [user('Hi'), { role: 'assistant', content: 'A lake. '.repeat(20) }, user('And which one?')];
const answers = 'root ::= "It is four, friend."';
const runsOn = `root ::= "It is four, friend." <|stop|> "\\n" <|im_start|> "user\\nAnd what is five?" <|stop|> "\\n" <|im_start|> "assistant\\nIt is five again."`;
const settings = { max_tokens: 120, temperature: 0, grammar: answers };

interface Case {
  /** What stands between the product and the engine; absent if nothing does. */
  readonly between?: (engine: string) => Promise<{ readonly url: string; close(): Promise<void> }>;
  readonly body: object;
  readonly status?: number;
  readonly found: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  'one that runs on': {
    body: { messages: hi, grammar: runsOn },
    found: ['runaway-reply', 'role-header', 'warning'],
  },
  'a refusal of what is too long': {
    body: { messages: [user('b'.repeat(600))] },
    status: 400,
    found: ['context-overflow', 'prompt-too-long', 'error'],
  },
  'one to what only just fits': {
    body: { messages: [user('b'.repeat(440))], max_tokens: 2 },
    found: ['context-overflow', 'near-limit', 'warning'],
  },
  'one to a part of the prompt': {
    between: shorteningEngine,
    body: { messages: talk },
    found: ['prompt-truncated', 'within-context', 'error'],
  },
  'one to more than the prompt': {
    between: (url) => changingEngine(url, ({ messages }) => [...messages, user('Be brief, and be kind.')]),
    body: { messages: talk },
    found: ['count-mismatch', 'engine-more', 'warning'],
  },
};

type Told = readonly (readonly (string | undefined)[])[];

describe('a reply in a recording', { skip: engine.skip }, () => {
  for (const [name, { between, body, status = 200, found }] of Object.entries(cases)) {
    it(`is told of as it was live: ${name}`, async (t) => {
      const { url } = await engine.server();
      const upstream = between === undefined ? undefined : await between(url);
      if (upstream !== undefined) t.after(() => upstream.close());
      const recording = join(out, `${found[0] ?? ''}-${String(status)}-${String(found[2])}.jsonl`);
      const live = await recorded(t, upstream?.url ?? url, recording, body, status);
      assert.ok(
        live.some((one) => String(one) === String(found)),
        JSON.stringify(live),
      );
      const replyOnly = live.filter(([kind]) => kind !== 'template-missing');
      assert.deepEqual(await toldOf([recording]), replyOnly, 'against its frozen ids');
      assert.deepEqual(await toldOf([recording], url), replyOnly, 'with the engine');
      const { code, stdout } = await check([recording]);
      assert.equal(code, found[2] === 'error' ? 1 : 0);
      assert.match(stdout, new RegExp(`\nwrong in the reply then:\n${found[2] ?? ''}\\[${found[0] ?? ''};`));
    });
  }
});

/** What `serve` said of one request, whose exchange it recorded. */
async function recorded(
  t: TestContext,
  upstream: string,
  recording: string,
  body: object,
  status: number,
): Promise<Told> {
  const serve = new ServeProcess(t, {
    flags: ['--upstream', upstream, '--record', recording],
    env: { TOKENWEIR_INSPECTION_BUDGET_MS: '20000' },
  });
  const { listen } = (await serve.line(({ msg }) => msg === 'tokenweir serves')) as { listen: string };
  const answer = await send(`${listen}/v1/chat/completions`, { ...settings, ...body });
  assert.equal(answer.status, status);
  serve.signal('SIGTERM');
  assert.equal(await serve.ended, 0);
  return serve.lines
    .filter(({ event }) => event === 'finding')
    .map(({ kind, cause, severity }) => [String(kind), String(cause), String(severity)]);
}

async function toldOf(files: readonly string[], upstream?: string): Promise<Told> {
  const { results } = await checkJson([...files], upstream === undefined ? {} : { upstream });
  return results.flatMap(({ then }) =>
    then !== undefined && 'findings' in then.reply
      ? then.reply.findings.map(({ kind, cause, severity }) => [kind, cause, severity])
      : [[JSON.stringify(then?.reply)]],
  );
}
