/**
 * Names of speakers (`name` of a message) that the template does not write, where that matters: two or more speakers share
 * a role, and what they say does not name them either, so that the model can't tell them apart.
 */
import type { TemplateReading } from '../../exchange/model-facts.ts';
import type { ChatMessage, ChatRequest, JsonPath } from '../../exchange/request/request.ts';
import { contentText } from '../../exchange/request/system-text.ts';
import { grouped } from './lost.ts';

interface Named {
  readonly role: string;
  readonly name: string;
  readonly path: JsonPath;
}

/** In the order of the messages; [] where the template was seen to write names, or the prompt holds one of them. */
export function unwrittenNames(
  { dialect, messages }: ChatRequest,
  reading: TemplateReading | undefined,
  rendered: string,
): readonly JsonPath[] {
  if (dialect !== 'openai' || reading?.writesNames === true) return [];
  const named: Named[] = [];
  for (const message of messages) {
    // Most name nobody, and there may be very many.
    if (message.value['name'] === undefined) continue;
    const one = namedIn(message);
    if (one !== undefined) named.push(one);
  }
  if (named.length < 2) return [];
  // Where nothing was learnt, a name that the prompt holds anywhere may be the template's doing.
  const isWritten = ({ name }: Named): boolean =>
    reading?.writesNames === undefined && rendered.includes(name);
  return grouped(named, ({ role }) => role)
    .filter(([, speakers]) => new Set(speakers.map(({ name }) => name)).size > 1)
    .filter(([, speakers]) => !speakers.some(isWritten))
    .flatMap(([, speakers]) => speakers.map(({ path }) => path));
}

/** Undefined where no one is named, or by the text itself; the name beside a tool's result is the tool's. */
function namedIn({ role, value, path }: ChatMessage): Named | undefined {
  const { name, content } = value;
  if (typeof name !== 'string' || name.trim() === '' || role === 'tool' || role === 'function')
    return undefined;
  return contentText(content).includes(name) ? undefined : { role, name, path: [...path, 'name'] };
}
