// Which prompts end without an opened answer by mistake; above all the ways in which that can be meant.
import { missingGenerationPrompt } from '../../src/detectors/missing-generation-prompt.ts';
import { testDetector } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const { qwen3, gemma3, unopened, mistral, wordsBesideMarkers } = factsOf;
const user = { role: 'user', content: 'Hé' };
const start = '<|im_start|>user\nHé<|im_end|>\n';
const opening = '<|im_start|>assistant\n';
const closed = [151_644, 872, 198, 39, 151_645, 198];
const open = [...closed, ...qwen3.generationPrompt.ids];

const chat = (text: string | undefined, ids: readonly number[], more: object = {}): ExchangeShape => ({
  route: 'chat',
  facts: qwen3,
  body: JSON.stringify({ messages: [user], ...more }),
  ids: [ids],
  ...(text !== undefined && { text }),
});
const raw = (prompt: unknown, more: Partial<ExchangeShape> = {}, fields: object = {}): ExchangeShape => ({
  route: 'completion',
  facts: qwen3,
  body: JSON.stringify({ prompt, ...fields }),
  ids: [closed],
  ...more,
});
const r1 = {
  ...qwen3,
  generationPrompt: { text: '<｜Assistant｜><think>\n', ids: [1, 2, 3] },
  markers: [{ text: '<｜Assistant｜>', id: 1 }],
  turnEnds: ['<｜end▁of▁sentence｜>'],
  roleMarkers: [
    { role: 'user', opening: '<｜User｜>' },
    { role: 'assistant', opening: '<｜Assistant｜>' },
  ],
};
const unfilled = {
  ...qwen3,
  generationPrompt: { text: '<|im_start|>{role}\n', ids: [151_644, 90, 198] },
};

/** The template's answers open in a way that goes on in the history, and where thinking is off. */
const goesOn = {
  ...qwen3,
  generationPrompt: { text: '<|assistant|>', ids: [1] },
  thinkTail: { text: '\n<think></think>\n', ids: [2, 3, 4] },
  markers: [
    { text: '<|user|>', id: 0 },
    { text: '<|assistant|>', id: 1 },
  ],
  roleMarkers: [
    { role: 'user', opening: '<|user|>\n' },
    { role: 'assistant', opening: '<|assistant|>\n' },
  ],
};
/** Its turns of tools are named `ai`. */
const withAi = {
  ...qwen3,
  roleMarkers: [...qwen3.roleMarkers, { role: 'tool', opening: '<|im_start|>ai\n' }],
};
const rawFrom = (opened: string, more: Partial<ExchangeShape> = {}): ExchangeShape =>
  raw(start + opened, more);

