// The attribution line of Claude Code, which differs per request: what it costs on a real engine, and what strict mode's
// repair of it saves, by the engine's own account.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import {
  agentTurn,
  attributionLine,
  instructions,
  promptCounts,
  type AgentOptions,
  type AgentRoute,
  type AgentTurn,
} from '../support/coding-agent.ts';
import { assertHas, clean, requestFindings, send, settled, type Answer } from '../support/exchanges.ts';
import { openGated } from '../support/open-proxy.ts';
import type { GatedEngine } from '../support/gated-engine.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { realEngine, type RealEngine } from '../support/real-engine.ts';

/** One slot, and nothing kept beside it: what is cached is the conversation's turn before, or nothing of it. */
const alone = { args: ['--parallel', '1', '--cache-ram', '0'] };
const qwen3 = await realEngine('qwen3', alone);
const gemma3 = await realEngine('gemma3', alone);
const { skip } = qwen3;

interface Run {
  readonly proxied: ProxiedEngine;
  readonly gated: GatedEngine;
  readonly answers: readonly Answer[];
  /** Prompt tokens that the engine computed in all, by its own account. */
  readonly computed: number;
  readonly saved: number;
}

const strict = (rule: string): Readonly<Record<string, string>> => ({
  MODE: 'strict',
  INSPECTION_BLOCKING_MS: '20000',
  DETECTORS_PREFIX_BREAK_ATTRIBUTION_LINE: rule,
});

/** Sends the turns one after the other through a proxy of their own; nothing of them is in the engine's cache before. */
async function converse(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
  turns: readonly AgentTurn[],
  engine: RealEngine = qwen3,
): Promise<Run> {
  const { url } = await engine.server();
  await send(`${url}/completion`, { prompt: 'Something else.', n_predict: 1 });
  const { gated, proxied } = await openGated(t, url, settings);
  const answers: Answer[] = [];
  for (const { path, body } of turns) {
    const answer = await send(proxied.url + path, body);
    assert.equal(answer.status, 200, answer.text);
    answers.push(answer);
  }
  await settled(proxied, turns.length);
  assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), turns.length);
  const computed = answers.map(promptCounts).reduce((sum, { prompt, cached }) => sum + prompt - cached, 0);
  const saved = await proxied.metric('tokenweir_prompt_tokens_saved_total');
  return { proxied, gated, answers, computed, saved };
}

const five = [1, 2, 3, 4, 5];
/** On the other routes the hash alone is enough: the engine blanks it on this one only. */
const changing = (route: AgentRoute, options: AgentOptions = {}): readonly AgentTurn[] =>
  five.map((turn) => agentTurn(route, turn, attributionLine(route === 'messages' ? turn : 1, turn), options));
const broken = { action: 'pass', findings: 'prefix-break;attribution-line', inspection: 'ok' };
const mended = { ...broken, action: 'rewrite' };
const said = ({ answers }: Run): unknown[] => answers.map((answer) => answer.said);

