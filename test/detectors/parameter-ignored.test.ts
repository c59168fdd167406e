// Which fields had no effect, shown by the prompt; above all the values that ask for nothing, or for what is there.
import { parameterIgnored } from '../../src/detectors/parameter-ignored.ts';
import { fingerprint } from '../../src/exchange/fingerprint.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const { gemma3, qwen3 } = factsOf;
const raw = (fields: object, more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'completion',
  body: JSON.stringify({ prompt: 'Hé', ...fields }),
  text: 'Hé',
  ids: [[2, 5, 6]],
  ...more,
});
const open = [151_644, 872, 198, ...qwen3.generationPrompt.ids];
const chat = (fields: object, more: Partial<ExchangeShape> = {}): ExchangeShape => ({
  route: 'chat',
  facts: qwen3,
  body: JSON.stringify({ messages: [{ role: 'user', content: 'Hé' }], ...fields }),
  text: '<|im_start|>user\nHé<|im_end|>\n<|im_start|>assistant\n',
  ids: [open],
  ...more,
});
const thinkingOff = [...open, ...qwen3.thinkTail.ids];
const documents = [{ title: 'Weirs', text: 'A "weir" holds\nwater.' }];

const ownTemplate = '{% for message in messages %}{{ message.content }}{% endfor %}';
const templateHash = fingerprint(ownTemplate);

const inputs = {
  read: ['documents', 'enable_thinking', 'messages', 'preserved_thinking', 'thinking_effort', 'tools'],
  byEngine: ['reasoning_effort'],
};
const shown = { ...qwen3, templateInputs: inputs };
const plain = { ...qwen3, templateInputs: { read: ['messages'], byEngine: ['enable_thinking'] } };
const given = (chatTemplateKwargs: unknown, facts: ExchangeShape['facts'] = shown): ExchangeShape =>
  chat({ chat_template_kwargs: chatTemplateKwargs }, { facts });

const handing = {
  ...qwen3,
  ignoredFields: qwen3.ignoredFields.map((field) =>
    field.name === 'documents' ? ({ ...field, by: 'template' } as const) : field,
  ),
};

