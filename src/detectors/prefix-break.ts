/** Finds turns whose ids leave those of the turn that they grew from, and says where, how much is lost, and who did it. */
import { nameBreak, type NamedBreak } from './causes/break-cause.ts';
import { breakAdvice, breakEvidence } from './causes/break-words.ts';
import type { ClientChange } from './causes/client-change.ts';
import type { Detector } from './detector.ts';
import { formatPath } from '../exchange/json-path.ts';
import type { GenerationRequest } from '../exchange/request.ts';
import { instructs } from '../exchange/system-text.ts';

export const prefixBreak: Detector = {
  kind: 'prefix-break',
  summary: "The turn's ids leave those of the turn that it grew from, so cached work is lost.",
  stage: 'request',
  need: 'session',
  severity: 'warning',
  repairs: false,
  detect({ session, request, prompts }) {
    if (session?.ancestor === undefined || session.branches || request === undefined) return [];
    const { ancestor, commonTokens: position } = session;
    const lostTokens = ancestor.ids.length - position;
    if (lostTokens <= 0) return [];
    const read = prompts[0];
    const tokens = read?.known === true ? read : undefined;
    const named = nameBreak(session, ancestor, request, tokens, position);
    const field = fieldOf(named, request);
    const at = field === undefined ? '' : ` (${field})`;
    return [
      {
        kind: 'prefix-break',
        cause: named.cause,
        severity: named.severity,
        culprit: named.culprit,
        promptIndex: 0,
        tokens: { start: position, end: Math.min(position + 1, tokens?.ids.length ?? position + 1) },
        lostTokens,
        ...(field !== undefined && { field }),
        message: `The ids leave the earlier turn's after ${position} of its ${ancestor.ids.length}, so ${lostTokens} can't be reused: ${breakEvidence(named)}${at}.`,
        advice: breakAdvice(named),
      },
    ];
  },
};

function fieldOf({ change }: NamedBreak, request: GenerationRequest): string | undefined {
  if (change === undefined) return undefined;
  return request.kind === 'chat' ? chatField(change, request.messages.map(instructs)) : 'prompt';
}

/** @param instructing for each message whether it is a system message, which a change of history doesn't count. */
function chatField({ part, index }: ClientChange, instructing: readonly boolean[]): string | undefined {
  switch (part) {
    case 'tools':
      return formatPath(['tools', index]);
    case 'system': {
      const message = instructing.indexOf(true);
      return message < 0 ? 'messages' : formatPath(['messages', message, 'content']);
    }
    case 'history': {
      const places = instructing.flatMap((isInstruction, place) => (isInstruction ? [] : [place]));
      return formatPath(['messages', places[index] ?? instructing.length]);
    }
    case 'options':
      return undefined;
  }
}
