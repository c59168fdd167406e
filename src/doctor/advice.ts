/** From facts to advice: what will go wrong with which client. Pure, and only what the facts show; no family's name. */
import { byContextArgument } from '../exchange/context-argument.ts';
import { severities } from '../exchange/finding.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import { adviceIds, type Advice, type AdviceId, type Serving } from './diagnosis.ts';
import { printable } from '../report/printable.ts';

/** Says nothing, or one thing. */
type Rule = (serving: Serving) => Omit<Advice, 'id'> | undefined;

/** The gravest first; within one severity in the order of `adviceIds`. */
export function adviseOn(serving: Serving): Advice[] {
  return adviceIds
    .flatMap((id) => {
      const advice = rules[id](serving);
      return advice === undefined ? [] : [{ id, ...advice }];
    })
    .toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
}

const rules: Readonly<Record<AdviceId, Rule>> = {
  'chat-bos-repeated'({ facts: { bos }, routes, chatBosTokens = 0 }) {
    if (bos === undefined || chatBosTokens < 2) return undefined;
    return {
      severity: 'error',
      message: `Every chat prompt starts with ${chatBosTokens} BOS tokens (${named(bos)}), whatever the client of ${either(routes.chat)} sends: the chat template writes more than the one that belongs there.`,
      advice: 'Correct the chat template that the engine is started with.',
    };
  },

  'bos-added-to-text'({ facts, routes }) {
    const { bos } = facts;
    if (bos === undefined || !facts.addedPrefix.completion.includes(bos.id)) return undefined;
    const text = printable(bos.text);
    const isHeeded = facts.ignoredFields?.some(({ name }) => name === 'add-special-tokens') === false;
    const field = isHeeded ? 'or add_special_tokens: false beside it, ' : '';
    return {
      severity: 'warning',
      message: `Clients that render the chat template themselves and send the text to ${either(routes.text)} get two BOS tokens: their text starts with ${text} and the engine adds another (id ${bos.id}).`,
      advice: `Send the text without ${text}, ${field}or send token ids, or let the server apply the template: ${either(routes.chat)}.`,
    };
  },

  'text-without-bos'({ facts: { bos, addedPrefix }, routes, chatBosTokens = 0 }) {
    if (bos === undefined || chatBosTokens === 0 || addedPrefix.completion.includes(bos.id)) return undefined;
    return {
      severity: 'warning',
      message: `Chat prompts start with ${named(bos)}, but nothing adds it to text sent to ${either(routes.text)}: clients that leave it to the engine prompt the model without.`,
      advice: `Start such texts with ${printable(bos.text)}.`,
    };
  },

  'no-bos'({ facts: { bos, addedPrefix } }) {
    if (bos !== undefined || addedPrefix.completion.length > 0) return undefined;
    return {
      severity: 'info',
      message:
        'Nothing gives this model a BOS: not the tokenizer, not the template. Clients that put one in front, because their tokenizer settings name one, add a token that does not belong there.',
      advice: 'Send prompts without BOS.',
    };
  },

  'eos-added-to-text'({ facts: { addedSuffix }, routes }) {
    if (addedSuffix.completion.length === 0) return undefined;
    return {
      severity: 'warning',
      message: `The engine ends text sent to ${either(routes.text)} with ${ids(addedSuffix.completion)}, as if the text were finished: the model may stop at once.`,
      advice: 'Send token ids, or switch that off in the model file.',
    };
  },

  'template-writes-date'({ facts, routes }) {
    if (!facts.templateWritesDate) return undefined;
    return {
      severity: 'warning',
      message: `The template writes today's date into the prompt: at midnight by the server's clock every client of ${either(routes.chat)} loses its cached prefix from the date on.`,
      advice: 'Start the engine with a template without the date; clients that need it put it last.',
    };
  },

  'raw-text-untemplated'({ facts, routes }) {
    const opening = openingOf(facts, 'user');
    if (opening === undefined) return undefined;
    return {
      severity: 'info',
      message: `Nothing is templated on ${either(routes.text)}: a client that sends a bare question there, without ${printable(opening)} in front, has its text continued, not answered.`,
      advice: `Send messages to ${either(routes.chat)}, or render the template before sending.`,
    };
  },

  'markers-in-user-text'({ facts }) {
    const [first] = facts.markers;
    if (first === undefined) return undefined;
    const opening = openingOf(facts, 'user') ?? '';
    const marker = printable((facts.markers.find(({ text }) => opening.includes(text)) ?? first).text);
    return {
      severity: 'info',
      message: `Any text that holds ${marker} becomes that control token, on chat routes too: users of a client that passes their text on as it is can write turns of any role.`,
      advice: 'Remove or break up such texts in what comes from outside before you send it.',
    };
  },

  'think-tail'({ facts: { thinkTail } }) {
    if (thinkTail === undefined) return undefined;
    const { length } = thinkTail.ids;
    const isOne = length === 1;
    return {
      severity: 'info',
      message: `For clients that switch thinking off the template ends each prompt with ${length} ${isOne ? 'token' : 'tokens'} (${printable(thinkTail.text)}) that the next turn's history does not repeat: ${isOne ? 'this token' : `these ${length} tokens`} of the previous prompt's end, and the answer behind ${isOne ? 'it' : 'them'}, are evaluated again each turn.`,
      advice: 'Nothing to repair: it is the price of thinking off with this template.',
    };
  },

  'context-below-trained'({ facts, trainedContextTokens }) {
    const { contextTokens, slots } = facts;
    if (contextTokens === 0 || contextTokens >= trainedContextTokens) return undefined;
    const more = `Start the engine with more context${byContextArgument(facts)}`;
    return {
      severity: 'info',
      message: `A request has room for ${contextTokens} tokens, prompt and answer together, where the model was trained for ${trainedContextTokens}: longer prompts are refused, longer answers are cut.`,
      advice: slots > 1 ? `${more}, or with fewer slots to share it.` : `${more}.`,
    };
  },

  'one-slot'({ facts: { slots } }) {
    if (slots !== 1) return undefined;
    return {
      severity: 'info',
      message:
        'All clients share one slot: they wait for each other, and conversations that take turns drive each other out of it.',
      advice: 'Start the engine with a slot for each conversation that goes on at the same time.',
    };
  },
};

function openingOf({ roleMarkers }: ModelFacts, role: string): string | undefined {
  return roleMarkers.find((marker) => marker.role === role)?.opening;
}

function named({ text, id }: { text: string; id: number }): string {
  return `${printable(text)}, id ${id}`;
}

function ids(added: readonly number[]): string {
  return `${added.length === 1 ? 'id' : 'ids'} ${added.join(' ')}`;
}

/** `/a`, `/a or /b`. */
function either(paths: readonly string[]): string {
  return paths.join(' or ');
}
