// A generated request, and what all shapes of them are made of.
import type { Dice } from './dice.ts';
import { answer, systemText, text } from './texts.ts';

export interface Message {
  readonly role: string;
  /** '' where the message carries something else: calls of tools. */
  readonly content: string;
  readonly [field: string]: unknown;
}

export interface PlannedRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One or several turns of one conversation, in order. */
export interface PlannedConversation {
  readonly shape: string;
  readonly requests: readonly PlannedRequest[];
}

/** What a raw prompt needs of the engine itself. */
export interface EngineQuestions {
  /** The chat as the engine renders it, without the BOS that it adds. */
  readonly render: (body: object) => Promise<string>;
  /** The ids as the raw route makes them, BOS included. */
  readonly tokenize: (prompt: string) => Promise<readonly number[]>;
}

export const chatPath = '/v1/chat/completions';
export const rawPath = '/completion';

export const tools = ['get_weather', 'get_time', 'search_notes'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: `Call ${name.replace('_', ' ')} for a city.`,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'The city name.' } },
      required: ['city'],
    },
  },
}));

/** A conversation that ends with the user's turn. */
export function messagesOf(dice: Dice, rounds = dice.between(0, 3)): Message[] {
  const system: Message[] = dice.chance(0.6) ? [{ role: 'system', content: systemText(dice) }] : [];
  const past = dice
    .times(rounds, (): Message[] => [
      { role: 'user', content: text(dice) },
      { role: 'assistant', content: answer(dice) },
    ])
    .flat();
  return [...system, ...past, { role: 'user', content: text(dice) }];
}

export function chatOf(messages: readonly object[], more: object = {}): PlannedRequest {
  return { path: chatPath, body: { messages, max_tokens: 1, temperature: 0, ...more } };
}

export function rawOf(prompt: unknown, more: object = {}): PlannedRequest {
  return { path: rawPath, body: { prompt, n_predict: 2, temperature: 0, ...more } };
}

export type Shape = (dice: Dice, engine: EngineQuestions) => PlannedRequest[] | Promise<PlannedRequest[]>;
