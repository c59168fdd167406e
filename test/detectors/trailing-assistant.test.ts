// Which last messages of the assistant are an accident, which are not gone on with, and which are meant.
import { trailingAssistant } from '../../src/detectors/trailing-assistant.ts';
import { testDetector, type FoundCase } from '../support/detector-tester.ts';
import { factsOf, type ExchangeShape } from '../support/exchange-builder.ts';

const user = { role: 'user', content: 'Hi' };
const { qwen3 } = factsOf;
const start = '<|im_start|>user\nHi<|im_end|>\n';
const opening = [...qwen3.generationPrompt.ids];
const closed = [151_644, 872, 198, 13_048, 151_645, 198];
const open = [...closed, ...opening];

interface More extends Partial<ExchangeShape> {
  readonly fields?: Record<string, boolean | string>;
}
const ending = (message: object, ids: readonly number[], { fields, ...more }: More = {}): ExchangeShape => ({
  route: 'chat',
  facts: qwen3,
  body: JSON.stringify({ messages: [user, message], ...fields }),
  ids: [ids],
  ...more,
});
const empty = (message: string): FoundCase => ({
  name: `an empty turn: ${message}`,
  exchange: {
    route: 'chat',
    facts: qwen3,
    body: `{"seed": 1.0, "messages": [ {"role":"user","content":"Hi"} ,\n ${message} ], "n": 1}`,
    ids: [closed],
    text: start,
  },
  findings: [
    {
      cause: 'empty',
      severity: 'warning',
      culprit: 'client',
      field: 'messages[1]',
      tokens: { start: 5, end: 6 },
      message:
        'The last message is a turn of the assistant without text, so the prompt lacks what opens an answer ("<|im_start|>assistant\\n").',
    },
  ],
  repaired: '{"seed": 1.0, "messages": [ {"role":"user","content":"Hi"} ], "n": 1}',
  repairedIds: [open],
  repairedText: `${start}<|im_start|>assistant\n`,
});
const prefill = { role: 'assistant', content: 'Sure, ' };

