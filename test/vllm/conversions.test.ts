// The conversions of `/v1/messages` and `/v1/responses`, for machines without a vLLM: the adapter asks what it asked the real
// one, which then gave the ids of its own rendering.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Engine } from '../../src/engines/engine.ts';
import { VllmEngine } from '../../src/engines/vllm.ts';
import { context, openAdapter } from '../engines/engine-under-test.ts';
import { standIn, type StandIn } from '../support/vllm/stand-in.ts';
import { followed } from './conversions/bodies.ts';
import { idsByAdapter } from './conversions/reading.ts';
import { allCases, recordedConversions } from './conversions/recorded.ts';

/** What ids say is asked for beside them; the recordings are of the ids alone. */
const entriesToo = ',"return_token_strs":true';

const recorded = recordedConversions();
const answers = new Map(
  recorded.flatMap(({ asked }) => asked.map((one) => [one.body.replace(entriesToo, ''), one])),
);

describe('conversions of vLLM, as recorded', () => {
  let engine: Engine;
  let server: StandIn;
  let played = false;
  const unheard: string[] = [];
  /** Asked again and again, to see whether the engine is still the one that it was. */
  const aboutFacts = new Set<string>();

  before(async () => {
    server = await standIn('qwen3', {
      intercept: (path, body) => {
        if (!played) aboutFacts.add(body);
        if (path !== '/tokenize' || aboutFacts.has(body) || !body.includes('"messages"')) return undefined;
        const chat = body.replace(entriesToo, '');
        const answer = answers.get(chat);
        if (answer === undefined) unheard.push(chat);
        if (answer?.ids == null) return { status: answer?.status ?? 500, text: '{}' };
        const { ids } = answer;
        return {
          status: 200,
          text: JSON.stringify({ count: ids.length, max_model_len: 32_768, tokens: ids }),
        };
      },
    });
    ({ engine } = openAdapter(server.url, { adapter: VllmEngine, timeoutMs: 60_000 }));
    assert.ok((await engine.facts(undefined, context)).known);
    played = true;
  });
  after(async () => {
    await engine.close();
    await server.close();
  });

  it('are there for every body, and for no other', () => {
    const named = (cases: readonly { readonly kind: string; readonly name: string }[]): string[] =>
      cases.map(({ kind, name }) => `${kind}: ${name}`);
    assert.deepEqual(named(recorded), named(allCases));
  });

  for (const [index, one] of allCases.entries()) {
    it(`${one.kind}: ${one.name}`, async () => {
      const { rendered } = recorded[index] ?? assert.fail('not recorded');
      const ids = await idsByAdapter(engine, one);
      assert.deepEqual(unheard.splice(0), [], 'asked as it was never asked of the real one');
      const isFollowed = followed.includes(one);
      assert.deepEqual(ids, isFollowed ? (rendered ?? undefined) : undefined);
    });
  }
});
