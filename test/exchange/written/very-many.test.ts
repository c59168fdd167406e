// Lists of more items than one call of a function can be given arguments: each is read, and none ends in a thrown error.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BetweenTexts } from '../../../src/exchange/written/between-texts.ts';
import { heldTools } from '../../../src/exchange/written/held-tools.ts';
import { lostParts } from '../../../src/exchange/written/lost-parts.ts';
import { jsonTexts, promptParts } from '../../../src/exchange/written/prompt-parts.ts';
import { buildRequest } from '../../support/exchange-builder.ts';

const count = 200_000;

describe('very many', () => {
  it('items of an argument are texts in their order', () => {
    const texts = jsonTexts(Array.from({ length: count }, (_, index) => `item ${index}`));
    assert.deepEqual([texts.length, texts[0], texts.at(-1)], [count, 'item 0', `item ${count - 1}`]);
  });

  it('parts of a result of a tool are parts of the prompt', () => {
    const content = Array.from({ length: count }, (_, index) => ({ type: 'text', text: `Line ${index}.` }));
    const request = buildRequest(
      'messages',
      JSON.stringify({
        max_tokens: 1,
        messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'one', content }] }],
      }),
    );
    assert.ok(request.kind === 'chat');
    assert.equal(promptParts(request).flatMap(({ texts }) => texts).length, count);
  });

  // A budget ends the look elsewhere; what was not looked for once took a walk over all the others for each of them.
  it('texts that are lost cost as much as they are', { timeout: 30_000 }, () => {
    const turns = Array.from({ length: count / 2 }, (_, index) => index);
    const messages = turns.flatMap((index) => [
      { role: 'user', content: `Which river flows by ${index}?` },
      { role: 'assistant', content: `By number ${index} it is the Elbe.` },
    ]);
    const request = buildRequest('chat', { messages });
    assert.ok(request.kind === 'chat');
    const rendered = turns.map((index) => `<|user|>Which river flows by ${index}?<|assistant|>`).join('');
    const { texts } = lostParts(request, rendered);
    assert.ok(texts.length > 0 && texts.every(({ sort }) => sort === 'answer'));
  });

  it('tools are looked for by their names', () => {
    const tools = Array.from({ length: count }, (_, index) => ({
      name: `get_${index}`,
      path: ['tools', index],
      unread: false,
      properties: [],
      fields: [],
      members: [],
    }));
    const held = heldTools(tools, () => [], new BetweenTexts(`Call get_${count - 1} for that.`, []));
    assert.deepEqual(
      held.map(({ tool }) => tool.name),
      [`get_${count - 1}`],
    );
  });
});
