/**
 * Finds texts, reasoning, results and calls of tools that the client sent and the rendered prompt does not hold, in whatever
 * form a template may write them. What templates leave out on purpose is told as a fact of the model.
 */
import { grouped, lostOf } from './causes/lost.ts';
import { lossWords, type Loss } from './causes/loss-words.ts';
import type { Detector } from './detector.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json-path.ts';
import type { LostParts, LostText } from '../exchange/lost-parts.ts';
import type { JsonPath } from '../exchange/request.ts';

export const contentLost: Detector = {
  kind: 'content-lost',
  summary: 'Something that a message says is not in the prompt.',
  stage: 'request',
  need: 'rendered',
  severity: 'error',
  repairs: false,
  detect(exchange) {
    const lost = lostOf(exchange);
    if (lost === undefined) return [];
    const groups = grouped(lossesOf(lost), ({ loss, fact }) => fact ?? loss);
    return groups.map(([, [first, ...others]]) => findingOf(first, others));
  },
};

interface LostHere {
  readonly loss: Loss;
  readonly path: JsonPath;
  /** The fact that it is, where it is one. */
  readonly fact?: string;
  readonly characters?: { readonly start: number; readonly end: number };
}

function lossesOf({ texts, asCode, calls }: LostParts): LostHere[] {
  return [
    ...texts.map((text) => ({ ...lossOfText(text), path: text.path })),
    ...asCode.map(({ path }): LostHere => ({ loss: 'as-code', path })),
    ...calls.map(({ what, path, unread }): LostHere => ({ loss: unread ? 'unread-field' : what, path })),
  ];
}

const knownRoles: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

function lossOfText({ sort, missing, alone, role, member }: LostText): Omit<LostHere, 'path'> {
  const [characters] = missing ?? [];
  if (sort === 'reasoning' || sort === 'loop-reasoning') return { loss: 'reasoning', fact: sort };
  // Beside a text that was read it may be a note of the client's own; without one the message says nothing.
  if (sort === 'unread')
    return alone ? { loss: 'unread-field' } : { loss: 'extra-field', fact: `extra-field:${member}` };
  if (!knownRoles.has(role)) return { loss: 'unknown-role' };
  if (characters !== undefined) return { loss: 'text-cut', characters };
  switch (sort) {
    case 'later-instructions':
    case 'tool-result':
      return { loss: sort };
    case 'text-beside-calls':
      return { loss: sort, fact: sort };
    default:
      return { loss: 'text' };
  }
}

function findingOf({ loss, fact, path, characters }: LostHere, others: readonly LostHere[]): Finding {
  const { severity, culprit, said, advice } = lossWords[loss];
  const field = formatPath(path);
  const more = others.length === 0 ? '' : ` (and ${others.length} more: ${listed(others)})`;
  return {
    kind: 'content-lost',
    cause: loss,
    ...(fact !== undefined && { fact }),
    severity,
    culprit,
    promptIndex: 0,
    field,
    ...(characters && { characters }),
    message: `${said(field + more)}.`,
    advice,
  };
}

const mostListed = 3;

function listed(others: readonly LostHere[]): string {
  const names = others.slice(0, mostListed).map(({ path }) => formatPath(path));
  return `${names.join(', ')}${others.length > mostListed ? ', …' : ''}`;
}
