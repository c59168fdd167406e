// Where a reply that the client has begun starts in the prompt, however the template opens it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { trailingAssistantStart } from '../../src/sessions/raw-turns.ts';
import { factsOf } from '../support/exchange-builder.ts';
import { tokenize } from '../support/qwen3-sessions.ts';

const question = '<|im_start|>user\nHi<|im_end|>\n';
/** As GLM 4.6 has it: in the history a line break follows, where an answer is asked for none does. */
const facts = {
  ...factsOf.qwen3,
  generationPrompt: { text: '<|im_start|>assistant', ids: [151_644, 77_091] },
};

async function startsAt(prompt: string): Promise<string | undefined> {
  const tokens = await tokenize(prompt);
  const start = trailingAssistantStart(tokens, facts);
  const segment = tokens.segments?.find(({ tokenStart }) => tokenStart === start);
  return segment && prompt.slice(segment.textStart);
}

describe('a begun reply', () => {
  it('starts where its opening is as in the history', async () => {
    const begun = '<|im_start|>assistant\nRoses are';
    assert.equal(await startsAt(question + begun), begun);
  });

  it('starts where it is opened as an answer is asked for', async () => {
    const begun = '<|im_start|>assistant<think></think>Roses are';
    assert.equal(await startsAt(question + begun), begun);
  });

  it('is none where the last turn is another’s', async () => {
    assert.equal(await startsAt(question), undefined);
    assert.equal(await startsAt(`<|im_start|>assistant<think></think>Hi<|im_end|>\n${question}`), undefined);
  });
});
