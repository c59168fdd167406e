/**
 * Where vLLM puts pictures. Its processors look for a marker among the ids and put the next picture in its place, without
 * asking who wrote it: the same text in an earlier message takes the picture. Which markers do, each model's own processor
 * shows; nothing is taken from a family's name.
 */
import type { PicturePlace } from '../../exchange/model-facts.ts';
import { markerCandidates } from '../../tokens/markers.ts';

import type { AskContext } from '../engine.ts';
import { isRefusal } from '../oracle/oracle-failure.ts';
import type { VllmOracle } from './oracle.ts';
import { pictureStandIn } from './picture-stand-ins.ts';

/** Around a picture stand two or three. */
const mostTried = 8;
const between = 'weirbetween';

/** @param rendered a conversation without pictures: what stands there is no picture's */
export async function picturePlaces(
  oracle: VllmOracle,
  model: string,
  rendered: string | undefined,
  context: AskContext,
): Promise<readonly PicturePlace[]> {
  if (rendered === undefined) return [];
  const read = async (messages: readonly object[]): Promise<readonly string[]> => {
    const body = JSON.stringify({ model, messages, return_token_strs: true });
    return ((await oracle.tokenizeBody(body, context)).entries ?? []).map((entry = '') => entry);
  };
  try {
    const whole = await read([picture]);
    const around = whole.filter((entry) => isMarker(entry) && !rendered.includes(entry));
    const tried = [...new Set(around)].slice(0, mostTried);
    const takes = await Promise.all(
      tried.map(async (marker) => {
        const entries = await read([
          { role: 'user', content: `weir ${marker} weir` },
          { role: 'assistant', content: between },
          picture,
        ]);
        // One is what was written: what else of a picture stands there has come with it.
        return countOf(entries.join('').split(between)[0] ?? '', tried) > 1;
      }),
    );
    return tried.flatMap((text, index) =>
      takes[index] === true ? [{ text, perPicture: around.filter((entry) => entry === text).length }] : [],
    );
  } catch (error) {
    // A model that sees none refuses it, and a template may.
    if (isRefusal(error)) return [];
    throw error;
  }
}

const picture = { role: 'user', content: [{ type: 'text', text: 'weir' }, pictureStandIn] };

function isMarker(entry: string): boolean {
  const [only, ...more] = markerCandidates(entry, 2);
  return only === entry && more.length === 0;
}

function countOf(text: string, markers: readonly string[]): number {
  return markers.reduce((sum, marker) => sum + text.split(marker).length - 1, 0);
}
