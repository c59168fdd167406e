// Faults that are put into a clean request, each with what must be said of it.
import type { FindingRecord } from '../../src/exchange/finding-record.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import type { ByteModel } from '../support/gguf/byte-model.ts';

export interface Clean {
  readonly model: ByteModel;
  readonly facts: ModelFacts;
  /** A conversation of three turns, rendered by the engine. */
  readonly rendered: string;
  /** Its ids, as the raw route makes them. */
  readonly tokens: readonly number[];
  /** Undefined if the template refuses the body. */
  readonly render: (body: object) => Promise<string | undefined>;
}

export interface InjectedFault {
  readonly path: string;
  readonly body: object;
  /** Members of the finding; undefined where the same text is no fault to this model, so that nothing may be said. */
  readonly expected: Partial<FindingRecord> | undefined;
  /** What is true of the same request, too. */
  readonly besides?: readonly FindingRecord['kind'][];
}

interface Fault {
  readonly title: string;
  readonly inject: (clean: Clean) => InjectedFault | Promise<InjectedFault>;
}

const rawRoute = '/completion';
const chatRoute = '/v1/chat/completions';

/** True if BOS comes with the template alone, so that other text on the raw route has none. */
function lacksBos(model: ByteModel, rendered: string): boolean {
  return model.addBos !== true && rendered.startsWith(model.bos ?? '');
}

export const faults = {
  'double-bos': {
    title: 'doubled BOS',
    inject: ({ model, rendered }) => {
      const bos = model.bos ?? '';
      const written = rendered.startsWith(bos);
      const isUsed = model.addBos === true || written;
      return {
        path: rawRoute,
        // To a model that knows no BOS two of them are two tokens like others.
        body: { prompt: isUsed ? bos + rendered : bos + bos + rendered },
        expected: isUsed
          ? {
              kind: 'double-bos',
              cause: 'literal',
              culprit: 'client',
              field: 'prompt',
              tokens: { start: 0, end: 2 },
            }
          : undefined,
      };
    },
  },
  'missing-bos': {
    title: 'no BOS',
    inject: ({ model, rendered, tokens }) => {
      const bos = model.bos ?? '';
      const isUsed = model.addBos === true || rendered.startsWith(bos);
      return {
        path: rawRoute,
        body: { prompt: isUsed ? tokens.slice(1) : tokens },
        expected: isUsed
          ? {
              kind: 'missing-bos',
              cause: 'ids',
              culprit: 'client',
              field: 'prompt',
              tokens: { start: 0, end: 1 },
            }
          : undefined,
      };
    },
  },
  'raw-prompt': {
    title: 'no template',
    inject: ({ model, rendered }) => ({
      path: rawRoute,
      body: { prompt: 'Which river flows through Dresden?' },
      besides: lacksBos(model, rendered) ? ['missing-bos'] : [],
      expected: { kind: 'raw-prompt', cause: 'plain-text', culprit: 'client', field: 'prompt' },
    }),
  },
  'foreign-template': {
    title: 'foreign template',
    inject: ({ model, rendered }) => {
      const isChatMl = rendered.includes('<|im_start|>');
      const [start, end, answer] = isChatMl
        ? ['<start_of_turn>', '<end_of_turn>', 'model']
        : ['<|im_start|>', '<|im_end|>', 'assistant'];
      return {
        path: rawRoute,
        body: { prompt: `${start}user\nWhich river flows through Dresden?${end}\n${start}${answer}\n` },
        besides: lacksBos(model, rendered) ? ['missing-bos'] : [],
        expected: {
          kind: 'foreign-template',
          cause: model.markers.includes(start) ? 'other-template' : 'not-in-vocabulary',
          culprit: 'client',
          field: 'prompt',
        },
      };
    },
  },
  'stringified-prompt': {
    title: 'roles as words',
    inject: ({ model, rendered }) => ({
      path: rawRoute,
      body: { prompt: 'System: be brief\nHuman: which river flows through Dresden?\nAI:' },
      besides: lacksBos(model, rendered) ? ['missing-bos'] : [],
      // To a model whose template writes such words they are its own form.
      expected: /^System:/m.test(rendered)
        ? undefined
        : { kind: 'stringified-prompt', cause: 'role-words', culprit: 'client', field: 'prompt' },
    }),
  },
  'trailing-assistant': {
    title: 'empty last turn',
    inject: () => ({
      path: chatRoute,
      body: {
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: '' },
        ],
      },
      expected: { kind: 'trailing-assistant', cause: 'empty', culprit: 'client', field: 'messages[1]' },
    }),
  },
  'lost-field': {
    title: 'text in an unread field',
    inject: async ({ render }) => {
      const text = 'Which river flows through Dresden?';
      const messages = [{ role: 'user', content: '', text }];
      const rendered = await render({ messages });
      const isLost = rendered !== undefined && !rendered.includes(text);
      return {
        path: chatRoute,
        body: { messages },
        expected: isLost
          ? { kind: 'content-lost', cause: 'unread-field', culprit: 'client', field: 'messages[0].text' }
          : undefined,
      };
    },
  },
  'lost-instructions': {
    title: 'second instructions',
    inject: async ({ render }) => {
      const texts = ['You answer travellers in one sentence.', 'You never name a city of your own accord.'];
      const messages = [
        ...texts.map((content) => ({ role: 'system', content })),
        { role: 'user', content: 'Which river flows through Dresden?' },
      ];
      const rendered = await render({ messages });
      const lost = rendered === undefined ? -1 : texts.findIndex((text) => !rendered.includes(text));
      return {
        path: chatRoute,
        body: { messages },
        expected:
          lost < 0
            ? undefined
            : { kind: 'content-lost', culprit: 'template', field: `messages[${lost}].content` },
      };
    },
  },
  'lost-call': {
    title: 'second call',
    inject: async ({ render }) => {
      const cities = ['Coimbra', 'Evora'];
      const messages = [
        { role: 'user', content: 'Which of the two towns is warmer today?' },
        { role: 'assistant', content: '', tool_calls: cities.map(weatherCall) },
        ...cities.map((_, index) => ({
          role: 'tool',
          tool_call_id: idOf(index),
          content: `It is ${index + 20} degrees there.`,
        })),
      ];
      const rendered = await render({ messages });
      return {
        path: chatRoute,
        body: { messages },
        expected: rendered === undefined ? undefined : lostCallIn(rendered, cities),
      };
    },
  },
} as const satisfies Readonly<Record<string, Fault>>;

function idOf(index: number): string {
  return `callTown${index}`;
}

function weatherCall(city: string, index: number): object {
  const given = { city, options: { unit: 'celsius' } };
  return {
    id: idOf(index),
    type: 'function',
    function: { name: 'get_weather', arguments: JSON.stringify(given) },
  };
}

/**
 * The first call of which something is not there: all, or what is nested in its arguments. That a template writes no call at
 * all was said of the clean conversation with tools.
 */
function lostCallIn(rendered: string, cities: readonly string[]): InjectedFault['expected'] {
  if (!cities.some((city) => rendered.includes(city))) return undefined;
  const units = rendered.split('celsius').length - 1;
  const lost = cities.findIndex((city, index) => !rendered.includes(city) || units <= index);
  if (lost < 0) return undefined;
  const isCut = rendered.includes(cities[lost] ?? '');
  const field = `messages[1].tool_calls[${lost}]${isCut ? '.function.arguments' : ''}`;
  return { kind: 'content-lost', culprit: 'template', field };
}

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as readonly FaultName[];
