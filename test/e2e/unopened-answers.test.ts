// Templates that open no answer, or not always, or with an unfilled place, on a real engine: whose fault it is, and told once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Q, S } from '../support/conversations.ts';
import { assertHas, chat, clean, requestFindings } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { testedByteModel } from '../support/tested-engine.ts';

const turns = '{% for m in messages %}{{ "<|" + m.role + "|>" + m.content + "<|end|>" }}{% endfor %}';
const markers = ['<|system|>', '<|user|>', '<|assistant|>', '<|end|>'];
const model = (name: string, chatTemplate: string) => testedByteModel({ name, markers, chatTemplate });
const unopened = await model('unopened', turns);
const unfilled = await model(
  'unfilled',
  `${turns}{% if add_generation_prompt %}{{ "<|assistant|>{role}: " }}{% endif %}`,
);
/** Opens an answer only behind a long history. */
const forgetful = await model(
  'forgetful',
  `${turns}{% if add_generation_prompt and messages|length > 2 %}{{ "<|assistant|>" }}{% endif %}`,
);

const { skip } = unopened;

const found = (findings: string) => ({ ...clean, findings });

describe('missing-generation-prompt of a template', { skip }, () => {
  it('is told once of a template that never opens an answer, or opens it with an unfilled place', async (t) => {
    for (const [engine, cause] of [
      [unopened, 'never-written'],
      [unfilled, 'malformed'],
    ] as const) {
      const proxied = await openProxy(t, (await engine.server()).url);
      const { said } = await chat(proxied, { messages: Q });
      assert.deepEqual(said, found(`missing-generation-prompt;${cause}`));
      assert.deepEqual((await chat(proxied, { messages: Q })).said, clean);
      assertHas((await requestFindings(proxied))[0], { culprit: 'template', severity: 'warning' });
    }
  });

  it('blames a template for the conversations in which it forgets it', async (t) => {
    const proxied = await openProxy(t, (await forgetful.server()).url);
    const user = { role: 'user', content: 'Hi' };
    const { said } = await chat(proxied, { messages: [user] });
    assert.deepEqual(said, found('missing-generation-prompt;left-out'));
    assert.deepEqual((await chat(proxied, { messages: S[1] })).said, clean);
  });
});
