// Prompts in another model's form, or in none, on the real engine: each of three families gets the others' forms. Places are
// compared with the engine's own ids.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertHas, chat, clean, requestFindings, settled } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { completeText, expected, testedEngine } from '../support/tested-engine.ts';

const forms = {
  qwen3: { user: '<|im_start|>user\n', end: '<|im_end|>\n', ask: '<|im_start|>assistant\n' },
  gemma3: { user: '<start_of_turn>user\n', end: '<end_of_turn>\n', ask: '<start_of_turn>model\n' },
  'llama3.1': {
    user: '<|start_header_id|>user<|end_header_id|>\n\n',
    end: '<|eot_id|>',
    ask: '<|start_header_id|>assistant<|end_header_id|>\n\n',
  },
} as const;
type Family = keyof typeof forms;
const names = Object.keys(forms) as Family[];
const engines = {
  qwen3: await testedEngine('qwen3'),
  gemma3: await testedEngine('gemma3'),
  'llama3.1': await testedEngine('llama3.1'),
};
const { skip } = engines.qwen3;

const inForm = (family: Family, text = 'Which river flows through Dresden?'): string => {
  const { user, end, ask } = forms[family];
  return `${user}${text}${end}${ask}`;
};
const say = (content: string) => ({ messages: [{ role: 'user', content }] });

