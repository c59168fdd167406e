// Which turn a request grew from, and what broke its prefix, on a real chat template: conversations as clients hold
// them, named and unnamed.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { getTime, getWeather, S } from '../support/conversations.ts';
import {
  assertHas,
  chat,
  clean,
  eventually,
  requestFindings,
  settled,
  type Answer,
} from '../support/exchanges.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { expected, testedEngine } from '../support/tested-engine.ts';

const engine = await testedEngine('qwen3');
const { skip } = engine;

interface Message {
  readonly role: string;
  readonly content: string;
}
const system = (content: string): Message => ({ role: 'system', content });
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });

async function serve(t: TestContext, settings?: Readonly<Record<string, string>>): Promise<ProxiedEngine> {
  return openProxy(t, (await engine.server()).url, settings);
}

async function lookups(proxied: ProxiedEngine): Promise<Readonly<Record<string, number>>> {
  const sources = ['new', 'ancestor', 'header', 'prompt-cache-key'];
  const counts = await Promise.all(
    sources.map(
      async (source) =>
        [source, await proxied.metric('tokenweir_session_lookups_total', { source })] as const,
    ),
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

function findings(answers: readonly Answer[]): (string | null)[] {
  return answers.map(({ said }) => said.findings);
}

describe('conversations of one client', { skip }, () => {
  it('are told apart when their turns come by turns', async (t) => {
    const proxied = await serve(t);
    const tea = [system('You are terse.'), user('What is tea?')];
    const answers = [
      await chat(proxied, { messages: S[0] }),
      await chat(proxied, { messages: tea }),
      await chat(proxied, { messages: S[1] }),
      await chat(proxied, { messages: [...tea, assistant('A drink.'), user('And coffee?')] }),
      await chat(proxied, { messages: S[2] }),
    ];
    assert.deepEqual(findings(answers), [null, null, null, null, null]);
    assert.deepEqual(await lookups(proxied), { new: 2, ancestor: 3 });
    const { sessions } = (await (await fetch(`${proxied.adminUrl}/api/sessions`)).json()) as {
      sessions: { turns: number; tokens: number }[];
    };
    assert.deepEqual(sessions.map(({ turns }) => turns).toSorted(), [2, 3]);
  });

  it('branch without a break where the last message is edited and sent again, and go on from there', async (t) => {
    const proxied = await serve(t);
    const edited = [...(S[1] ?? []).slice(0, -1), user('And times 4?')];
    const answers = [
      await chat(proxied, { messages: S[0] }),
      await chat(proxied, { messages: S[1] }),
      await chat(proxied, { messages: edited }),
      await chat(proxied, { messages: [...edited, assistant('16.'), user('Why?')] }),
      // The branch that was left is still there.
      await chat(proxied, { messages: S[2] }),
    ];
    assert.deepEqual(findings(answers), [null, null, null, null, null]);
    assert.deepEqual(await lookups(proxied), { new: 1, ancestor: 4 });
  });

  it('have an answer made again without a break', async (t) => {
    const proxied = await serve(t);
    const answers = [];
    for (const messages of [S[0], S[1], S[1], S[2]]) answers.push(await chat(proxied, { messages }));
    assert.deepEqual(findings(answers), [null, null, null, null]);
    await settled(proxied, 4);
    assert.equal(await proxied.metric('tokenweir_prefix_breaks_total'), 0);
    assert.deepEqual(await lookups(proxied), { new: 1, ancestor: 3 });
  });

  it('break at their end where the client leaves out an empty reply, and the client is told so', async (t) => {
    const proxied = await serve(t);
    const asked = [system('You are terse.'), user('What is tea?')];
    await chat(proxied, { messages: asked });
    const answer = await chat(proxied, { messages: [...asked, user('Are you there?')] });
    assert.equal(answer.said.findings, 'prefix-break;history-truncated');
    assertHas((await requestFindings(proxied))[0], {
      culprit: 'client',
      severity: 'info',
      lostTokens: 2,
      field: 'messages[2]',
    });
  });

  it('do not break where an empty reply comes back', async (t) => {
    const proxied = await serve(t);
    const asked = [system('You are terse.'), user('What is tea?')];
    const answers = [
      await chat(proxied, { messages: asked }),
      await chat(proxied, { messages: [...asked, assistant(''), user('Are you there?')] }),
    ];
    assert.deepEqual(findings(answers), [null, null]);
    assert.deepEqual(await lookups(proxied), { new: 1, ancestor: 1 });
  });

  it('are not disturbed by a request for a title', async (t) => {
    const proxied = await serve(t);
    const titling = system('Write a title of at most five words for the conversation below, nothing else.');
    const answers = [
      await chat(proxied, { messages: S[0] }),
      await chat(proxied, { messages: [titling, ...(S[0] ?? []).slice(1)] }),
      await chat(proxied, { messages: S[1] }),
      await chat(proxied, { messages: [titling, user(JSON.stringify(S[1]))] }),
      await chat(proxied, { messages: S[2] }),
    ];
    assert.deepEqual(findings(answers), [null, null, null, null, null]);
  });

  it('are not mixed with those of another client', async (t) => {
    const proxied = await serve(t);
    await chat(proxied, { messages: S[0] }, { authorization: 'Bearer one' });
    await chat(proxied, { messages: S[1] }, { authorization: 'Bearer two' });
    assert.deepEqual(await lookups(proxied), { new: 2 });
    await chat(proxied, { messages: S[1] }, { authorization: 'Bearer one' });
    assert.deepEqual(await lookups(proxied), { new: 2, ancestor: 1 });
  });

  it('can be named by a header or by prompt_cache_key', async (t) => {
    const proxied = await serve(t);
    const named = { 'tokenweir-session': 'mine' };
    await chat(proxied, { messages: S[0] }, named);
    await chat(proxied, { messages: S[1] }, named);
    await chat(proxied, { messages: S[0], prompt_cache_key: 'field' });
    await chat(proxied, { messages: S[1], prompt_cache_key: 'field' });
    // Another name is another conversation, whatever it says.
    await chat(proxied, { messages: S[1] }, { 'tokenweir-session': 'other' });
    assert.deepEqual(await lookups(proxied), { new: 3, header: 1, 'prompt-cache-key': 1 });
  });
});

describe('a broken prefix', { skip }, () => {
  const rules = 'Answer in one sentence. Never guess; say so if you do not know. Use metric units.';
  const withSystem = (text: string, messages: readonly Message[] = S[1] ?? []): Message[] => [
    system(text),
    ...messages.slice(1),
  ];
  const breaks: Readonly<Record<string, { first: object; then: object; field: string; severity?: string }>> =
    {
      'volatile-time': {
        first: { messages: withSystem(`${rules}\nIt is 12:00:01.\nBe kind.`, S[0]) },
        then: { messages: withSystem(`${rules}\nIt is 12:00:09.\nBe kind.`) },
        field: 'messages[0].content',
      },
      'volatile-date': {
        first: { messages: withSystem(`${rules}\nToday is 2026-03-01.\nBe kind.`, S[0]) },
        then: { messages: withSystem(`${rules}\nToday is 2026-03-02.\nBe kind.`) },
        field: 'messages[0].content',
      },
      'volatile-text': {
        first: { messages: withSystem(`${rules}\nThe user has three unread mails.\nBe kind.`, S[0]) },
        then: { messages: withSystem(`${rules}\nThe user has seven unread mails.\nBe kind.`) },
        field: 'messages[0].content',
      },
      'attribution-line': {
        first: {
          messages: withSystem(`x-anthropic-billing-header: cc_version=1; cch=aaaaa;\n${rules}`, S[0]),
        },
        then: { messages: withSystem(`x-anthropic-billing-header: cc_version=1; cch=b7f21;\n${rules}`) },
        field: 'messages[0].content',
      },
      'tools-changed': {
        first: { messages: S[0], tools: [getWeather] },
        then: { messages: S[1], tools: [getWeather, getTime] },
        field: 'tools[1]',
        severity: 'info',
      },
      'history-edited': {
        first: { messages: S[1] },
        then: {
          messages: (S[2] ?? []).map((one) => (one.content === '4.' ? assistant('Four, I think.') : one)),
        },
        field: 'messages[2]',
      },
    };
  for (const [cause, { first, then, field, severity = 'warning' }] of Object.entries(breaks)) {
    it(`is the client's: ${cause}`, async (t) => {
      const proxied = await serve(t);
      assert.deepEqual((await chat(proxied, first)).said, clean);
      const told = cause === 'attribution-line' ? expected.changedAttributionLine : `prefix-break;${cause}`;
      assert.equal((await chat(proxied, then)).said.findings, told);
      if (told === null) return;
      assertHas((await requestFindings(proxied))[0], { cause, culprit: 'client', field, severity });
      assert.equal(await proxied.metric('tokenweir_prefix_breaks_total', { cause, culprit: 'client' }), 1);
      assert.equal(await proxied.metric('tokenweir_prefix_breaks_total'), 1);
    });
  }
});

describe('the memory for turns', { skip }, () => {
  it('is bounded: old turns go, and are counted', async (t) => {
    const settings = { SESSIONS_MAX_BYTES: '1MiB' };
    const { gated, proxied } = await openGated(t, (await engine.server()).url, settings);
    // The turns are what matters here: the engine tokenizes them, and need not compute them.
    gated.answer('/v1/chat/completions', {
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a' } }],
    });
    const first = [user('First of all.')];
    await chat(proxied, { messages: first });
    let count = 0;
    await eventually(async () => {
      count += 1;
      await chat(proxied, { messages: [user(`${count} ${'weir '.repeat(15_000)}`)] });
      return (await proxied.metric('tokenweir_session_evictions_total', { reason: 'bytes' })) > 0;
    }, 'turns are evicted');
    // 60 kB of ids each: the bound holds 17 of them.
    assert.ok(count >= 12 && count <= 18, `${count} turns until the first went`);
    await eventually(async () => {
      const bytes = await proxied.metric('tokenweir_session_bytes');
      assert.ok(bytes <= 1024 * 1024, `${bytes} bytes`);
      return bytes > 900_000;
    }, 'the bytes are shown');
    const again = await chat(proxied, { messages: [...first, assistant('a'), user('And then?')] });
    assert.deepEqual(again.said, clean);
    assert.equal(await proxied.metric('tokenweir_session_lookups_total', { source: 'ancestor' }), 0);
  });

  it('keeps so many branches of one conversation', async (t) => {
    const proxied = await serve(t, { SESSIONS_HEADS: '1' });
    await chat(proxied, { messages: S[0] });
    await chat(proxied, { messages: S[1] });
    await chat(proxied, { messages: [...(S[1] ?? []).slice(0, -1), user('And times 4?')] });
    assert.equal(await proxied.metric('tokenweir_session_evictions_total', { reason: 'heads' }), 1);
  });
});
