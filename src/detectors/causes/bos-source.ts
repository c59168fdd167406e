/** Who wrote the BOS tokens at a prompt's head: the client's text or ids, the template, or the engine. */
import { locateStringPrefix } from '../../exchange/json/json-offsets.ts';
import type { Edit } from '../../exchange/edits.ts';
import type { Culprit } from '../../exchange/finding.ts';
import { formatPath } from '../../exchange/json/json-path.ts';
import type { Marker, RoleMarker } from '../../exchange/model-facts.ts';
import type { ChatRequest, JsonPath, RawPrompt } from '../../exchange/request/request.ts';
import type { AddedIds } from '../../exchange/token-read.ts';

export interface BosSource {
  readonly cause: BosCause;
  readonly culprit: Culprit;
  readonly field?: string;
  /** Half a sentence. */
  readonly evidence: string;
  readonly advice: string;
  /** Cut all surplus BOS of the head; [] if an edit of text can't do that exactly. */
  readonly edits: readonly Edit[];
}

/**
 * `literal`: the client's text; `ids`: the client's ids; `requested`: the client asked for one that is there already;
 * `template`, `engine`: written or added there.
 */
export type BosCause = 'literal' | 'ids' | 'requested' | 'template' | 'engine';

/** How many BOS the ids start with. */
export function leadingBos(ids: readonly number[] | Uint32Array, bos: Marker): number {
  const end = ids.findIndex((id) => id !== bos.id);
  return end < 0 ? ids.length : end;
}

interface Head {
  readonly bos: Marker;
  /** BOS ids that the engine puts in front of this text. */
  readonly added: number;
  /** BOS ids at the head. */
  readonly count: number;
  /** Where the engine's adding differs by request. */
  readonly switch?: AddedIds;
}

interface Literal {
  readonly path: JsonPath;
  readonly copies: number;
}

/**
 * The raw route: the engine's own, then what the client's prompt starts with. Where a field of the request can keep the
 * engine from adding one, and every prompt has its own, that field is changed and the text stays as it is.
 */
export function bosOfRawPrompt(
  head: Head & {
    readonly prompt: RawPrompt | undefined;
    readonly body: Buffer;
    readonly allHaveOne: boolean;
  },
): BosSource {
  const { prompt, body, bos, added, count } = head;
  const items = itemsOf(prompt);
  const literals: Literal[] = [];
  let ids = 0;
  for (const { value, path } of items) {
    if (typeof value === 'number') {
      if (value !== bos.id) break;
      ids += 1;
      continue;
    }
    const copies = leadingCopies(value, bos.text);
    if (copies > 0) literals.push({ path, copies });
    if (copies * bos.text.length < value.length) break;
  }
  const written = literals.reduce((sum, { copies }) => sum + copies, 0);
  const addedHere = typeof items[0]?.value === 'string' ? added : 0;
  if (addedHere + ids + written !== count || (written === 0 && ids === 0)) return engineSource(head);
  const first = literals[0];
  if (first === undefined) {
    return {
      cause: 'ids',
      culprit: 'client',
      field: formatPath(prompt?.path ?? []),
      evidence: `the client sent the id ${ids} times`,
      advice: `Send the id ${bos.id} once; the engine adds none to ids. Tokenweir cuts text, not ids.`,
      edits: [],
    };
  }
  const others = addedHere + ids;
  const unadded =
    head.allHaveOne && others === 1 && ids === 0 && written === 1 ? head.switch?.without : undefined;
  return {
    cause: 'literal',
    culprit: 'client',
    field: formatPath(first.path),
    evidence:
      others === 0
        ? `the client's text starts with ${bos.text} ${written} times`
        : `the client's text starts with ${bos.text}, and ${ids > 0 ? 'an id before it is one too' : 'the engine adds one to text'}`,
    advice: `Leave ${bos.text} out of the start of the text, or send ${ownWay(head.switch)}.`,
    edits: unadded ?? (others > 1 ? [] : cuts(body, literals, bos, others === 0 ? 1 : 0)),
  };
}

