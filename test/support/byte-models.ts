// Small models for more than one test: two that differ in everything that facts are learnt from, and a wrong one.
import { byteModelFile } from './gguf/byte-model.ts';

const turns = (user: string, assistant: string, end: string): string =>
  `{% for m in messages %}{{ ("${user}" if m.role == "user" else "${assistant}") + m.content + "${end}" }}{% endfor %}` +
  `{% if add_generation_prompt %}{{ "${assistant}" }}{% endif %}`;

/** The engine adds `<s>` to its prompts. */
export const withBos = {
  file: (name = 'with-bos'): Promise<string> =>
    byteModelFile({
      name,
      markers: ['<s>', '<|user|>', '<|assistant|>', '<|end|>'],
      bos: '<s>',
      addBos: true,
      chatTemplate: `{{ bos_token }}${turns('<|user|>', '<|assistant|>', '<|end|>')}`,
    }),
  turn: '<|user|>Hi<|end|><|assistant|>',
};

/** The engine adds nothing; the markers are others. */
export const withoutBos = {
  file: (name = 'without-bos'): Promise<string> =>
    byteModelFile({
      name,
      markers: ['[SYS]', '[U]', '[A]', '[E]', '<s>'],
      chatTemplate: turns('[U]', '[A]', '[E]'),
    }),
  turn: '[U]Hi[E][A]',
};

/** The template writes BOS twice: the engine takes one off the rendered text and adds one, so two remain. */
export const doubling = {
  file: (name = 'doubling'): Promise<string> =>
    byteModelFile({
      name,
      markers: ['<s>', '<|user|>', '<|assistant|>', '<|end|>'],
      bos: '<s>',
      addBos: true,
      chatTemplate:
        '{{ bos_token }}{{ bos_token }}{% for m in messages %}{{ "<|" + m.role + "|>" + m.content + "<|end|>" }}' +
        '{% endfor %}{% if add_generation_prompt %}{{ "<|assistant|>" }}{% endif %}',
    }),
};
