/** Messages whose parts are plain: one text or a list of texts, reasoning under one name, calls as the protocol has them. */
import { isArray, isObject } from '../json/body-reader.ts';
import type { ChatMessage, Json, JsonObject } from '../request/request.ts';
import { isReasoningMember, isUnreadText } from './prompt-parts.ts';

const none: readonly never[] = [];
const textTypes = new Set<Json | undefined>(['text', 'input_text', 'output_text']);

/** One for all messages, one after another: a conversation may have very many short ones. */
export class PlainMessage {
  /** '' where there is none. */
  content: string | readonly JsonObject[] = '';
  /** '' where there is none. */
  reasoning = '';
  /** The member that the reasoning stands in. */
  reasoningMember = '';
  calls: readonly Json[] = none;

  /** False for a message that has other parts, which it says nothing of. */
  read({ role, value }: ChatMessage): boolean {
    this.content = '';
    this.reasoning = '';
    this.calls = none;
    for (const member in value) {
      const given = value[member];
      if (given === null || given === undefined || member === 'role') continue;
      if (member === 'content') {
        if (!this.#readContent(given)) return false;
      } else if (!this.#readMember(member, given, role)) return false;
    }
    return true;
  }

  #readContent(given: Json): boolean {
    if (typeof given === 'string') this.content = given;
    else if (isArray(given) && given.every(isText)) this.content = given;
    else return false;
    return true;
  }

  #readMember(member: string, given: Json, role: string): boolean {
    if (isReasoningMember(member)) {
      if (typeof given !== 'string' || this.reasoning !== '') return false;
      this.reasoning = given;
      this.reasoningMember = member;
      return true;
    }
    switch (member) {
      case 'tool_calls':
        if (!isArray(given)) return false;
        this.calls = given;
        return true;
      case 'name':
        return role === 'tool';
      case 'type':
        return given === 'message';
      case 'function_call':
        return false;
      default:
        return typeof given !== 'string' || !isUnreadText(given);
    }
  }
}

function isText(part: Json): part is JsonObject & { readonly text: string } {
  return isObject(part) && textTypes.has(part['type']) && typeof part['text'] === 'string';
}
