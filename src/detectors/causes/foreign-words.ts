/** What is said of prompts in forms that are not the model's. Names markers and numbers, never the texts of turns. */
import type { Finding } from '../../exchange/finding.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { ForeignFrame } from './foreign-frame.ts';
import type { UnfilledOpening } from './unfilled-opening.ts';

type Told = Pick<Finding, 'cause' | 'message' | 'advice'>;

export function toldOfFrame({ form, first }: ForeignFrame, facts: ModelFacts, field: string): Told {
  const { family, meant } = form;
  const right = meant.get(first.text);
  const place = `From character ${first.start} on ${field} is a conversation`;
  const own = facts.roleMarkers.find(({ role }) => role === 'user') ?? facts.roleMarkers[0];
  const opening = JSON.stringify(own?.opening);
  const advice = `Send the messages to the chat route, which applies the model's own template, or render that one (a user's turn opens with ${opening}).`;
  if (right !== undefined) {
    const of = family === undefined ? '' : ` of ${family}, which is not this model's form either`;
    return {
      cause: 'malformed',
      message: `${place} whose turns open with ${first.text} in the place of ${right}${of}: the model reads its letters.`,
      advice,
    };
  }
  const absent = facts.absentMarkers?.find(({ text }) => text === first.text);
  return absent === undefined
    ? {
        cause: 'other-template',
        message: `${place} in the form of ${family ?? 'another model'}: the model's own template never opens a turn with ${first.text}, whether or not its vocabulary has it.`,
        advice,
      }
    : {
        cause: 'not-in-vocabulary',
        message: `${place} in the form of ${family ?? 'another model'}: ${first.text} is no token of this vocabulary, and the model reads it as ${absent.tokens} ordinary ones.`,
        advice,
      };
}

export function toldOfUnfilled({ marker, start }: UnfilledOpening, field: string): Told {
  return {
    cause: 'malformed',
    message: `At character ${start} of ${field} ${marker} opens a turn whose role was never filled in.`,
    advice:
      'Mend the format string that the client writes prompts with, or send the messages to the chat route.',
  };
}
