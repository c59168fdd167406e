// What an operator asks the engine about a text and about its models, without waking or loading anything.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { byteModelFile } from '../../support/gguf/byte-model.ts';
import { realEngine } from '../../support/real-engine.ts';
import { context, openAdapter } from '../engine-under-test.ts';

const model = () =>
  byteModelFile({
    name: 'explained',
    markers: ['<|bos|>'],
    bos: '<|bos|>',
    addBos: true,
    userDefined: ['<u>'],
  });
const awake = await realEngine(model);
const sleepy = await realEngine(model, { args: ['--sleep-idle-seconds', '1'] });

const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function adapterOf(server: typeof awake) {
  const { url } = await server.server();
  const adapter = openAdapter(url);
  closers.push(() => adapter.engine.close());
  return { ...adapter, url };
}

describe('llama-server explains a text', { skip: awake.skip }, () => {
  it('under both switches, with the text or the bytes of each token', async () => {
    const { engine } = await adapterOf(awake);
    const views = await engine.explain('<|bos|>é<u>', undefined, context);
    assert.ok(!('known' in views));
    const shown = views.map(({ options, asPrompt, ids, pieces }) => [
      options['parse_special'],
      options['add_special'],
      asPrompt,
      ids.length,
      pieces.slice(0, 2),
    ]);
    assert.deepEqual(shown, [
      [true, true, true, 5, ['<|bos|>', '<|bos|>']],
      [true, false, false, 4, ['<|bos|>', [0xc3]]],
      [false, true, false, 11, ['<|bos|>', '<']],
      [false, false, false, 10, ['<', '|']],
    ]);
    for (const { ids, pieces } of views) {
      assert.equal(ids.length, pieces.length);
      assert.equal(pieces.at(-1), '<u>', 'a user-defined token is one with special parsing or without');
    }
  });

  it('and lists its models with the context that they were trained for', async () => {
    const { engine } = await adapterOf(awake);
    assert.deepEqual(await engine.models(context), [
      { name: 'explained', aliases: ['explained'], status: 'loaded', trainedContextTokens: 65_536 },
    ]);
  });

  it('but never wakes up for it', async () => {
    const { engine, url } = await adapterOf(sleepy);
    await (await sleepy.server()).waitForLog(/entering sleeping state/);
    assert.deepEqual(await engine.explain('a', undefined, context), {
      known: false,
      reason: 'engine-sleeping',
    });
    assert.ok(!('known' in (await engine.models(context))));
    const props = (await (await fetch(`${url}/props`)).json()) as { is_sleeping: boolean };
    assert.equal(props.is_sleeping, true);
  });
});
