/**
 * The short way for what most conversations are: messages of one text each, which the prompt holds as they were sent, one
 * behind another. Where that is so nothing of them is lost; where it is not, nothing is said.
 */
import { leastAnchor } from './text-ranges.ts';
import type { ChatMessage } from '../request/request.ts';
import { placeOf, standsAt } from './text-place.ts';
import type { Found } from './written-forms.ts';

/** What stands between two texts is markup, most often the same for the same role. */
const reach = 4096;
/** Longer ways, as over the tools of a system message. */
const mostFar = 4;

/** Where the longer texts stand, in order; undefined if a message has other parts, or a text is not found where it should be. */
export function plainTexts(messages: readonly ChatMessage[], rendered: string): readonly Found[] | undefined {
  const markup = new Map<string, number>();
  const found: Found[] = [];
  let from = 0;
  let far = 0;
  for (const { role, value } of messages) {
    if (!isPlain(value)) return undefined;
    const { content } = value;
    const needle = typeof content === 'string' ? content.trim() : '';
    if (needle === '') continue;
    const usual = markup.get(role);
    let start = from + (usual ?? 0);
    if (usual === undefined || !standsAt(rendered, needle, start)) {
      let way = rendered.slice(from, from + reach + needle.length).indexOf(needle);
      if (way < 0 && needle.length >= leastAnchor && far < mostFar) {
        far += 1;
        way = placeOf(rendered, needle, from) - from;
      }
      if (way < 0) return undefined;
      markup.set(role, way);
      start = from + way;
    }
    from = start + needle.length;
    // Inside of a tool a short one must not hide its name.
    if (needle.length >= leastAnchor) found.push({ start, end: from });
  }
  return found;
}

/** True for a message whose only part is its text. */
function isPlain(value: ChatMessage['value']): boolean {
  for (const member in value) {
    if (member === 'role' || member === 'name') continue;
    const given = value[member];
    if (given !== null && (member !== 'content' || typeof given !== 'string')) return false;
  }
  return true;
}
