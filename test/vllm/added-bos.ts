// What holds for every family whose tokenizer adds BOS: which routes add a second one. One test file per family runs it, for
// a server takes a minute to start.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RealVllm } from '../support/vllm/real-vllm.ts';
import { chat, idsOf, tokenize } from './asking.ts';

export interface AddedBos {
  readonly id: number;
  readonly text: string;
}

/** Call it inside a `describe` that is skipped where there is no engine. */
export function itAddsBos(engine: RealVllm, bos: AddedBos): void {
  const raw = `${bos.text}Hi`;
  const hi = [{ role: 'user', content: 'Hi' }];

  it('doubles the BOS of a raw prompt that has one, unless it is told not to add any', async () => {
    const { url } = await engine.server();
    const ids = await idsOf(url, { prompt: raw });
    assert.deepEqual(ids.slice(0, 2), [bos.id, bos.id]);
    assert.deepEqual(await tokenize(url, { prompt: raw }), ids);
    assert.deepEqual(await idsOf(url, { prompt: raw, add_special_tokens: false }), ids.slice(1));
  });

  it('leaves the BOS of a chat to the template', async () => {
    const { url } = await engine.server();
    const { prompt_token_ids: ids } = await chat(url, { messages: hi });
    assert.equal(ids.filter((id) => id === bos.id).length, 1);
    assert.deepEqual(await tokenize(url, { messages: hi }), ids);
  });

  it('adds none to ids', async () => {
    const { url } = await engine.server();
    assert.deepEqual(await idsOf(url, { prompt: [100, 101] }), [100, 101]);
  });
}
