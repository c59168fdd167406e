/**
 * Texts that are the written form of a program's objects: Python's repr or the JSON of messages, or of the parts of one.
 * Reads one text; that some text holds such objects among other things is no matter of this file.
 */
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import { protocolRoles, type Json } from '../../exchange/request/request.ts';

export type WrittenObjects = 'messages' | 'parts' | 'unnamed';

/** Longer texts are not parsed: no client writes them by mistake into one message. */
const mostParsed = 1024 * 1024;

/** LangChain's classes, alone, in a list, or in the object that its prompt templates return; others' by what they hold. */
const messageClass =
  /^(?:messages=)?\[?(?:(?:System|Human|AI|Chat|Tool|Function)Message(?:Chunk)?\((?:additional_kwargs|id)=|\w{0,40}Message(?:Chunk|Param)?\(_?(?:content|role)=)/;
/** What `str()` makes of one of them. */
const messageFields = /^content=['"].*\badditional_kwargs=\{/s;
const pythonMessage = /^\[?\{'(?:role': '\w|content': ['"[])/;
const pythonParts = /^\[\{'type': '(?:text|input_text|image_url|input_image|image)', '/;
const jsonMessages = /^(?:\[\s*)?\{\s*"(?:role|content|parts|messages|model)"\s*:/;
const jsonParts = /^\[\s*\{\s*"(?:type|text)"\s*:/;

/** All of them begin so; most texts do not, and cost one look at their first characters. */
const beginsWritten = /^\s*(?:[[{]|messages=|content=|\w{0,40}Message)/;

/** What JavaScript writes for an object where a text is wanted, alone or as a joined list. */
const unnamedObjects = /^(?:\[object Object\][\s,]*){1,1000}$/;

/** What a text begins with. Parts are the whole of one message: behind them no more may come than the place for its answer. */
export function beginsWithObjects(text: string): WrittenObjects | undefined {
  const begin = text.trimStart().slice(0, 4096);
  if (unnamedObjects.test(begin)) return 'unnamed';
  if (pythonParts.test(begin) || jsonParts.test(begin)) {
    if (isObjects(withoutCue(text))?.objects === 'parts') return 'parts';
  }
  const isMessages =
    messageClass.test(begin) ||
    messageFields.test(begin) ||
    pythonMessage.test(begin) ||
    /^(?:\{\s*"messages"\s*:\s*)?\[?\s*\{\s*"role"\s*:\s*"\w+"\s*,\s*"content"\s*:/.test(begin);
  return isMessages ? 'messages' : undefined;
}

/** Without a last line such as `Answer:`. */
function withoutCue(text: string): string {
  return text.replace(/(?<=\])\s*\n[^\n:]{0,40}:\s*$/, '');
}

/** What a text is from its first character to its last, and in which language it was written down. */
export function isObjects(
  text: string,
): { readonly objects: WrittenObjects; readonly by: 'python' | 'json' | 'javascript' } | undefined {
  if (!beginsWritten.test(text)) return undefined;
  const whole = text.trim();
  if (whole.length > mostParsed) return undefined;
  if (unnamedObjects.test(whole)) return { objects: 'unnamed', by: 'javascript' };
  // A repr is one line: line ends within its texts are written as \n.
  if (!whole.includes('\n')) {
    if (pythonParts.test(whole) && whole.endsWith('}]')) return { objects: 'parts', by: 'python' };
    const isMessages =
      (messageClass.test(whole) && /\)\]?$/.test(whole)) ||
      (messageFields.test(whole) && /[}'"\])\d]$/.test(whole)) ||
      (pythonMessage.test(whole) && /\}\]?$/.test(whole));
    if (isMessages) return { objects: 'messages', by: 'python' };
  }
  if (!jsonMessages.test(whole) && !jsonParts.test(whole)) return undefined;
  const value = parsed(whole);
  if (isArray(value) && value.length > 0 && value.every(isPart)) return { objects: 'parts', by: 'json' };
  const messages = isObject(value) && isArray(value['messages']) ? value['messages'] : value;
  const list = isArray(messages) ? messages : [messages ?? null];
  return list.length > 0 && list.every(isMessage) ? { objects: 'messages', by: 'json' } : undefined;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const roles: readonly Json[] = [...protocolRoles, 'function', 'human', 'ai', 'model'];

function isMessage(value: Json): boolean {
  return isObject(value) && roles.includes(value['role'] ?? null) && ('content' in value || 'parts' in value);
}

const media: readonly Json[] = ['image_url', 'input_image', 'input_audio', 'image'];

function isPart(value: Json): boolean {
  if (!isObject(value)) return false;
  const { type = null, text } = value;
  return type === 'text' || type === 'input_text' ? typeof text === 'string' : media.includes(type);
}
