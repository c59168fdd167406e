/**
 * Roles that a template writes as they were sent, though it has no such turns of its own: `User` in the place of `user`, or
 * what another family calls a side of the conversation. The model is given a turn of a kind that it never saw.
 */
import type { ModelFacts, RoleMarker } from '../../exchange/model-facts.ts';
import { plainForm } from '../../exchange/near-words.ts';
import {
  protocolRoles,
  type ChatMessage,
  type ChatRequest,
  type JsonPath,
} from '../../exchange/request/request.ts';
import { contentText } from '../../exchange/request/system-text.ts';
import { answerWords } from './answer-opening.ts';
import { grouped } from './lost.ts';
import { ownForms } from './turn-forms.ts';
import { firstSign } from './turn-signs.ts';

type Side = RoleMarker['role'];

/** So much of a text tells where its turn stands. */
const beginning = 64;

/** Of more roles than any conversation has, nothing is told. */
const mostRoles = 8;

/** Where they stand in the body, in the order of the messages. */
export function sentRoles(
  { messages, dialect }: ChatRequest,
  facts: ModelFacts | undefined,
  rendered: string,
): readonly JsonPath[] {
  if (facts === undefined || dialect !== 'openai') return [];
  // What a template makes of the protocol's own is its own matter.
  const others = messages.filter(({ role }) => !protocolRoles.has(role));
  if (others.length === 0) return [];
  // What a template does with a role it does with all of its messages, and one is looked for.
  const firsts = grouped(others, ({ role }) => role).map(([, [first]]) => first);
  const sent = firsts.slice(0, mostRoles).filter((message) => isWrittenAsSent(message, facts, rendered));
  const roles = new Set(sent.map(({ role }) => role));
  return others.filter(({ role }) => roles.has(role)).map(({ path }) => [...path, 'role']);
}

/** Any other role may be one that the model was trained on. */
function sideOf(role: string): Side | undefined {
  const word = plainForm(role);
  if (word === 'user' || word === 'human') return 'user';
  if (word === 'system') return 'system';
  return answerWords.has(word) ? 'assistant' : undefined;
}

function isWrittenAsSent({ role, value }: ChatMessage, facts: ModelFacts, rendered: string): boolean {
  const side = sideOf(role);
  const text = contentText(value['content']).trim().slice(0, beginning);
  if (side === undefined || text === '') return false;
  const openings = facts.roleMarkers.map((marker) => ({ marker, word: wordOf(marker.opening, facts) }));
  if (openings.some(({ word }) => word === role)) return false;
  const own = openings.find(({ marker, word }) => marker.role === side && word !== undefined);
  if (own?.word === undefined) return false;
  const written = own.marker.opening.replace(own.word, () => role);
  return rendered.includes(written + text);
}

/** The role's name in an opening; undefined where the markers themselves say whose turn it is. */
function wordOf(opening: string, facts: ModelFacts): string | undefined {
  const first = firstSign(opening, ownForms(facts));
  return first?.kind === 'opening' ? first.role : undefined;
}
