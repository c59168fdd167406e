// The engine's own counters of its prefix cache beside ours, over a scripted run: they agree where every request passes here
// and its reply tells a count; where they don't, the difference is exactly the one that docs/engines/vllm.md names.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import type { ProxiedEngine } from '../support/proxied-engine.ts';
import { realVllm } from '../support/vllm/real-vllm.ts';
import { completion, metric } from './asking.ts';

const qwen3 = await realVllm('qwen3', { args: ['--enable-prompt-tokens-details'] });
const block = 32;

interface Counters {
  /** Tokens looked up in the prefix cache, and found there. */
  readonly queries: number;
  readonly hits: number;
}

async function engineCounters(url: string): Promise<Counters> {
  const [queries, hits] = await Promise.all(
    ['queries', 'hits'].map((name) => metric(url, `vllm:prefix_cache_${name}_total`)),
  );
  return { queries: queries ?? NaN, hits: hits ?? NaN };
}

interface OurCounters {
  readonly prompt: number;
  readonly cached: number;
  readonly reusable: number;
}

async function ourCounters(proxied: ProxiedEngine): Promise<OurCounters> {
  const [prompt, cached, reusable] = await Promise.all(
    ['', 'cached_', 'reusable_'].map((name) => proxied.metric(`tokenweir_prompt_tokens_${name}total`)),
  );
  return { prompt: prompt ?? NaN, cached: cached ?? NaN, reusable: reusable ?? NaN };
}

let last = 0;
/** Text that no earlier test sent, so that nothing of it is in the cache. */
function unheard(): string {
  last += 1;
  return `Case ${last} of ${process.pid}. `;
}

interface Run {
  readonly theirs: Counters;
  readonly ours: OurCounters;
}

/** Runs the script through a proxy of its own; gives by how much each counter moved. */
async function run(
  proxied: ProxiedEngine,
  url: string,
  exchanges: number,
  script: () => Promise<void>,
): Promise<Run> {
  const before = await engineCounters(url);
  await script();
  await settled(proxied, exchanges);
  const ours = await ourCounters(proxied);
  // The engine counts a request when it is scheduled, and shows it with its next look at its counters.
  let now = await engineCounters(url);
  await eventually(async () => {
    now = await engineCounters(url);
    return now.queries - before.queries >= ours.prompt;
  }, 'the engine shows every request');
  return { ours, theirs: { queries: now.queries - before.queries, hits: now.hits - before.hits } };
}

const rules = 'Answer in one sentence. Never guess; say so if you do not know. Use metric units. '.repeat(4);

/** Requests of a conversation of so many turns, each with the answers of those before. @param head in every message */
function turns(count: number, head: string): { role: string; content: string }[][] {
  const messages = [{ role: 'system', content: head + rules }];
  return Array.from({ length: count }, (_, index) => {
    if (index > 0)
      messages.push({ role: 'assistant', content: `${head}Answer ${index}, as the client keeps it.` });
    messages.push({ role: 'user', content: `${head}Question ${index}: why is it so?` });
    return [...messages];
  });
}

describe('the counters of a real vLLM beside ours', { skip: qwen3.skip }, () => {
  it('agree over conversations on every route, whole and streamed', async (t) => {
    const { url } = await qwen3.server();
    const proxied = await openProxy(t, url);
    const streamed = { stream: true, stream_options: { include_usage: true } };
    const { ours, theirs } = await run(proxied, url, 16, async () => {
      for (const messages of turns(4, unheard())) {
        await send(`${proxied.url}/v1/chat/completions`, { messages, max_tokens: 2 });
      }
      for (const messages of turns(4, unheard())) {
        await send(`${proxied.url}/v1/chat/completions`, { messages, max_tokens: 2, ...streamed });
      }
      for (const [system, ...messages] of turns(4, unheard())) {
        const body = { model: 'qwen3', system: system?.content, messages, max_tokens: 2 };
        await send(`${proxied.url}/v1/messages`, body);
      }
      for (const [system, ...input] of turns(4, unheard())) {
        await send(`${proxied.url}/v1/responses`, {
          instructions: system?.content,
          input,
          max_output_tokens: 2,
        });
      }
    });
    assert.ok(theirs.hits > 0);
    assert.equal(theirs.queries, ours.prompt);
    assert.equal(theirs.hits, ours.cached);
    // Nothing but the turn before was there to find, and of that whole blocks.
    assert.equal(ours.reusable, ours.cached);
    assert.equal(ours.reusable % block, 0);
  });

  it('agree where a whole prompt is in the cache: the last id is computed anew, and its block', async (t) => {
    const { url } = await qwen3.server();
    const proxied = await openProxy(t, url);
    const from = 1000 + (process.pid % 1000) * 100;
    const prompt = Array.from({ length: 3 * block }, (_, index) => from + index);
    const { ours, theirs } = await run(proxied, url, 2, async () => {
      for (let time = 0; time < 2; time += 1) {
        await send(`${proxied.url}/v1/completions`, { prompt, max_tokens: 2 });
      }
    });
    assert.deepEqual(theirs, { queries: 6 * block, hits: 2 * block });
    assert.equal(ours.cached, 2 * block);
    assert.equal(ours.reusable, 2 * block);
  });

  it('differ by what came from requests that did not pass here', async (t) => {
    const { url } = await qwen3.server();
    const proxied = await openProxy(t, url);
    const prompt = `${unheard()}${rules}`;
    await completion(url, { prompt });
    const { ours, theirs } = await run(proxied, url, 1, async () => {
      await send(`${proxied.url}/v1/completions`, { prompt, max_tokens: 2 });
    });
    assert.ok(theirs.hits > 0);
    assert.equal(ours.cached, theirs.hits);
    assert.equal(ours.reusable, 0);
  });

  it('differ by replies that tell no count: ours counts them as reusable only', async (t) => {
    const { url } = await qwen3.server();
    const proxied = await openProxy(t, url);
    const { ours, theirs } = await run(proxied, url, 2, async () => {
      for (const messages of turns(2, unheard())) {
        await send(`${proxied.url}/v1/chat/completions`, { messages, max_tokens: 2, stream: true });
      }
    });
    assert.ok(theirs.hits > 0);
    assert.equal(ours.cached, 0);
    assert.equal(ours.reusable, theirs.hits);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'absent' }), 2);
  });

  it('differ by choices: each is looked up, and the reply counts the prompt once', async (t) => {
    const { url } = await qwen3.server();
    const proxied = await openProxy(t, url);
    const [messages] = turns(1, unheard());
    const { ours, theirs } = await run(proxied, url, 1, async () => {
      await send(`${proxied.url}/v1/chat/completions`, { messages, max_tokens: 2, n: 2 });
    });
    assert.equal(theirs.queries, 2 * ours.prompt);
    assert.ok(ours.reusable === 0 && theirs.hits >= ours.cached);
  });

  it('agree in a salted conversation, and between salts nothing is found', async (t) => {
    const { url } = await qwen3.server();
    const proxied = await openProxy(t, url);
    const prompt = `${unheard()}${rules}`;
    const { ours, theirs } = await run(proxied, url, 3, async () => {
      for (const salt of ['one', 'one', 'two']) {
        await send(`${proxied.url}/v1/completions`, { prompt, max_tokens: 2, cache_salt: salt });
      }
    });
    assert.ok(theirs.hits > 0);
    assert.equal(theirs.hits, ours.cached);
  });
});
