// The end of a generation whose client has left, over real sockets.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, it } from 'node:test';
import { planReply } from '../../src/demo/canned-reply.ts';
import type { GenerationEnd } from '../../src/demo/generation.ts';
import { loadDemoTokenizer } from '../../src/demo/tokenizer.ts';
import { useDemoEngine, type JsonObject } from './running-engine.ts';

const messages = [{ role: 'user', content: 'What is 2 + 2?' }];
const replyTokens = planReply(loadDemoTokenizer(), -1, []).steps.length;

describe('a client that leaves', { timeout: 20_000 }, () => {
  const ends = new EventEmitter<{ end: [GenerationEnd] }>();
  const engine = useDemoEngine({ tokenIntervalMs: 5, onGenerationEnd: (end) => ends.emit('end', end) });

  it('ends the generation of a stream that has begun', async () => {
    const client = new AbortController();
    const ended = once(ends, 'end');
    const body = { messages, stream: true };
    const response = await engine.post('/v1/chat/completions', body, { signal: client.signal });
    const reader = response.body!.getReader();
    await reader.read();
    client.abort();
    const [end] = (await ended) as [GenerationEnd];
    assert.equal(end.outcome, 'aborted');
    assert.ok(end.sampledTokens < replyTokens);
  });

  it('ends the generation of a whole reply, and frees the slots', async () => {
    const client = new AbortController();
    const ended = once(ends, 'end');
    const pending = engine.post('/completion', { prompt: 'a' }, { signal: client.signal });
    for (;;) {
      const slots = (await (await engine.get('/slots')).json()) as JsonObject[];
      if (slots.some((slot) => slot['is_processing'] === true)) break;
    }
    client.abort();
    await assert.rejects(pending, { name: 'AbortError' });
    const [end] = (await ended) as [GenerationEnd];
    assert.equal(end.outcome, 'aborted');
    const slots = (await (await engine.get('/slots')).json()) as JsonObject[];
    assert.ok(slots.every((slot) => slot['is_processing'] === false));
  });

  it('is told apart from one that stays', async () => {
    const ended = once(ends, 'end');
    await engine.ask('/completion', { prompt: 'a', n_predict: 2 });
    const [end] = (await ended) as [GenerationEnd];
    assert.deepEqual(end, { outcome: 'completed', sampledTokens: 2 });
  });
});
