/**
 * Fields that vLLM reads over (measured on 0.32.0: the ids are the same with and without them), though they change what
 * other engines or other routes give the model. It takes any field and only logs those that it does not know.
 */
import type { IgnoredField } from '../../exchange/model-facts.ts';
import type { RouteKind } from '../../exchange/request/route.ts';

import {
  contextOption,
  otherInstructions,
  ownTemplate,
  thinkingSwitch,
  truncation,
  writtenOutArgument,
} from '../facts/ignored-fields.ts';

export const vllmIgnoredFields: readonly IgnoredField[] = [
  // The chat route hands them to the template, whose own matter it is (chat_completion/protocol.py, read at 0.32.0).
  documents(['documents'], ['chat']),
  documents(['chat_template_kwargs', 'documents'], ['chat', 'messages', 'responses']),
  {
    name: 'documents',
    path: ['documents'],
    routes: ['messages', 'responses'],
    effect: 'text',
    instead: 'Put them into a message, or send them to the chat route if the template writes documents.',
  },
  truncation(['messages', 'responses']),
  contextOption('--max-model-len'),
  thinkingSwitch('enable_thinking', ['chat', 'messages', 'responses']),
  thinkingSwitch('think', ['chat', 'messages', 'responses']),
  // `/v1/messages` heeds it.
  thinkingSwitch('thinking', ['chat', 'responses']),
  // `/v1/responses` heeds it.
  thinkingSwitch('reasoning', ['chat', 'messages']),
  ...otherInstructions,
  // The chat route refuses it, or heeds it where the engine is told to trust clients with it.
  ownTemplate(['messages', 'responses'], '--chat-template FILE'),
  writtenOutArgument(['chat', 'messages', 'responses']),
];

function documents(path: readonly string[], routes: readonly RouteKind[]): IgnoredField {
  return {
    name: 'documents',
    path,
    routes,
    effect: 'text',
    by: 'template',
    instead:
      'Put them into a message, or have whoever runs the engine give it a template that writes documents.',
  };
}