/** The chat route: the client is to blame only if its content stands at the very head of what the template wrote. */
export function bosOfChat(
  head: Head & {
    readonly request: ChatRequest | undefined;
    readonly roleMarkers: readonly RoleMarker[];
    /** The text that was tokenized; absent if only the head's ids are known. */
    readonly rendered?: string;
  },
): BosSource {
  const { request, bos, added, rendered, roleMarkers, count } = head;
  const message = request?.messages[0];
  const content = message?.value['content'];
  if (request !== undefined && typeof content === 'string' && content.startsWith(bos.text)) {
    const path = message?.contentPath ?? [];
    const copies = leadingCopies(content, bos.text);
    const atHead =
      rendered === undefined
        ? !roleMarkers.some(({ role }) => role === message?.role)
        : rendered.startsWith(
            content.trimEnd(),
            (leadingCopies(rendered, bos.text) - copies) * bos.text.length,
          );
    if (atHead) {
      const others = count - copies;
      const rest = content.slice(copies * bos.text.length).trimStart();
      // Of nothing else an empty message would be left; and a template that trims would put the next one there.
      const isExact = rest !== '' && !rest.startsWith(bos.text);
      return {
        cause: 'literal',
        culprit: 'client',
        field: formatPath(path),
        evidence: `the first message starts with ${bos.text}, and the template puts it at the very start`,
        advice: `Leave ${bos.text} out of the message.`,
        edits:
          others < 0 || others > 1 || !isExact
            ? []
            : cuts(request.body, [{ path, copies }], bos, others === 0 ? 1 : 0),
      };
    }
  }
  const written = rendered === undefined ? count - added : leadingCopies(rendered, bos.text);
  if (written <= 0) return engineSource(head);
  if (added > 0 && head.switch !== undefined) return addedToTemplate(head, head.switch, written);
  return {
    cause: 'template',
    culprit: 'template',
    evidence:
      added > 0
        ? `the chat template writes ${bos.text} and the engine adds one to it`
        : `the chat template writes ${bos.text} ${written} times`,
    advice: `Whoever serves the model must take ${bos.text} out of its chat template, or switch off the automatic BOS in the model file; the client is not the cause.`,
    edits: [],
  };
}

/** The template did as it should, and one more was put in front of it: because the client asked, or by the route. */
function addedToTemplate(
  { bos, added }: Head,
  { by, field = '', without }: AddedIds,
  written: number,
): BosSource {
  if (by === 'request') {
    return {
      cause: 'requested',
      culprit: 'client',
      field,
      evidence: `the chat template writes ${bos.text}, and the request asks for another one with ${field}`,
      advice: `Leave ${field} out of the request: the template has written what it is for.`,
      edits: written === 1 && added === 1 ? (without ?? []) : [],
    };
  }
  return {
    cause: 'engine',
    culprit: 'engine',
    evidence: `the chat template writes ${bos.text}, and the engine adds one to it on this route, whatever the request says`,
    advice:
      'No field of the request changes that: send the conversation to the chat route, which adds none, until whoever runs the engine has one that adds none here either. The client and the template are not the cause.',
    edits: [],
  };
}

function ownWay(added: AddedIds | undefined): string {
  return added?.field === undefined ? 'token ids' : `token ids, or ${added.field}: false`;
}

function engineSource({ added }: Head): BosSource {
  return {
    cause: 'engine',
    culprit: 'engine',
    evidence:
      added > 1 ? `the engine adds ${added} to every text` : 'neither the client nor the template wrote them',
    advice: 'Whoever runs the engine must look at its BOS settings and at those of the model file.',
    edits: [],
  };
}

function itemsOf(
  prompt: RawPrompt | undefined,
): { readonly value: string | number; readonly path: JsonPath }[] {
  switch (prompt?.form) {
    case 'text':
      return [{ value: prompt.text, path: prompt.path }];
    case 'ids':
      return prompt.ids.map((value, index) => ({ value, path: [...prompt.path, index] }));
    case 'mixed':
      return prompt.items.map((value, index) => ({ value, path: [...prompt.path, index] }));
    case 'media':
    case undefined:
      return [];
  }
}

function leadingCopies(text: string, part: string): number {
  let copies = 0;
  while (part !== '' && text.startsWith(part, copies * part.length)) copies += 1;
  return copies;
}

/** Edits that leave `keep` copies in all, or [] if the bytes of one of the literals are not found. */
function cuts(body: Buffer, literals: readonly Literal[], bos: Marker, keep: number): Edit[] {
  const edits: Edit[] = [];
  for (const [index, { path, copies }] of literals.entries()) {
    const kept = index === 0 ? keep : 0;
    const start = locateStringPrefix(body, path, bos.text.repeat(kept))?.end;
    const end = locateStringPrefix(body, path, bos.text.repeat(copies))?.end;
    if (start === undefined || end === undefined) return [];
    if (end > start) edits.push({ start, end, replacement: '' });
  }
  return edits;
}
