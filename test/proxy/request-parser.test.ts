// Bodies are read the same on the main thread and in a worker; workers may die or be closed at any moment.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { readRequest } from '../../src/exchange/request/request-reader.ts';
import { ParsePool } from '../../src/proxy/parse-pool.ts';
import { createRequestParser } from '../../src/proxy/request-parser.ts';

const parser = createRequestParser({ workerBytes: () => 16 });
after(() => parser.close());

const messages = Array.from({ length: 30_000 }, (_, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: [
    { type: 'text', text: `line ${index} é 漢字 😀` },
    { ['__proto__']: null, n: [1, 2.5, null, true] },
  ],
}));

describe('createRequestParser', () => {
  it('reads in a worker what is read on the main thread', async () => {
    const bodies = [
      ['chat', { model: 'm', messages, tools: [{ type: 'function' }], stream: true, max_tokens: 4 }],
      ['completion', { prompt: Array.from({ length: 100_000 }, (_, index) => index) }],
      ['completion', { prompt: ['x'.repeat(10_000_000), { prompt_string: 'q' }], n: 2 }],
    ] as const;
    for (const [kind, json] of bodies) {
      const body = Buffer.from(JSON.stringify(json));
      const reading = await parser.read(body, kind);
      assert.deepEqual(reading, readRequest(body, kind));
      assert.ok(reading.readable && reading.request.body === body);
    }
  });

  it('gives the same reasons for unreadable bodies', async () => {
    const bodies: (string | Buffer)[] = [
      '{"prompt": "not closed',
      '{"prompt": "\\ud800 half a pair"}',
      '\ufeff\ufeff{"prompt": "with two marks"}',
      `{"prompt": ${'['.repeat(600)}${']'.repeat(600)}}`,
      '{"prompt": {"none": "of the forms"}}',
      Buffer.from('{"prompt": "not UTF-8: \xff"}', 'latin1'),
      '["not", "an", "object"]',
    ];
    for (const text of bodies) {
      const body = Buffer.from(text);
      const reading = await parser.read(body, 'completion');
      assert.equal(reading.readable, false);
      assert.deepEqual(reading, readRequest(body, 'completion'));
    }
  });

  it('keeps many bodies apart', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `${index} `.repeat(20_000 + index));
    const readings = await Promise.all(
      texts.map((prompt) => parser.read(Buffer.from(JSON.stringify({ prompt })), 'completion')),
    );
    for (const [index, reading] of readings.entries()) {
      assert.ok(reading.readable && reading.request.kind === 'completion');
      assert.deepEqual(reading.request.prompts, [{ form: 'text', text: texts[index], path: ['prompt'] }]);
    }
  });

  it('lets other events have their turns while it takes over a large result', async () => {
    let turns = 0;
    const count = setInterval(() => (turns += 1), 1);
    await parser.read(Buffer.from(JSON.stringify({ messages })), 'chat');
    clearInterval(count);
    assert.ok(turns >= 5, `${turns} turns`);
  });

  it('does not touch the body', async () => {
    const body = Buffer.from(JSON.stringify({ prompt: 'a longer text than sixteen bytes' }));
    const before = Buffer.from(body);
    await parser.read(body, 'completion');
    assert.ok(body.equals(before));
  });

  it('rejects what waits when it is closed, and everything after', async () => {
    const closing = createRequestParser({ workerBytes: () => 16, workers: 1 });
    const body = Buffer.from(JSON.stringify({ messages }));
    const reads = Promise.allSettled([closing.read(body, 'chat'), closing.read(body, 'chat')]);
    await closing.close();
    for (const read of await reads) assert.equal(read.status, 'rejected');
    await assert.rejects(closing.read(body, 'chat'), /closed/);
  });
});

describe('ParsePool', () => {
  it('replaces a thread that died', async () => {
    const pool = new ParsePool(1);
    const bytes = (): ArrayBuffer => new Uint8Array(Buffer.from('{"prompt":"a"}')).buffer;
    const died = pool.use(async (thread) => {
      const answer = thread.ask({ type: 'read', bytes: bytes() });
      await Promise.all([thread.stop(), assert.rejects(answer, /parse worker ended/)]);
      return thread.ask({ type: 'more' });
    });
    const waited = pool.use((thread) => thread.ask({ type: 'read', bytes: bytes() }));
    await assert.rejects(died, /parse worker ended/);
    assert.equal((await waited).type, 'piece');
    await pool.close();
  });

  it('ends a thread that has nothing to do', async () => {
    const pool = new ParsePool(1, 0);
    const used = await pool.use(async (thread) => {
      await thread.ask({ type: 'more' });
      return thread;
    });
    // Neither the thread nor its timer keeps a process alive, so something else must while it is awaited.
    const alive = setInterval(() => undefined, 60_000);
    await used.ended;
    clearInterval(alive);
    assert.equal(used.isAlive, false);
    await pool.close();
  });
});
