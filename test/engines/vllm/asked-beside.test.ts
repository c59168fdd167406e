// While a vLLM is asked whether it is still the same, the chat itself is asked for already: the answer counts only if it is.
import assert from 'node:assert/strict';
import { after, describe, it, type MockTimers } from 'node:test';
import { VllmEngine } from '../../../src/engines/vllm.ts';
import type { GenerationRequest } from '../../../src/exchange/request/request.ts';
import { eventually } from '../../support/exchanges.ts';
import { standIn } from '../../support/vllm/stand-in.ts';
import { context, openAdapter, typed } from '../engine-under-test.ts';

const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

const chat = (): GenerationRequest =>
  typed('chat', {
    messages: [
      { role: 'system', content: 'Which weir?' },
      { role: 'user', content: 'The one across the stream. '.repeat(200) },
    ],
  });

const longerThanFresh = 6000;

/** An adapter that knows its model, and has to ask again what the engine is: `seen` tells of what order of questions. */
async function open(t: { mock: { timers: MockTimers } }, hold?: (seen: readonly string[]) => Promise<void>) {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  let version = '0.32.0';
  const seen: string[] = [];
  let isKnown = false;
  const server = await standIn('qwen3', {
    without: ['/tokenizer_info', '/metrics'],
    intercept: async (path, body) => {
      seen.push(path === '/tokenize' && body.includes('Which weir?') ? 'the chat' : path);
      if (isKnown && path === '/v1/models') await hold?.(seen);
      return path === '/version' ? { status: 200, text: JSON.stringify({ version }) } : undefined;
    },
  });
  const { engine } = openAdapter(server.url, { adapter: VllmEngine, timeoutMs: 60_000 });
  closers.push(async () => {
    await engine.close();
    await server.close();
  });
  const before = await engine.facts(undefined, context);
  assert.ok(before.known);
  t.mock.timers.tick(longerThanFresh);
  seen.length = 0;
  isKnown = true;
  return {
    engine,
    seen,
    before: before.facts,
    change: () => {
      version = '0.33.0';
    },
  };
}

const chatsIn = (seen: readonly string[]): number =>
  seen.filter((question) => question === 'the chat').length;

describe('a chat, while the engine is asked what it is', () => {
  it('is asked for, too, once', async (t) => {
    const { engine, seen, before } = await open(t, (asked) =>
      eventually(() => chatsIn(asked) === 1, 'the chat before the answer'),
    );
    const request = chat();
    const read = await engine.facts(undefined, context, request);
    assert.ok(read.known);
    assert.equal(read.facts.identity, before.identity);
    assert.equal(chatsIn(seen), 1);
    const [prompt] = await engine.read(request, read.facts, context).prompts();
    assert.ok(prompt?.known);
    assert.equal(chatsIn(seen), 1);
  });

  it('is not asked for before it is known which model it is for', async (t) => {
    const { engine, seen } = await open(t);
    await engine.facts(undefined, context);
    assert.equal(chatsIn(seen), 0);
  });

  it('is asked for anew of an engine that has changed, and nothing is kept of the first answer', async (t) => {
    const { engine, seen, before, change } = await open(t);
    change();
    const request = chat();
    const read = await engine.facts(undefined, context, request);
    assert.ok(read.known);
    assert.notEqual(read.facts.identity, before.identity);
    const [prompt] = await engine.read(request, read.facts, context).prompts();
    assert.ok(prompt?.known);
    engine.noteReply(200);
    await eventually(() => chatsIn(seen) === 3, 'the chat for each, and once abbreviated to learn from it');
    await engine.read(chat(), read.facts, context).prompts();
    assert.equal(chatsIn(seen), 4);
  });
});
