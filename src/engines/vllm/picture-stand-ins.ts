/**
 * A chat whose pictures are each replaced by the same small one, for `/tokenize`. It runs a model's own processor on
 * pictures, as the chat route does: what stands around them is the text that the model gets, and nothing is fetched from
 * an address or decoded twice. How many ids a picture of the request takes is not told by that.
 */
import { isArray, isObject, readBody } from '../../exchange/json/body-reader.ts';
import { mediumOf } from '../../exchange/request/media-parts.ts';
import type { ChatDialect, ChatRequest, Json, JsonObject } from '../../exchange/request/request.ts';

import { exactJson } from '../exact-json.ts';
import { withoutLargeMedia } from '../large-media.ts';

/** 64 × 64 grey points as PNG: processors scale small pictures up, and the smallest are refused by some. */
const data =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAXklEQVR4nO3PMQ0AMAzAsEIf9ILYYVWKESTzjhsd8KsBrQGtAa0BrQGtAa0BrQGtAa0B' +
  'rQGtAa0BrQGtAa0BrQGtAa0BrQGtAa0BrQGtAa0BrQGtAa0BrQGtAa0BbQEfPgFpLSbCLgAAAABJRU5ErkJggg==';
const url = `data:image/png;base64,${data}`;

/** As a part of a chat. */
export const pictureStandIn: JsonObject = { type: 'image_url', image_url: { url } };

/** By dialect: which parts the engine takes for pictures, and the one that stands for each. */
const pictures: Readonly<
  Record<ChatDialect, { readonly kinds: readonly string[]; readonly standIn: JsonObject }>
> = {
  openai: {
    kinds: ['image_url', 'input_image'],
    standIn: pictureStandIn,
  },
  anthropic: {
    kinds: ['image'],
    standIn: { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
  },
  responses: { kinds: ['input_image'], standIn: { type: 'input_image', detail: 'auto', image_url: url } },
};

/** @returns undefined if it holds other media, for which nothing stands in */
export function withPictureStandIns(request: ChatRequest): ChatRequest | undefined {
  const { dialect } = request;
  const short = withoutLargeMedia(request);
  const reading = short === request.body ? { readable: true as const, json: request.json } : readBody(short);
  if (!reading.readable) return undefined;
  const exact = exactJson(short, reading.json);
  const member = dialect === 'responses' ? 'input' : 'messages';
  const messages = exact.json[member];
  if (!isArray(messages)) return undefined;
  const others = new Set<string>();
  const standIn = (content: Json): Json => {
    if (!isArray(content)) return content;
    return content.map((part): Json => {
      if (!isObject(part)) return part;
      if (part['type'] === 'tool_result') return { ...part, content: standIn(part['content'] ?? null) };
      const medium = mediumOf(part);
      if (medium === undefined) return part;
      if (!pictures[dialect].kinds.includes(medium)) others.add(medium);
      return pictures[dialect].standIn;
    });
  };
  const replaced = messages.map((message): Json => {
    if (!isObject(message)) return message;
    const { content, output } = message;
    return {
      ...message,
      ...(content !== undefined && { content: standIn(content) }),
      // Where a result stands among the items of `/v1/responses`.
      ...(dialect === 'responses' && output !== undefined && { output: standIn(output) }),
    };
  });
  if (others.size > 0) return undefined;
  const body = Buffer.from(exact.write({ ...exact.json, [member]: replaced }));
  const read = readBody(body);
  return read.readable ? { ...request, body, json: read.json } : undefined;
}
