/**
 * Fields that vLLM reads over (measured on 0.32.0: the ids are the same with and without them), though they change what
 * other engines or other routes give the model. It takes any field and only logs those that it does not know.
 */
import type { IgnoredField } from '../../exchange/model-facts.ts';

import { contextOption, thinkingSwitch, truncation, writtenOutArgument } from '../facts/ignored-fields.ts';

export const vllmIgnoredFields: readonly IgnoredField[] = [
  truncation(['messages', 'responses']),
  contextOption('--max-model-len'),
  thinkingSwitch('enable_thinking', ['chat', 'messages', 'responses']),
  thinkingSwitch('think', ['chat', 'messages', 'responses']),
  // `/v1/messages` heeds it.
  thinkingSwitch('thinking', ['chat', 'responses']),
  // `/v1/responses` heeds it.
  thinkingSwitch('reasoning', ['chat', 'messages']),
  writtenOutArgument(['chat', 'messages', 'responses']),
];
