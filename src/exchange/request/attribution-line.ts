/**
 * The line by which one coding agent names itself at the head of its instructions, and where it stands in a body. Reads
 * instructions only: what a user or a tool says is nobody's attribution.
 */
import { isArray, isObject } from '../json/body-reader.ts';
import { locateStringPrefix } from '../json/json-offsets.ts';
import type { ByteRange } from '../json/json-string.ts';
import type { ChatMessage, ChatRequest, JsonPath } from './request.ts';
import { attributionPrefix, instructionsOf } from './system-text.ts';

export interface AttributionLine {
  /** Without its line end. */
  readonly text: string;
  /** Of the string that begins with the line, e.g. `system[0].text` or `messages[0].content`. */
  readonly path: JsonPath;
  /** True if the string holds nothing else. */
  readonly alone: boolean;
}

/** The first such line of the instructions; undefined if none of their texts begins with one. */
export function attributionLineOf(request: ChatRequest): AttributionLine | undefined {
  for (const { text, path } of instructionsOf(request).flatMap(textsOf)) {
    if (!text.startsWith(attributionPrefix)) continue;
    const [line = ''] = text.split('\n', 1);
    return { text: line, path, alone: line.length === text.length };
  }
  return undefined;
}

/** Where the line's bytes are in the body, whichever way they are escaped. */
export function locateAttribution(body: Buffer, { text, path }: AttributionLine): ByteRange | undefined {
  return locateStringPrefix(body, path, text);
}

/** The line as it is written in the body, escapes included: fit to stand in another body's string. */
export function writtenAttribution(request: ChatRequest): string | undefined {
  const line = attributionLineOf(request);
  const range = line && locateAttribution(request.body, line);
  return range && request.body.toString('utf8', range.start, range.end);
}

/** A content of parts is as many texts. */
function textsOf({
  value: { content },
  contentPath,
}: ChatMessage): readonly { readonly text: string; readonly path: JsonPath }[] {
  if (typeof content === 'string') return [{ text: content, path: contentPath }];
  if (content === undefined || !isArray(content)) return [];
  return content.flatMap((part, index) =>
    isObject(part) && typeof part['text'] === 'string'
      ? [{ text: part['text'], path: [...contentPath, index, 'text'] }]
      : [],
  );
}
