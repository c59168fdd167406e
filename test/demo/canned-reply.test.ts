// How the fixed reply is cut: whole, by a limit, by a stop word.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cannedText, planReply, type ReplyPlan } from '../../src/demo/canned-reply.ts';
import { loadDemoTokenizer } from '../../src/demo/tokenizer.ts';

const tokenizer = loadDemoTokenizer();
const textOf = (plan: ReplyPlan): string => plan.steps.map((step) => step.text).join('');

describe('the canned reply', () => {
  it('says that it is a demo and runs no model, and ends its turn', () => {
    const plan = planReply(tokenizer, -1, []);
    assert.equal(textOf(plan), cannedText);
    assert.match(cannedText, /demo engine\. It runs no model/);
    assert.equal(plan.stopType, 'eos');
    assert.equal(plan.steps.at(-1)?.id, tokenizer.endOfTurn.id);
  });

  it('stops at the limit in tokens', () => {
    const plan = planReply(tokenizer, 7, []);
    assert.equal(plan.steps.length, 7);
    assert.equal(plan.stopType, 'limit');
  });

  it('yields one token for a limit of 0', () => {
    assert.equal(planReply(tokenizer, 0, []).steps.length, 1);
  });

  it('is not cut by a limit that it just keeps', () => {
    const whole = planReply(tokenizer, -1, []).steps.length;
    assert.equal(planReply(tokenizer, whole, []).stopType, 'eos');
    assert.equal(planReply(tokenizer, whole - 1, []).stopType, 'limit');
  });

  it('ends before a stop word, also inside a token and across tokens', () => {
    for (const word of ['demo engine', 'emo', ' ', '. It runs']) {
      const plan = planReply(tokenizer, -1, ['not there', word, '']);
      assert.equal(textOf(plan), cannedText.slice(0, cannedText.indexOf(word)), word);
      assert.equal(plan.stopType, 'word');
      assert.equal(plan.stoppingWord, word);
    }
  });
});
