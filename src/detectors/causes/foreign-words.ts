/** What is said of prompts in forms that are not the model's. Names markers and numbers, never the texts of turns. */
import type { Finding } from '../../exchange/finding.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { ForeignFillIn } from './foreign-fill-in.ts';
import type { ForeignFrame } from './foreign-frame.ts';
import type { NearMarker } from './near-markers.ts';
import type { UnendedTurn } from './unended-turn.ts';
import type { UnfilledOpening } from './unfilled-opening.ts';

type Told = Pick<Finding, 'cause' | 'message' | 'advice'>;

/** @param where the frame stands: the whole of a raw prompt, or the text of a message */
export function toldOfFrame(
  { form, first }: ForeignFrame,
  facts: ModelFacts,
  field: string,
  where: 'prompt' | 'message',
): Told {
  const { family, meant } = form;
  const right = meant.get(first.text);
  const place = `From character ${first.start} on ${field} is a conversation`;
  const own = facts.roleMarkers.find(({ role }) => role === 'user') ?? facts.roleMarkers[0];
  const opening = JSON.stringify(own?.opening);
  const advice =
    where === 'message'
      ? "Send each turn as a message of its own, without markers: the chat route applies the model's own template around them."
      : `Send the messages to the chat route, which applies the model's own template, or render that one (a user's turn opens with ${opening}).`;
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

export function toldOfFillIn({ marker, start, own }: ForeignFillIn, field: string): Told {
  return {
    cause: 'not-in-vocabulary',
    message: `At character ${start} of ${field} ${marker} opens a fill-in prompt in the form of another model: it is no token of this vocabulary, and the model reads its letters.`,
    advice:
      own.length > 0
        ? `Set the client's fill-in template to the markers of this model (${own.join(', ')}), or send input_prefix and input_suffix to /infill where the engine has it.`
        : 'This model knows no fill-in markers: have the editor ask one that does, or ask this one in a chat.',
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

export function toldOfMistyped({ marker, meant, start }: NearMarker, field: string): Told {
  return {
    cause: 'malformed',
    message: `At character ${start} of ${field} ${marker} stands where the model's own form has ${meant}: it is no token, and the model reads its letters.`,
    advice: `Write ${meant} in what renders the prompt, or send the messages to the chat route.`,
  };
}

export function toldOfUnended({ turn, answer, end }: UnendedTurn, field: string): Told {
  return {
    cause: 'unended-turn',
    message: `The user's turn that begins at character ${turn.start} of ${field} is never ended: the answer is opened at character ${answer.start}, and the template writes ${end} in front of that.`,
    advice: `End each turn with ${end}, as the template does, or send the messages to the chat route.`,
  };
}