testDetector(trailingAssistant, {
  clean: [
    {
      name: 'one that may have been cut off',
      exchange: {
        route: 'chat',
        body: {
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content: 'Well,' },
          ],
        },
        ids: [[2, 105, 7]],
        cut: 'end',
      },
    },
    { name: "a user's last message", exchange: { ...ending(user, open), text: start } },
    { name: 'a lone message', exchange: { ...ending(user, open), body: { messages: [user] } } },
    { name: 'a result of a tool', exchange: ending({ role: 'tool', content: 'ok' }, open) },
    { name: 'an instruction at the end', exchange: ending({ role: 'system', content: 'Go on.' }, open) },
    {
      name: 'an answer that is followed by a question',
      exchange: { ...ending(user, open), body: { messages: [user, prefill, user] } },
    },
    {
      name: 'an empty answer that is followed by a question',
      exchange: {
        ...ending(user, open),
        body: { messages: [user, { role: 'assistant', content: '' }, user] },
      },
    },
    {
      name: 'a call of a tool',
      exchange: ending({ role: 'assistant', content: '', tool_calls: [{ id: 'a' }] }, closed),
    },
    {
      name: 'a call of a tool among the blocks',
      exchange: ending({ role: 'assistant', content: [{ type: 'tool_use', id: 'a' }] }, closed, {
        route: 'messages',
      }),
    },
    {
      name: 'thinking to go on with',
      exchange: ending({ role: 'assistant', content: '', reasoning_content: 'Hm' }, closed),
    },
    {
      name: 'an item that is no message',
      exchange: {
        route: 'responses',
        facts: qwen3,
        body: { input: [user, { type: 'function_call', name: 'f', arguments: '{}', call_id: 'a' }] },
        ids: [closed],
      },
    },
    {
      name: 'a raw prompt',
      exchange: { route: 'completion', facts: qwen3, body: { prompt: start }, ids: [closed] },
    },
    { name: 'media', exchange: { ...ending(prefill, open), ids: ['media'] } },
    {
      name: 'a prompt that the engine refused',
      exchange: { ...ending(prefill, open), ids: ['oracle-refused'] },
    },
  ],
  found: [
    empty('{"role":"assistant","content":""}'),
    empty('{"content":null,"role":"assistant"}'),
    empty('{"role":"assistant","content":[]}'),
    empty('{"role":"assistant","content":[{"type":"text","text":""}],"tool_calls":[]}'),
    {
      name: 'an empty turn that the template opens all the same',
      exchange: ending({ role: 'assistant', content: '' }, open),
      findings: [
        {
          cause: 'empty',
          message:
            'The last message is a turn of the assistant without text, and the prompt opens another answer behind it ("<|im_start|>assistant\\n").',
        },
      ],
      repaired: JSON.stringify({ messages: [user] }),
      repairedIds: [open],
    },
    {
      name: 'white space alone, which nobody sends on purpose and which is in the prompt',
      exchange: ending({ role: 'assistant', content: ' \n' }, [...open, 2303]),
      findings: [{ cause: 'empty', severity: 'warning' }],
    },
    {
      name: 'two empty turns, which go together',
      exchange: {
        ...ending(user, closed),
        body: { messages: [user, { role: 'assistant', content: '' }, { role: 'assistant', content: null }] },
      },
      findings: [{ cause: 'empty', field: 'messages[2]' }],
      repaired: JSON.stringify({ messages: [user] }),
      repairedIds: [open],
    },
    {
      name: 'an empty turn behind an answer, which would then be the last',
      exchange: {
        ...ending(user, closed),
        body: { messages: [user, { role: 'assistant', content: 'Hi.' }, { role: 'assistant', content: '' }] },
      },
      findings: [{ cause: 'empty', field: 'messages[2]' }],
    },
    {
      name: 'an empty turn that is all there is',
      exchange: { ...ending(user, [1]), body: { messages: [{ role: 'assistant', content: '' }] } },
      findings: [{ cause: 'empty', field: 'messages[0]' }],
    },
    {
      name: 'an empty turn of /v1/messages',
      exchange: {
        route: 'messages',
        facts: qwen3,
        body: '{"system":"S","messages":[{"role":"user","content":"é"},{"role":"assistant","content":[]}]}',
        ids: [closed],
      },
      findings: [{ cause: 'empty', field: 'messages[1]' }],
      repaired: '{"system":"S","messages":[{"role":"user","content":"é"}]}',
      repairedIds: [open],
    },
    {
      name: 'an empty item of /v1/responses',
      exchange: {
        route: 'responses',
        facts: qwen3,
        body: '{"input":[{"role":"user","content":"Hi"},{"type":"message","role":"assistant","content":""}]}',
        ids: [closed],
      },
      findings: [{ cause: 'empty', field: 'input[1]' }],
      repaired: '{"input":[{"role":"user","content":"Hi"}]}',
      repairedIds: [open],
    },
    {
      name: 'a prefill',
      exchange: ending(prefill, [...open, 39_814, 11, 220], {
        text: `${start}<|im_start|>assistant\nSure, `,
      }),
      findings: [{ cause: 'prefill', severity: 'info' }],
    },
    {
      name: 'a prefill of which only the ids are known',
      exchange: ending(prefill, [...open, 39_814, 11, 220], { fields: { continue_final_message: true } }),
      findings: [{ cause: 'prefill', severity: 'info' }],
    },
    {
      name: 'a prefill of no more than the end of thinking',
      exchange: ending(
        { role: 'assistant', content: '<think>\n\n</think>\n\n' },
        [...open, ...qwen3.thinkTail.ids],
        { text: `${start}<|im_start|>assistant\n<think>\n\n</think>\n\n` },
      ),
      findings: [{ cause: 'prefill' }],
    },
    {
      name: 'an answer behind which another one is opened',
      exchange: ending(prefill, [...open, 39_814, 11, 151_645, 198, ...opening]),
      findings: [{ cause: 'not-continued', severity: 'warning', culprit: 'client' }],
    },
    {
      name: 'the same with the rendered text, and thinking off',
      exchange: ending(prefill, [...open, 39_814, 151_645, 198, ...opening, ...qwen3.thinkTail.ids], {
        text: `${start}<|im_start|>assistant\nSure,<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n`,
      }),
      findings: [{ cause: 'not-continued', severity: 'warning' }],
    },
    {
      name: 'another answer that was asked for',
      exchange: ending(prefill, [...open, 39_814, 151_645, 198, ...opening], {
        fields: { add_generation_prompt: true },
      }),
      findings: [{ cause: 'not-continued', severity: 'info' }],
    },
    {
      name: 'a closed answer with nothing behind it, as for scoring',
      exchange: ending(prefill, [...open, 39_814, 151_645, 198], {
        text: `${start}<|im_start|>assistant\nSure,<|im_end|>\n`,
        fields: { add_generation_prompt: false },
      }),
      findings: [{ cause: 'not-continued', severity: 'info' }],
    },
  ],
});
