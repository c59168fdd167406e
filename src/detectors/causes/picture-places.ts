/** Whether a text of a chat has had a picture put into it: then it is not there as it was sent, and is not lost either. */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import { countMedia } from '../../exchange/request/media-parts.ts';
import type { ChatRequest } from '../../exchange/request/request.ts';

/**
 * True if the marker stands for a picture, and stands in the prompt more often than the request's pictures account for.
 * @param marker of those that the text holds
 */
export function isPlaceTooMany(
  { messages }: ChatRequest,
  rendered: string,
  { picturePlaces }: ModelFacts,
  marker: string,
): boolean {
  const place = picturePlaces?.find(({ text }) => text === marker);
  if (place === undefined) return false;
  const pictures = messages.reduce((sum, { value }) => sum + countMedia(value['content']), 0);
  return rendered.split(marker).length - 1 > pictures * place.perPicture;
}