describe('a line that changes with every request of /v1/messages', { skip }, () => {
  it('breaks the prefix of every turn, unless it is repaired; then nearly all of it is cached', async (t) => {
    const kept = await converse(t, strict('keep'), changing('messages'));
    assert.deepEqual(said(kept), [clean, broken, broken, broken, broken]);
    for (const { prompt, cached } of kept.answers.map(promptCounts)) assert.ok(cached < 0.04 * prompt);
    const frozen = await converse(t, strict('freeze'), changing('messages'));
    assert.deepEqual(said(frozen), [clean, mended, mended, mended, mended]);
    const cut = await converse(t, strict('cut'), changing('messages'));
    assert.deepEqual(said(cut), [{ ...clean, action: 'rewrite' }, mended, mended, mended, mended]);
    for (const { answers } of [frozen, cut]) {
      const counts = answers.map(promptCounts);
      // All of the turn before, by the engine's own account.
      assert.deepEqual(
        counts.slice(1).map(({ cached }) => cached),
        counts.slice(0, -1).map(({ prompt }) => prompt),
      );
    }
    assert.equal(kept.saved, 0);
    assert.equal(frozen.saved, kept.computed - frozen.computed);
    // What the line itself takes is less in every turn, but only what was computed again was lost without the repair.
    const lineTokens = promptCounts(frozen.answers[0]!).prompt - promptCounts(cut.answers[0]!).prompt;
    assert.equal(cut.saved, kept.computed - cut.computed - lineTokens);
  });

  it('is all that the engine gets otherwise than it was sent', async (t) => {
    const turns = changing('messages');
    const sent = turns.map(({ body }) => JSON.stringify(body));
    const frozen = await converse(t, strict('freeze'), turns);
    const got = frozen.gated.bodies('/v1/messages').map(String);
    assert.deepEqual(
      got,
      sent.map((body, index) => body.replace(attributionLine(index + 1), attributionLine(1))),
    );
    const cut = await converse(t, strict('cut'), turns);
    const block = /\{"type":"text","text":"x-anthropic[^}]*\}\},/;
    assert.deepEqual(
      cut.gated.bodies('/v1/messages').map(String),
      sent.map((body) => body.replace(block, '')),
    );
  });

  it('is told with what the repair saves, and counted as no loss', async (t) => {
    const { proxied, saved } = await converse(t, strict('freeze'), changing('messages').slice(0, 2));
    const [finding] = await requestFindings(proxied);
    const facts = {
      cause: 'attribution-line',
      culprit: 'client',
      field: 'system[0].text',
      action: 'rewrite',
    };
    assertHas(finding, { ...facts, savedTokens: saved, lostTokens: saved });
    assert.match(String(finding?.['message']), new RegExp(`took its place, which saves ${saved} tokens\\.$`));
    const [window, before] = ['window', 'ancestorWindow'].map((name) => finding?.[name] as Window);
    const place = (finding?.['tokens'] as { start: number }).start - (window?.start ?? 0);
    const idsOf = ({ pieces }: Window): unknown[] => pieces.map(({ id }) => id);
    assert.deepEqual(idsOf(window!).slice(0, place), idsOf(before!).slice(0, place));
    assert.notEqual(idsOf(window!)[place], idsOf(before!)[place]);
    assertHas(
      proxied.lines.find(({ kind }) => kind === 'prefix-break'),
      { ...facts, savedTokens: saved },
    );
    assert.equal(await proxied.metric('tokenweir_findings_total', { kind: 'prefix-break' }), 1);
    for (const loss of ['prefix_breaks_total', 'prefix_lost_tokens_total', 'prefill_wasted_seconds_total'])
      assert.equal(await proxied.metric(`tokenweir_${loss}`), 0, loss);
  });
});

interface Window {
  readonly start: number;
  readonly pieces: readonly { readonly id?: string }[];
}

describe('the repair', { skip }, () => {
  const elsewhere: readonly [AgentRoute, AgentOptions][] = [
    ['messages', { inline: true }],
    ['chat', {}],
    ['chat', { inline: true }],
    ['responses', {}],
    ['responses', { inline: true }],
  ];
  for (const [route, options] of elsewhere) {
    it(`saves as much on ${route}, with the line in ${options.inline ? 'a string' : 'a block'}`, async (t) => {
      const turns = changing(route, options).slice(0, 3);
      const kept = await converse(t, strict('keep'), turns);
      const frozen = await converse(t, strict('freeze'), turns);
      // Instructions in blocks are a developer's there, which the template writes as the system's: told once.
      const isDeveloper = route === 'responses' && options.inline !== true;
      const first = { ...clean, findings: isDeveloper ? 'content-lost;developer-as-system' : null };
      assert.deepEqual(said(frozen), [first, mended, mended]);
      assert.equal(frozen.saved, kept.computed - frozen.computed);
      const cut = await converse(t, strict('cut'), turns);
      assert.deepEqual(said(cut), [{ ...first, action: 'rewrite' }, mended, mended]);
      assert.ok(cut.computed < frozen.computed);
    });
  }

  it('claims no savings for a line that did not change again', async (t) => {
    const turns = five.map((turn) => agentTurn('messages', turn, attributionLine(turn < 3 ? 1 : 2)));
    const kept = await converse(t, strict('keep'), turns);
    assert.deepEqual(said(kept), [clean, clean, broken, clean, clean]);
    const frozen = await converse(t, strict('freeze'), turns);
    const quiet = { ...clean, action: 'rewrite' };
    assert.deepEqual(said(frozen), [clean, clean, mended, quiet, quiet]);
    assert.equal(frozen.saved, kept.computed - frozen.computed);
    const cut = await converse(t, strict('cut'), turns);
    assert.deepEqual(said(cut), [quiet, quiet, mended, quiet, quiet]);
  });

  it('leaves what is behind the line to be found, under the name of the field that was sent', async (t) => {
    const turns = [1, 2].map((turn) => {
      const clock = { instructions: `${instructions}\nIt is 10:0${turn}.` };
      return agentTurn('messages', turn, attributionLine(turn), clock);
    });
    for (const rule of ['freeze', 'cut']) {
      const { proxied, saved } = await converse(t, strict(rule), turns);
      const [line, clock] = await requestFindings(proxied);
      assertHas(line, { cause: 'attribution-line', savedTokens: saved, field: 'system[0].text' });
      assertHas(clock, { cause: 'volatile-time', field: 'system[1].text', action: 'rewrite' });
      assert.match(String(clock?.['message']), /\(system\[1\]\.text\)\.$/);
      const lost = await proxied.metric('tokenweir_prefix_lost_tokens_total');
      assert.equal(lost, clock?.['lostTokens']);
    }
  });
});

describe('a request goes on as it came', { skip }, () => {
  const passes = async (
    t: TestContext,
    settings: Readonly<Record<string, string>>,
    run: readonly AgentTurn[],
  ) => {
    const { gated, answers } = await converse(t, settings, run);
    const sent = run.map(({ body }) => JSON.stringify(body));
    assert.deepEqual(gated.bodies(run[0]!.path).map(String), sent);
    for (const answer of answers) assert.equal(answer.said.action, 'pass');
    return answers;
  };

  it('in observe mode, whatever is configured', async (t) => {
    for (const rule of ['freeze', 'cut']) {
      const answers = await passes(t, { ...strict(rule), MODE: 'observe' }, changing('messages').slice(0, 2));
      assert.deepEqual(answers[1]?.said, broken);
    }
  });

  it('where only a hash changed that the engine blanks anyway', async (t) => {
    const turns = five.map((turn) => agentTurn('messages', turn, attributionLine(1, turn)));
    const answers = await passes(t, strict('freeze'), turns);
    assert.deepEqual(
      answers.map((answer) => answer.said),
      turns.map(() => clean),
    );
  });

  it('where the template makes something else of it than the same without the line', async (t) => {
    // Gemma's template reads the first part of the instructions only.
    const { body } = agentTurn('chat', 1, attributionLine(1));
    const { messages } = body as { messages: object[] };
    const turn = { path: '/v1/chat/completions', body: { max_tokens: 1, messages: messages.slice(0, 2) } };
    const { gated, answers } = await converse(t, strict('cut'), [turn], gemma3);
    // That is a loss of its own, the template's, and no reason to change the request.
    assert.deepEqual(answers[0]?.said, { ...clean, findings: 'content-lost;text' });
    assert.equal(String(gated.bodies(turn.path)[0]), JSON.stringify(turn.body));
  });

  it('where it only counts tokens; and such a request is no turn', async (t) => {
    const { gated, proxied } = await openGated(t, (await qwen3.server()).url, strict('freeze'));
    const [first, second] = changing('messages');
    await send(proxied.url + first!.path, first!.body);
    const path = '/v1/messages/count_tokens';
    const count = await send(proxied.url + path, second!.body);
    assert.deepEqual(count.said, { action: null, findings: null, inspection: null });
    assert.equal(String(gated.bodies(path)[0]), JSON.stringify(second!.body));
    const answer = await send(proxied.url + second!.path, second!.body);
    assert.deepEqual(answer.said, mended);
    // The two lines are as long, so the count holds for what is sent instead.
    assert.equal(promptCounts(answer).prompt, count.json['input_tokens']);
    await settled(proxied, 2);
    assert.equal(await proxied.metric('tokenweir_session_lookups_total'), 2);
  });
});
