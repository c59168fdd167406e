// What holds for every family whose tokenizer adds BOS: which routes add a second one. One test file per family runs it, for
// a server takes a minute to start.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { send, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
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

  it('leaves of a prompt that is cut what is said to be left, id for id', async (t) => {
    const proxied = await openProxy(t, (await engine.server()).url, { ENGINE_REQUEST_IDS: 'true' });
    const said = 'One, two, three, four, five';
    const forms = [
      ['/v1/completions', { prompt: said }],
      ['/v1/completions', { prompt: said, add_special_tokens: false }],
      ['/v1/completions', { prompt: [bos.id, 100, 101, 102, 103, 104] }],
      ['/v1/chat/completions', { messages: hi }],
      ['/v1/chat/completions', { messages: hi, add_special_tokens: true }],
    ] as const;
    const sides = [{}, { truncation_side: 'left' }, { truncation_side: 'right' }];
    const cuts = [1, 4, 100, -1].map((most) => ({ truncate_prompt_tokens: most }));
    let asked = 0;
    for (const [path, body] of forms) {
      for (const side of sides) {
        for (const cut of cuts) {
          const answer = await send(proxied.url + path, { ...body, ...side, ...cut, max_tokens: 1 });
          assert.deepEqual([answer.status, answer.said.inspection], [200, 'ok'], answer.text);
          asked += 1;
        }
      }
    }
    await settled(proxied, asked);
    assert.equal(await proxied.metric('tokenweir_count_checks_total', { result: 'match' }), asked);
  });

  it('adds none to ids', async () => {
    const { url } = await engine.server();
    assert.deepEqual(await idsOf(url, { prompt: [100, 101] }), [100, 101]);
  });
}
