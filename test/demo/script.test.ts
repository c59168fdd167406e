// The scripted traffic against the demo engine: each step has, in the engine's own ids, what it is there to show.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { demoScript, type DemoScene, type DemoStep } from '../../src/demo/script.ts';
import { commonPrefixLength } from '../../src/demo/slots.ts';
import { useDemoEngine, type JsonObject } from './running-engine.ts';

const stepsOf = (scene: DemoScene): DemoStep[] => demoScript.filter((step) => step.scene === scene);
const turns: readonly DemoScene[] = ['clean-chat', 'tools-reordered', 'clock-in-system', 'thinking-off'];

describe('the scripted traffic', () => {
  const engine = useDemoEngine();

  const promptOf = async ({ path, body }: DemoStep): Promise<number[]> => {
    const content =
      path === '/completion' ? body['prompt'] : (await engine.ask('/apply-template', body))['prompt'];
    return (await engine.ask('/tokenize', { content, add_special: true }))['tokens'] as number[];
  };
  const textOf = async (tokens: readonly number[]): Promise<string> =>
    String((await engine.ask('/detokenize', { tokens }))['content']);

  /** The second turn's ids from where they leave the first turn's prompt, and how many of that prompt are lost. */
  const leaving = async (scene: DemoScene): Promise<{ kept: string; lost: string }> => {
    const [first, second] = stepsOf(scene);
    const [earlier, later] = [await promptOf(first!), await promptOf(second!)];
    const length = commonPrefixLength(earlier, later);
    return { kept: await textOf(earlier.slice(0, length)), lost: await textOf(earlier.slice(length)) };
  };

  it('is answered, and its second turns send back what the first were answered', async () => {
    for (const scene of turns) {
      const [first, second] = stepsOf(scene);
      const reply = (await engine.ask(first!.path, first!.body)) as { choices?: { message: JsonObject }[] };
      const sentBack = second!.body['messages'] as JsonObject[];
      assert.deepEqual(sentBack[2], reply.choices?.[0]?.message, scene);
      await engine.ask(second!.path, second!.body);
    }
    for (const { path, body } of demoScript) await engine.ask(path, body);
  });

  it('has a chat that keeps its whole first prompt', async () => {
    assert.equal((await leaving('clean-chat')).lost, '');
  });

  it('has two BOS in front of the rendered prompt, and none of the markers in the bare question', async () => {
    const [rendered, bare] = [stepsOf('double-bos')[0]!, stepsOf('raw-prompt')[0]!];
    assert.match(await textOf(await promptOf(rendered)), /^<bos><bos><\|turn\|>/);
    assert.equal(await textOf(await promptOf(bare)), '<bos>What is the capital of France?');
  });

  it('breaks off in the list of tools', async () => {
    const { kept, lost } = await leaving('tools-reordered');
    assert.match(kept, /"name": "get_$/);
    assert.match(lost, /^weather/);
  });

  it('breaks off in the seconds of the clock, before the rules', async () => {
    const { kept, lost } = await leaving('clock-in-system');
    assert.match(kept, /Current time: 10:00:$/);
    assert.match(lost, /^01\. You are a helpful assistant/);
  });

  it('loses nothing but the empty think block with thinking off', async () => {
    assert.equal((await leaving('thinking-off')).lost, '<think>\n\n</think>\n\n');
  });
});
