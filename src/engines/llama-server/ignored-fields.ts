/**
 * Fields that llama-server reads over (measured on 0.7.0), though they change what other engines give the model. What is
 * said of one is always shown by the request's own prompt too, so a build that heeds it is not accused; but for `echo`,
 * which shows in the reply alone, and for a template that opens answers as the served one does.
 */
import type { IgnoredField } from '../../exchange/model-facts.ts';

import {
  contextOption,
  otherInstructions,
  ownTemplate,
  thinkingSwitch,
  truncation,
  writtenOutArgument,
} from '../facts/ignored-fields.ts';

export const llamaIgnoredFields: readonly IgnoredField[] = [
  {
    name: 'add-special-tokens',
    path: ['add_special_tokens'],
    routes: ['completion'],
    effect: 'bos',
    instead: 'Send the prompt as token ids to have no BOS added.',
  },
  {
    name: 'documents',
    path: ['documents'],
    routes: ['chat', 'responses'],
    effect: 'text',
    instead:
      'Send them as chat_template_kwargs.documents if the template reads documents, else in a message.',
  },
  {
    name: 'suffix',
    path: ['suffix'],
    routes: ['completion'],
    effect: 'text',
    instead: 'Send input_prefix and input_suffix to /infill, or write the fill-in markers into the prompt.',
  },
  {
    name: 'echo',
    path: ['echo'],
    routes: ['completion'],
    effect: 'reply',
    instead: 'Put the prompt in front of the reply yourself; likelihoods of a prompt are not to be had here.',
  },
  truncation(['chat', 'completion', 'responses']),
  contextOption('--ctx-size'),
  ...['enable_thinking', 'think', 'thinking'].map((field) =>
    thinkingSwitch(field, ['chat', 'messages', 'responses']),
  ),
  ...otherInstructions,
  ownTemplate(['chat', 'messages', 'responses'], '--chat-template-file FILE'),
  writtenOutArgument(['chat', 'messages', 'responses']),
];
