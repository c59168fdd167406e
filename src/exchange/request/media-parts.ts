/** Which parts of a message put something else than text into the prompt. Reads shapes only, never what a medium holds. */
import { isArray, isObject } from '../json/body-reader.ts';
import type { GenerationRequest, Json, JsonObject } from './request.ts';

const media: ReadonlySet<string> = new Set([
  'audio',
  'audio_embeds',
  'audio_url',
  'image',
  'image_embeds',
  'image_url',
  'input_audio',
  'input_file',
  'input_image',
  'input_video',
  'prompt_embeds',
  'video',
  'video_embeds',
  'video_url',
]);

/** What kind of part it is; undefined if no medium. Without a type, vLLM goes by the member that holds the medium. */
export function mediumOf(part: JsonObject): string | undefined {
  const { type = null } = part;
  if (type === null) return Object.keys(part).find((member) => media.has(member));
  return typeof type === 'string' && media.has(type) ? type : undefined;
}

/** The result of a tool may stand among the parts, with parts of its own. */
export function countMedia(content: Json | undefined): number {
  if (!isArray(content)) return 0;
  return content.filter(isObject).reduce((sum, part) => {
    if (mediumOf(part) !== undefined) return sum + 1;
    return part['type'] === 'tool_result' ? sum + countMedia(part['content']) : sum;
  }, 0);
}

/** Then the engine counts tokens that are not among the ids that are known. */
export function bringsMedia(request: GenerationRequest | undefined): boolean {
  return request?.kind === 'chat' && request.hasMedia;
}