for (const family of names) {
  const others = names.filter((name) => name !== family);

  describe(`${family}: other forms`, { skip }, () => {
    it('are found as prompts, with what the engine reads their markers as', async (t) => {
      const { url } = await engines[family].server();
      const proxied = await openProxy(t, url);
      for (const other of others) {
        const answer = await completeText(proxied, { prompt: inForm(other) });
        assert.equal(answer.said.findings, 'foreign-template;not-in-vocabulary', other);
      }
      await settled(proxied, others.length);
      const found = await requestFindings(proxied);
      for (const [index, other] of others.entries()) {
        const marker = /^<[^>]+>/.exec(forms[other].user)![0];
        const ordinary = await expected.textIds({ url }, marker);
        const ids = await expected.promptIds({ url }, inForm(other));
        assertHas(found[index], { severity: 'error', culprit: 'client', field: 'prompt' });
        const { start, end } = found[index]?.['tokens'] as { start: number; end: number };
        assert.equal(end - start, 8);
        // The marker's last characters may be one token with what follows them.
        assert.deepEqual(ids.slice(start, start + 3), ordinary.slice(0, 3));
        assert.ok(ordinary.length > 1);
        assert.match(String(found[index]?.['message']), new RegExp(` ${ordinary.length} ordinary ones`));
      }
    });

    it('are found as messages, and not where they are quoted', async (t) => {
      const proxied = await openProxy(t, (await engines[family].server()).url);
      for (const other of others) {
        const prompt = inForm(other);
        const answer = await chat(proxied, say(prompt));
        assert.equal(answer.said.findings, 'foreign-template;not-in-vocabulary', other);
        const { user, end, ask } = forms[other];
        for (const text of [
          `What does ${user.trim()} mean?`,
          `Rate this:\n${prompt}`,
          `${prompt}\nWhy does this not work?`,
          `${user}Hi${end}${ask}Hello${end}`,
          `\`\`\`\n${prompt}\n\`\`\``,
          `const opening = ${JSON.stringify(user)} + text + ${JSON.stringify(end)};`,
        ])
          assert.deepEqual((await chat(proxied, say(text))).said, clean, text);
        const quoted = inForm(family, `Rate this:\n${prompt}`);
        assert.deepEqual((await completeText(proxied, { prompt: quoted })).said, clean, quoted);
      }
      assert.deepEqual((await completeText(proxied, { prompt: inForm(family) })).said, clean);
    });

    it('are found where the model’s own markers are misspelt or unfilled', async (t) => {
      const proxied = await openProxy(t, (await engines[family].server()).url);
      const own = inForm(family);
      const misspelt = family === 'gemma3' ? own.replaceAll('<', '<|') : own.replaceAll('|>', '>');
      const unfilled = own.replace(/user/, '{role}');
      for (const prompt of [misspelt, unfilled]) {
        const answer = await completeText(proxied, { prompt });
        assert.equal(answer.said.findings, 'foreign-template;malformed', prompt);
      }
    });

    it('are found where one of its markers is mistyped, and where a user’s turn is never ended', async (t) => {
      const { url } = await engines[family].server();
      const proxied = await openProxy(t, url);
      const { user, end, ask } = forms[family];
      const marker = end.trim();
      const wrong = marker.replace('d', '');
      const prompts = {
        [`${user}Hi${end.replace(marker, wrong)}${ask}`]: 'malformed',
        [`${user.replace('st', 'ts')}Hi${end}${ask}`]: 'malformed',
        [`${user}Hi${ask}`]: 'unended-turn',
        [`${user}Hi${end}${ask}Yes${end}${user}So?\n${ask}`]: 'unended-turn',
      };
      for (const [prompt, cause] of Object.entries(prompts).slice(family === 'llama3.1' ? 1 : 0))
        assert.match(
          (await completeText(proxied, { prompt })).said.findings ?? '',
          new RegExp(`foreign-template;${cause}`),
          prompt,
        );
      for (const text of [
        `What is wrong with ${wrong} here?`,
        `Is it ${user}?`,
        `What does ${ask.trim()} open?`,
      ]) {
        const { said } = await completeText(proxied, { prompt: `${user}${text}${end}${ask}` });
        assert.doesNotMatch(said.findings ?? '', /foreign/, text);
      }
    });

    it('are found as words and as written objects, each told once', async (t) => {
      const proxied = await openProxy(t, (await engines[family].server()).url);
      const prompts = {
        'System: be brief\nHuman: which lake is the deepest?': 'role-words',
        '### Instruction:\nAdd 2 and 2.\n\n### Response:\n': 'role-words',
        "[SystemMessage(content='Be brief'), HumanMessage(content='Hi')]": 'messages-as-text',
        '[{"role": "user", "content": "Hi"}]': 'messages-as-text',
        "[{'type': 'text', 'text': 'hello'}]": 'parts-as-text',
      };
      for (const [prompt, cause] of Object.entries(prompts)) {
        const answer = await completeText(proxied, { prompt });
        assert.equal(answer.said.findings, `stringified-prompt;${cause}`, prompt);
      }
      const asMessage = await chat(proxied, say("[{'type': 'text', 'text': 'hello'}]"));
      assert.equal(asMessage.said.findings, 'stringified-prompt;parts-as-text');
      assert.deepEqual((await chat(proxied, say('Rate this:\nHuman: hi\nAI: hello'))).said, clean);
    });

    it('are rejected before the engine sees them, where the operator asks for it', async (t) => {
      const proxied = await openProxy(t, (await engines[family].server()).url, {
        MODE: 'strict',
        DETECTORS_FOREIGN_TEMPLATE_ACTION: 'reject',
        DETECTORS_STRINGIFIED_PROMPT_ACTION: 'reject',
      });
      const [other = family] = others;
      const answers = {
        foreign_template: await completeText(proxied, { prompt: inForm(other) }),
        stringified_prompt: await completeText(proxied, { prompt: 'Human: hi\nAI:' }),
      };
      for (const [code, { status, json }] of Object.entries(answers)) {
        assert.equal(status, 400);
        assertHas(json['error'] as Record<string, unknown>, { code, param: 'prompt' });
      }
      assert.equal((await completeText(proxied, { prompt: inForm(family) })).status, 200);
    });
  });
}

describe('roles that the protocol does not have', { skip }, () => {
  const talk = (user: string, assistant: string) => ({
    messages: [
      { role: user, content: 'Which river flows through Dresden?' },
      { role: assistant, content: 'The Elbe.' },
      { role: 'user', content: 'And through Prague?' },
    ],
  });
  // As the template of each has it: Qwen3's leaves such messages out, the others write any role as it was sent.
  const told = {
    qwen3: 'content-lost;unknown-role',
    gemma3: 'content-lost;sent-role',
    'llama3.1': 'content-lost;sent-role',
  };
  for (const family of names) {
    it(`${family}: are told as what its template makes of them`, async (t) => {
      const proxied = await openProxy(t, (await engines[family].server()).url);
      for (const [user, assistant] of [
        ['user', 'ai'],
        ['user', 'bot'],
        ['user', 'Assistant'],
      ] as const) {
        const { said } = await chat(proxied, talk(user, assistant));
        assert.equal(
          said.findings?.split(', ').includes(told[family]),
          true,
          `${assistant}: ${said.findings}`,
        );
      }
      await settled(proxied, 3);
    });
  }
});