testDetector(missingGenerationPrompt, {
  clean: [
    { name: 'an opened answer', exchange: chat(start + opening, open) },
    {
      name: 'one that lost its start',
      exchange: { ...chat(undefined, open.slice(3), { truncate_prompt_tokens: 6 }), cut: 'start' },
    },
    { name: 'one of which only the ids are known', exchange: chat(undefined, open) },
    {
      name: 'a prompt in the form of another template, as a trace may hold it',
      exchange: chat('<start_of_turn>user\nHé<end_of_turn>\n<start_of_turn>model\n', [27, 39, 198]),
    },
    { name: 'ids of another tokenizer', exchange: chat(undefined, [999_999, 39, 5]) },
    { name: 'a prompt of nothing', exchange: chat('', []) },
    {
      name: 'thinking switched off',
      exchange: chat(undefined, [...open, ...qwen3.thinkTail.ids], {
        chat_template_kwargs: { enable_thinking: false },
      }),
    },
    {
      name: 'an answer opened in another way than usual, as in the history',
      exchange: { ...chat('<｜User｜>Hé<｜Assistant｜></think>', [4, 39, 1, 9]), facts: r1 },
    },
    {
      name: 'one opened in a way that arguments for the template may have asked for',
      exchange: chat(`${start}assistant:`, [...closed, 77_091, 25], {
        chat_template_kwargs: { enable_thinking: false },
      }),
    },
    {
      name: 'the same where only the ids are known, with arguments for the template',
      exchange: { ...chat(undefined, [4, 39, 1, 9], { reasoning_effort: 'low' }), facts: r1 },
    },
    {
      name: 'an opened answer behind which the template writes more',
      exchange: chat(`${start + opening}<think>`, [...open, 151_667]),
    },
    { name: 'no answer asked for', exchange: chat(start, closed, { add_generation_prompt: false }) },
    { name: 'a message gone on with', exchange: chat(start, closed, { continue_final_message: true }) },
    {
      name: 'a last message of the assistant, of which another kind speaks',
      exchange: { ...chat(start, closed), body: { messages: [user, { role: 'assistant', content: '' }] } },
    },
    {
      name: 'a result of a tool, whose turn may go on',
      exchange: { ...chat(start, closed), body: { messages: [user, { role: 'tool', content: '1' }] } },
    },
    {
      name: '`[INST]`, whose end opens the answer',
      exchange: { ...chat('[INST] Hé [/INST]', [1, 3, 39, 4]), facts: mistral },
    },
    { name: 'a model without a template', exchange: { ...chat('Hé', [1, 39]), facts: factsOf.base } },
    { name: 'media', exchange: { ...chat(start, closed), ids: ['media'] } },
    {
      name: 'an answer opened by words that are no markers',
      exchange: {
        ...chat('User: Hé\n', [5, 6]),
        facts: {
          ...unopened,
          roleMarkers: [
            { role: 'user', opening: 'User: ' },
            { role: 'assistant', opening: 'Bot: ' },
          ],
        },
      },
    },
    { name: 'a rendered conversation with an opened answer', exchange: raw(start + opening) },
    { name: 'a raw prefill', exchange: raw(`${start}${opening}Sure, `) },
    ...['user', 'tool', 'observation', 'ipython', 'Alice', 'function_call', 'narrator', 'modeller'].map(
      (role) => ({ name: `a turn of ${role} to be written`, exchange: rawFrom(`<|im_start|>${role}\n`) }),
    ),
    {
      name: "a role that the template writes, though it is another's word for the answering side",
      exchange: rawFrom('<|im_start|>ai\n', { facts: withAi }),
    },
    { name: 'an answer of another role that the client began', exchange: rawFrom('<|im_start|>bot\nSure') },
    {
      name: 'other words for the answering side in the history',
      exchange: raw(`${start}<|im_start|>bot\nHi!<|im_end|>\n${start}${opening}`),
    },
    {
      name: 'a question about how another opens an answer',
      exchange: raw(`<|im_start|>user\nWhy <|im_start|>bot\n?<|im_end|>\n${opening}`),
    },
    {
      name: 'the same of a base model',
      exchange: rawFrom('<|im_start|>bot\n', { modelKind: 'base' }),
    },
    {
      name: 'the same of one that may be a base model',
      exchange: rawFrom('<|im_start|>bot\n', { facts: { ...qwen3, modelPath: '/qwen3-4b-base.gguf' } }),
    },
    {
      name: 'the same beside a template that is the engine’s',
      exchange: rawFrom('<|im_start|>bot\n ', {
        modelKind: 'instruct',
        facts: { ...qwen3, templateOrigin: 'default' },
      }),
    },
    { name: 'the same for scoring', exchange: raw(`${start}<|im_start|>bot\n `, {}, { max_tokens: 1 }) },
    {
      name: 'an answer opened as in the history',
      exchange: raw('<|user|>\nHé<|assistant|>\n', { facts: goesOn }),
    },
    {
      name: 'one without thinking',
      exchange: raw('<|user|>\nHé<|assistant|>\n<think></think>\n', { facts: goesOn }),
    },
    { name: 'a prefill behind a blank', exchange: rawFrom(`${opening} Yes`) },
    { name: 'a prefill that ends with a blank', exchange: rawFrom(`${opening}Yes `) },
    { name: 'a prefilled thought', exchange: rawFrom(`${opening}<think>\n`) },
    {
      name: 'words that open an answer, with a blank',
      exchange: raw('USER: Hi ASSISTANT:\n', { facts: wordsBesideMarkers }),
    },
    { name: 'an answer that is over, as for scoring', exchange: raw(`${start}${opening}Yes.<|im_end|>\n`) },
    { name: "a user's turn to be written by the model", exchange: raw('<|im_start|>user\n') },
    { name: "a user's turn that is left open", exchange: raw('<|im_start|>user\nHow do I') },
    { name: 'an instruction alone', exchange: raw('<|im_start|>system\nBe brief.<|im_end|>\n') },
    { name: 'scoring', exchange: raw(start, {}, { echo: true, logprobs: 1, max_tokens: 0 }) },
    { name: 'a request for one token', exchange: raw(start, {}, { max_tokens: 1 }) },
    { name: 'a fill-in prompt', exchange: raw(`<|fim_prefix|>${start}<|fim_suffix|><|im_end|>`) },
    { name: 'a base model', exchange: raw(start, { modelKind: 'base' }) },
    { name: 'plain text', exchange: raw('Once upon a time') },
    { name: 'an empty prompt', exchange: raw('', { ids: [[]] }) },
    { name: 'one token', exchange: raw('é', { ids: [[963]] }) },
    { name: 'ids, which would have to be decoded', exchange: raw(closed) },
    { name: 'text among ids', exchange: raw([151_644, start]) },
    {
      name: 'a rendered conversation for a model that never opens answers',
      exchange: raw('<|user|>\nHé\n', { facts: unopened }),
    },
  ],
  found: [
    {
      name: 'a conversation of which the client has the end cut off',
      exchange: { ...chat(undefined, closed.slice(0, 4), { truncate_prompt_tokens: 4 }), cut: 'end' },
      findings: [{ cause: 'cut-off', culprit: 'client', field: 'truncate_prompt_tokens' }],
    },
    {
      name: 'a rendered conversation that ends with the question',
      exchange: raw(start),
      findings: [
        {
          cause: 'rendered-by-client',
          culprit: 'client',
          severity: 'warning',
          field: 'prompt',
          tokens: { start: 5, end: 6 },
          message:
            'The prompt is a rendered conversation that ends with the question: what opens an answer is missing ("<|im_start|>assistant\\n").',
        },
      ],
    },
    {
      name: 'one of a batch, of several turns',
      exchange: raw([start + opening, `${start}${opening}Yes.<|im_end|>\n${start}`], { ids: [open, closed] }),
      findings: [{ promptIndex: 1, field: 'prompt[1]' }],
    },
    {
      name: 'another family',
      exchange: raw('<start_of_turn>user\nHé<end_of_turn>\n', { facts: gemma3 }),
      findings: [{ cause: 'rendered-by-client' }],
    },
    {
      name: 'an answer opened with another family’s word',
      exchange: rawFrom('<|im_start|>Model\n'),
      findings: [
        {
          cause: 'other-role',
          culprit: 'client',
          severity: 'warning',
          field: 'prompt',
          characters: { start: start.length, end: start.length + 18 },
          tokens: { start: 5, end: 6 },
          message: `At character ${start.length} of prompt the answer is opened with another role's word ("model"): the template opens answers with "<|im_start|>assistant\\n".`,
        },
      ],
    },
    {
      name: 'the same without the line end, of another family',
      exchange: raw('<start_of_turn>user\nHé<end_of_turn>\n<start_of_turn>assistant', { facts: gemma3 }),
      findings: [{ cause: 'other-role' }],
    },
    {
      name: 'the same behind white space, and in a batch',
      exchange: raw([start + opening, `${start}<|im_start|>GPT\n\n`], { ids: [open, closed] }),
      findings: [{ cause: 'other-role', promptIndex: 1, field: 'prompt[1]' }],
    },
    ...['asistant', 'Assistant', 'assistent', 'ASSISTANT'].map((role) => ({
      name: `the model’s own word as ${role}`,
      exchange: rawFrom(`<|im_start|>${role}\n`),
      findings: [
        {
          cause: 'other-role',
          message: `At character ${start.length} of prompt the answer is opened with another role's word (another spelling of "assistant"): the template opens answers with "<|im_start|>assistant\\n".`,
        },
      ],
    })),
    ...['\n ', '\n\n', ' ', '\r\n', '\n\t'].map((blank) => ({
      name: `${JSON.stringify(blank)} at the end`,
      exchange: rawFrom(`<|im_start|>assistant${blank}`),
      findings: [
        {
          cause: 'other-blank',
          culprit: 'client' as const,
          severity: 'warning' as const,
          tokens: { start: 5, end: 6 },
          characters: { start: start.length, end: start.length + 21 + blank.length },
          message: `Behind "<|im_start|>assistant" the prompt ends with ${JSON.stringify(blank)}, where the template writes "\\n": the answer begins behind other tokens than the model was trained on.`,
        },
      ],
    })),
    {
      name: 'the missing line end of a client that trims',
      exchange: rawFrom('<|im_start|>assistant'),
      findings: [{ cause: 'blank-missing', severity: 'info', culprit: 'client' }],
    },
    {
      name: 'a template that leaves it out of this conversation',
      exchange: chat(start, closed),
      findings: [{ cause: 'left-out', culprit: 'template' }],
    },
    {
      name: 'the same behind an answer in the history',
      exchange: chat(`${start}${opening}Yes.<|im_end|>\n${start}`, closed),
      findings: [{ cause: 'left-out', culprit: 'template' }],
    },
    {
      name: 'the same where only the ids are known',
      exchange: chat(undefined, closed),
      findings: [{ cause: 'left-out' }],
    },
    {
      name: 'a template that never opens the answer to come',
      exchange: { ...chat('<|user|>\nHé\n', [12, 5]), facts: unopened },
      findings: [{ cause: 'never-written', culprit: 'template', fact: 'never-written' }],
    },
    {
      name: 'a place that was never filled in',
      exchange: { ...chat(`${start}<|im_start|>{role}\n`, [...closed, 151_644, 90, 198]), facts: unfilled },
      findings: [{ cause: 'malformed', culprit: 'template', fact: 'malformed' }],
    },
  ],
});
