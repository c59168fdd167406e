// An engine of the past says what was recorded and, of everything else, that it is not known.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecordedEngine } from '../../src/check/recorded-engine.ts';
import type { RecordedPrompt } from '../../src/exchange/recording/recording.ts';
import { buildRequest, factsOf } from '../support/exchange-builder.ts';

async function readBack(...prompts: readonly RecordedPrompt[]) {
  const engine = new RecordedEngine(factsOf.qwen3, Buffer.alloc(16, 7));
  const request = buildRequest('completion', { prompt: prompts.map(() => 'a') });
  engine.hold(request.body, prompts);
  const reading = engine.read(request);
  return { heads: await reading.heads(), prompts: await reading.prompts() };
}

const start = 151_644;
const text = '<|im_start|>user\na<|im_start|>user\na';

describe('a recorded engine', () => {
  it('has the facts of its time', async () => {
    const engine = new RecordedEngine(factsOf.qwen3, Buffer.alloc(16));
    assert.deepEqual(await engine.facts(), { known: true, facts: factsOf.qwen3 });
    assert.equal(engine.kind, factsOf.qwen3.engine);
  });

  it('gives ids, text and segments, equal ones under equal keys', async () => {
    const ids = [start, 872, 198, 64, start, 872, 198, 64];
    const { heads, prompts } = await readBack({
      ids,
      source: 'engine',
      text,
      segments: [
        [0, 0],
        [4, 18],
      ],
    });
    const [read] = prompts;
    assert.ok(read?.known);
    assert.deepEqual([Array.from(read.ids), read.source, read.text], [ids, 'engine', text]);
    const [first, second] = read.segments ?? [];
    assert.deepEqual(
      [first?.tokenStart, first?.textStart, second?.tokenStart, second?.textStart],
      [0, 0, 4, 18],
    );
    assert.equal(first?.key, second?.key);
    assert.ok(!text.includes(first?.key ?? ''));
    assert.deepEqual(heads, [{ known: true, ids }]);
  });

  it('gives of a long prompt no more than its beginning as head', async () => {
    const { heads } = await readBack({ ids: Array.from({ length: 200 }, (_, id) => id), source: 'client' });
    assert.equal(heads[0]?.known === true && heads[0].ids.length, 64);
  });

  it('tells what the engine of then put in front, and how it is not', async () => {
    const added = {
      ids: [2],
      by: 'route',
      field: 'add_special_tokens',
      without: [{ start: 14, end: 14, replacement: ',"add_special_tokens":false' }],
    } as const;
    const { heads } = await readBack({ ids: [2, 2, 64], source: 'engine', added });
    assert.deepEqual(heads, [{ known: true, ids: [2, 2, 64], added }]);
  });

  it('says what was not known then, with the head where that was', async () => {
    const { heads, prompts } = await readBack(
      { unknown: 'media', head: [start] },
      { unknown: 'oracle-timeout' },
    );
    assert.deepEqual(prompts, [
      { known: false, reason: 'media' },
      { known: false, reason: 'oracle-timeout' },
    ]);
    assert.deepEqual(heads, [
      { known: true, ids: [start] },
      { known: false, reason: 'oracle-timeout' },
    ]);
  });

  it('knows no prompt by a body that only looks the same', async () => {
    const engine = new RecordedEngine(factsOf.qwen3, Buffer.alloc(16));
    engine.hold(buildRequest('completion', { prompt: 'a' }).body, [{ ids: [1], source: 'engine' }]);
    const other = engine.read(buildRequest('completion', { prompt: 'a' }));
    assert.deepEqual(await other.prompts(), [{ known: false, reason: 'engine-cannot' }]);
  });

  it('knows nothing of a prompt that the recording leaves out, and has no more than the request', async () => {
    const held: RecordedPrompt = { ids: [1], source: 'engine' };
    for (const [prompt, known] of [
      [
        ['a', 'b', 'c'],
        [true, true, false],
      ],
      [['a'], [true]],
    ] as const) {
      const engine = new RecordedEngine(factsOf.qwen3, Buffer.alloc(16));
      const request = buildRequest('completion', { prompt });
      engine.hold(request.body, [held, held]);
      const reading = engine.read(request);
      for (const reads of [await reading.heads(), await reading.prompts()]) {
        assert.deepEqual(
          reads.map((one) => one.known),
          known,
        );
      }
    }
  });

  it('answers no question about anything else', async () => {
    const engine = new RecordedEngine(factsOf.qwen3, Buffer.alloc(16));
    assert.deepEqual(await engine.explain(), { known: false, reason: 'engine-cannot' });
    assert.deepEqual([await engine.pieces(), await engine.models(), engine.noteCount()], [[], [], []]);
    assert.throws(() => engine.replyReader(), /has none to be read/);
  });
});