testDetector(parameterIgnored, {
  clean: [
    { name: 'arguments that the template reads', exchange: given({ enable_thinking: false, tools: [] }) },
    { name: 'an argument that the engine reads', exchange: given({ reasoning_effort: 'high' }) },
    {
      name: 'the switch that the engine has for every template',
      exchange: given({ enable_thinking: true }, plain),
    },
    { name: 'arguments of a template that is not shown', exchange: given({ thinkin: true }, qwen3) },
    {
      name: 'the same by all the names that families have for it',
      exchange: given({ enable_thinking: true, thinking: true }),
    },
    {
      name: 'a switch put off of a template without',
      exchange: given({ thinking: false, think: null }, plain),
    },
    {
      name: 'arguments that hold nothing',
      exchange: given({ documents: [], style: '', controls: {} }, plain),
    },
    { name: 'no arguments', exchange: given({}) },
    { name: 'arguments that are none', exchange: given('thinkin') },
    { name: 'a list in the place of arguments', exchange: given([{ thinkin: true }]) },
    {
      name: 'arguments on a raw route',
      exchange: raw({ chat_template_kwargs: { thinkin: true } }, { facts: shown }),
    },
    {
      name: 'arguments of a prompt that is not known',
      exchange: chat({ chat_template_kwargs: { thinkin: true } }, { facts: shown, ids: ['media'] }),
    },
    {
      name: 'documents that were cut away with the rest of the prompt',
      exchange: chat({ documents }, { facts: handing, cut: 'start' }),
    },
    { name: 'a request without such fields', exchange: raw({ temperature: 0, seed: 1 }) },
    { name: 'fields that no tokens hang on', exchange: chat({ user: 'x', best_of: 2, logit_bias: {} }) },
    { name: 'BOS wanted, and there', exchange: raw({ add_special_tokens: true }) },
    { name: 'BOS unwanted, and not there', exchange: raw({ add_special_tokens: false }, { ids: [[5, 6]] }) },
    {
      name: 'BOS unwanted of a family without',
      exchange: raw({ add_special_tokens: false }, { facts: qwen3, ids: [[5]] }),
    },
    {
      name: 'BOS unwanted, for the text brings it',
      exchange: raw({ prompt: '<bos>Hé', add_special_tokens: false }),
    },
    {
      name: 'BOS unwanted in front of ids',
      exchange: raw({ prompt: [2, 5], add_special_tokens: false }, { ids: [[2, 5]] }),
    },
    { name: 'no BOS added to a chat', exchange: chat({ add_special_tokens: false }) },
    { name: 'no documents', exchange: chat({ documents: [] }) },
    { name: 'null for documents', exchange: chat({ documents: null }) },
    {
      name: 'documents that are in the prompt',
      exchange: chat({ documents }, { text: 'Weirs: A "weir" holds\nwater.' }),
    },
    {
      name: 'documents that are in it as JSON',
      exchange: chat({ documents }, { text: '{"text": "A \\"weir\\" holds\\nwater."}' }),
    },
    {
      name: 'documents that are very short, and in it',
      exchange: chat({ documents: [{ title: 'y' }] }, { text: 'Say why.' }),
    },
    { name: 'documents where the text is not known', exchange: idsAlone({ documents }) },
    { name: 'an empty suffix', exchange: raw({ suffix: '' }) },
    { name: 'a suffix that is in the prompt', exchange: raw({ suffix: 'end' }, { text: 'Hé end' }) },
    { name: 'echo switched off', exchange: raw({ echo: false }) },
    { name: 'a prompt within its limit', exchange: raw({ truncate_prompt_tokens: 3 }) },
    { name: 'no limit', exchange: raw({ truncate_prompt_tokens: -1 }) },
    { name: 'a context that is there', exchange: chat({ options: { num_ctx: 4096 } }) },
    {
      name: 'a context of an engine that tells none',
      exchange: chat({ options: { num_ctx: 32_768 } }, { facts: { ...qwen3, contextTokens: 0 } }),
    },
    { name: 'other options', exchange: chat({ options: { temperature: 1 } }) },
    { name: 'thinking switched on', exchange: chat({ thinking: { type: 'enabled', budget_tokens: 100 } }) },
    { name: 'thinking that is off', exchange: chat({ thinking: false }, { ids: [thinkingOff] }) },
    {
      name: 'a template that knows no thinking',
      exchange: chat({ thinking: false }, { facts: gemma3, ids: [[2, ...gemma3.generationPrompt.ids]] }),
    },
    { name: 'no answer opened', exchange: chat({ thinking: false }, { ids: [[151_644, 872, 198]] }) },
    { name: 'an engine of which nothing is known', exchange: raw({ echo: true }, { facts: factsOf.base }) },
    {
      name: 'the very template that is served',
      exchange: chat({ chat_template: ownTemplate }, { facts: { ...qwen3, templateHash } }),
    },
    { name: 'an empty template', exchange: chat({ chat_template: ' ' }) },
    { name: 'a template that is no text', exchange: chat({ chat_template: {} }) },
    {
      name: 'a template of its own, of a request whose prompt opens no answer',
      exchange: chat({ chat_template: ownTemplate }, { ids: [[151_644, 872, 198]] }),
    },
    { name: 'another route', exchange: { ...chat({ documents }), route: 'messages' } },
    { name: 'media', exchange: chat({ documents }, { ids: ['media'] }) },
    { name: 'an empty prompt', exchange: raw({ prompt: '', suffix: null }, { text: '', ids: [[2]] }) },
  ],
  found: [
    {
      name: 'documents of which a short title, and what they are, stand in any prompt',
      exchange: chat(
        { documents: [{ type: 'text', title: 'y', text: 'The Elbe is long.' }] },
        { text: 'Say why a text is long.' },
      ),
      findings: [{ cause: 'documents', field: 'documents' }],
    },
    {
      name: 'a template of its own',
      exchange: chat({ chat_template: ownTemplate }),
      findings: [
        {
          cause: 'chat-template',
          fact: 'chat-template',
          severity: 'warning',
          culprit: 'client',
          field: 'chat_template',
          message:
            'The engine ignores chat_template: the prompt opens the answer as the engine\'s own template does ("<|im_start|>assistant\\n").',
        },
      ],
    },
    {
      name: 'a template of its own beside thinking that is off',
      exchange: chat({ chat_template: ownTemplate }, { ids: [thinkingOff] }),
      findings: [{ cause: 'chat-template' }],
    },
    {
      name: 'documents that the engine hands to a template which does not write them',
      exchange: chat({ documents }, { facts: handing }),
      findings: [
        {
          cause: 'documents',
          // It is told of each request that loses some.
          fact: undefined,
          severity: 'warning',
          culprit: 'client',
          field: 'documents',
          message: 'The template does not write documents: nothing of it is in the prompt.',
          advice: 'Leave it out.',
        },
      ],
    },
    {
      name: 'an argument that is misspelt',
      exchange: given({ enable_thinkng: false }),
      findings: [
        {
          cause: 'template-argument',
          fact: 'template-argument:enable_thinkng',
          severity: 'warning',
          culprit: 'client',
          field: 'chat_template_kwargs.enable_thinkng',
          message:
            'The template does not read chat_template_kwargs.enable_thinkng: the prompt is the same without it.',
          advice: 'Send it as enable_thinking, which this template reads.',
        },
      ],
    },
    {
      name: 'arguments written in another way, or by the names of other families',
      exchange: given({ enableThinking: false, preserve_thinking: true, 'use-thinking': false }),
      findings: [
        { severity: 'warning', advice: 'Send it as enable_thinking, which this template reads.' },
        { severity: 'warning', advice: 'Send it as preserved_thinking, which this template reads.' },
        { severity: 'warning', advice: 'Send it as enable_thinking, which this template reads.' },
      ],
    },
    {
      name: 'the switch of another family, on the messages route, too',
      exchange: { ...given({ thinking: false }), route: 'messages' },
      findings: [{ severity: 'warning', advice: 'Send it as enable_thinking, which this template reads.' }],
    },
    {
      name: 'an argument beside those that are read, which none of them is like',
      exchange: given({ enable_thinking: true, thinking: 512, persona: 'pirate' }),
      findings: [
        { severity: 'info', field: 'chat_template_kwargs.thinking' },
        {
          severity: 'info',
          field: 'chat_template_kwargs.persona',
          advice: 'Take it away, or have whoever runs the engine give it a template that reads it.',
        },
      ],
    },
    {
      name: 'documents whose texts a message says, too',
      exchange: chat(
        { chat_template_kwargs: { documents } },
        { facts: plain, text: 'Weirs: A "weir" holds\nwater.' },
      ),
      findings: [{ severity: 'info', field: 'chat_template_kwargs.documents' }],
    },
    {
      name: 'documents for a template that reads none',
      exchange: given({ documents }, plain),
      findings: [
        {
          cause: 'template-argument',
          fact: undefined,
          severity: 'warning',
          field: 'chat_template_kwargs.documents',
        },
      ],
    },
    {
      name: 'BOS that was not wanted',
      exchange: raw({ add_special_tokens: false }),
      findings: [
        {
          cause: 'add-special-tokens',
          fact: 'add-special-tokens',
          severity: 'warning',
          culprit: 'client',
          field: 'add_special_tokens',
          message:
            'The engine ignores add_special_tokens: the prompt starts with a BOS (<bos>, id 2) that the text does not hold.',
          advice: 'Leave it out.',
        },
      ],
    },
    {
      name: 'BOS that was not wanted, in a batch whose first text brings one, too',
      exchange: {
        route: 'completion',
        body: { prompt: ['<bos>a', 'b'], add_special_tokens: false },
        ids: [
          [2, 2, 5],
          [2, 6],
        ],
      },
      findings: [{ promptIndex: 0 }],
    },
    {
      name: 'documents',
      exchange: chat({ documents }),
      findings: [{ cause: 'documents', field: 'documents' }],
    },
    { name: 'documents as texts', exchange: chat({ documents: ['A weir.'] }), findings: [{}] },
    { name: 'a suffix', exchange: raw({ suffix: 'end' }), findings: [{ cause: 'suffix', fact: undefined }] },
    { name: 'echo', exchange: raw({ echo: true }), findings: [{ cause: 'echo', fact: 'echo' }] },
    {
      name: 'a limit on the prompt',
      exchange: raw({ truncate_prompt_tokens: 2 }),
      findings: [
        {
          cause: 'truncate-prompt-tokens',
          message:
            'The engine ignores truncate_prompt_tokens: it asks for at most 2 tokens and the prompt has 3.',
        },
      ],
    },
    {
      name: 'a limit of one token',
      exchange: raw({ truncate_prompt_tokens: 1 }),
      findings: [
        {
          message:
            'The engine ignores truncate_prompt_tokens: it asks for at most 1 token and the prompt has 3.',
        },
      ],
    },
    {
      name: 'a larger context',
      exchange: chat({ options: { num_ctx: 32_768 } }),
      findings: [
        {
          cause: 'num-ctx',
          field: 'options.num_ctx',
          message: 'The engine ignores options.num_ctx: it asks for 32768 tokens and there are 4096.',
        },
      ],
    },
    { name: 'thinking switched off', exchange: chat({ thinking: false }), findings: [{ cause: 'thinking' }] },
    {
      name: 'thinking switched off in other words',
      exchange: chat({ thinking: { type: 'disabled' } }),
      findings: [{ cause: 'thinking' }],
    },
    {
      name: 'several at once',
      exchange: raw({ echo: true, suffix: 'end' }),
      findings: [{ cause: 'suffix' }, { cause: 'echo' }],
    },
  ],
});

/** A chat of which the ids are known and the text is not. */
function idsAlone(fields: object): ExchangeShape {
  const { route, facts, body, ids } = chat(fields);
  return { route, facts: facts!, body, ids: ids! };
}
