// Which tools a prompt holds, however many there are and whether the prompt has them or not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BetweenTexts } from '../../../src/exchange/written/between-texts.ts';
import { heldTools } from '../../../src/exchange/written/held-tools.ts';
import { toolParts, type ToolParts } from '../../../src/exchange/written/tool-parts.ts';
import { buildRequest } from '../../support/exchange-builder.ts';

function toolsOf(definitions: readonly object[]): readonly ToolParts[] {
  const tools = definitions.map((one) => ({ type: 'function', function: one }));
  const request = buildRequest('chat', JSON.stringify({ messages: [], tools }));
  assert.ok(request.kind === 'chat');
  return toolParts(request);
}

const inPrompt = (text: string): BetweenTexts => new BetweenTexts(text, []);
const heldIn = (definitions: readonly object[], text: string): string[] =>
  heldTools(toolsOf(definitions), () => [], inPrompt(text)).map(({ tool }) => tool.name);

const numbered = (count: number, description?: (index: number) => string): { name: string }[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `get_thing_${index}`,
    ...(description && { description: description(index) }),
  }));

describe('held tools', () => {
  const tools = numbered(40, (index) => `Says what thing ${index} is.`);
  const names = tools.map(({ name }) => name);
  const filler = ' x'.repeat(9000) + ' ';

  it('are found in order, in any order, and far from each other', () => {
    for (const order of [tools, tools.toReversed()]) {
      assert.deepEqual(heldIn(tools, order.map((tool) => JSON.stringify(tool)).join('\n')), names);
      assert.deepEqual(heldIn(tools, order.map(({ name }) => name).join(filler)), names);
    }
  });

  it('are not those whose names are a part of others', () => {
    const longer = tools.map(({ name }) => `${name}0 my-${name} é${name}`).join('\n');
    assert.deepEqual(
      heldIn(numbered(40), longer),
      names.filter((name) => longer.split(/ |\n/).includes(name)),
    );
    assert.deepEqual(heldIn(numbered(3), longer), []);
  });

  it('are told by their descriptions where a template renames them, in any form', () => {
    const quoted = numbered(40, (index) => `Thing <${index}> & "what it is"\nto whom.`);
    const descriptions = quoted.map((tool) => (tool as { description?: string }).description ?? '');
    const escaped = [
      descriptions.join('\n'),
      JSON.stringify(descriptions),
      JSON.stringify(descriptions)
        .replaceAll('<', String.raw`\u003c`)
        .replaceAll('>', String.raw`\u003e`)
        .replaceAll('&', String.raw`\u0026`),
    ];
    for (const text of escaped) assert.deepEqual(heldIn(quoted, text), names);
    const chinese = numbered(40, (index) => `${index}号工具说明它是什么东西，以及给谁看。`);
    const said = chinese.map((tool) => (tool as { description?: string }).description).join('\n');
    assert.deepEqual(heldIn(chinese, said), names);
    assert.deepEqual(heldIn(chinese, said.slice(0, said.lastIndexOf('\n'))).length, 39);
  });

  it('are those that stand more often outside messages than the conversation calls them', () => {
    const few = toolsOf(numbered(4));
    const call = (name: string) => ({ name, arguments: null, path: [], argumentsPath: [], unread: false });
    const messages = [
      { role: 'assistant', path: [], texts: [], calls: [call('get_thing_0'), call('get_thing_1')] },
    ];
    const all = 'get_thing_0 get_thing_1 get_thing_1 get_thing_3';
    const held = heldTools(
      few,
      () => messages,
      new BetweenTexts(` ${all}`, [], [{ start: 1, end: all.length + 1 }]),
    );
    assert.deepEqual(
      held.map(({ tool }) => tool.name),
      ['get_thing_1', 'get_thing_3'],
    );
  });

  it('are told by their descriptions where a prompt names none of many', () => {
    const many = numbered(1000, (index) => `Says what thing ${index} is like.`);
    const said = many.map((tool) => (tool as { description?: string }).description).join('\n');
    assert.equal(heldIn(many, said).length, 1000);
    assert.equal(heldIn(many, said.slice(said.indexOf('\n') + 1)).length, 999);
    assert.equal(heldIn(many, 'Nothing of them.').length, 0);
  });

  it('cost what the prompt is long, not that for each of them', () => {
    const text = Array.from({ length: 100_000 }, (_, index) => `Says what ${index} is like.`).join(' ');
    const seconds = (count: number): number => {
      const missing = toolsOf(numbered(count, (index) => `Says what thing ${index} is.`));
      const start = process.cpuUsage();
      assert.deepEqual(
        heldTools(missing, () => [], inPrompt(text)),
        [],
      );
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1e6;
    };
    seconds(100);
    // One by one they take a hundred times as long as one of them.
    assert.ok(seconds(4000) < 20 * Math.max(0.05, seconds(40)));
  });

  it('are not said to be missing where the search had to end', () => {
    const same = numbered(2000, (index) => `${'a'.repeat(16)}"${index}`);
    const text = 'a'.repeat(2_000_000);
    assert.equal(heldIn(same, text).length, same.length);
  });
});
