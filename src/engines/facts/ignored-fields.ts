/** Fields of other engines' clients that several engines read over; each adapter says on which of its routes. */
import type { IgnoredField } from '../../exchange/model-facts.ts';
import type { RouteKind } from '../../exchange/request/route.ts';

/** Ways to switch thinking off that are not `chat_template_kwargs`. */
export function thinkingSwitch(field: string, routes: readonly RouteKind[]): IgnoredField {
  return {
    name: field.replaceAll('_', '-'),
    path: [field],
    routes,
    effect: 'thinking-off',
    instead: 'Send chat_template_kwargs: {"enable_thinking": false} to switch thinking off.',
  };
}

/**
 * `extra_body` written out in a body, by people who copied an example of the OpenAI library: there it is an argument, and
 * what it holds is sent at the top.
 */
export function writtenOutArgument(routes: readonly RouteKind[]): IgnoredField {
  return {
    name: 'extra-body',
    path: ['extra_body', 'chat_template_kwargs', 'enable_thinking'],
    routes,
    effect: 'thinking-off',
    instead:
      'Take extra_body away and send what it holds at the top of the body: chat_template_kwargs: {"enable_thinking": false}. Only the OpenAI library takes extra_body, as an argument.',
  };
}

/**
 * Instructions beside the messages, as other protocols have them: `system` (Anthropic, Ollama), `system_prompt` (hosted models,
 * llama-server itself until 2024), `instructions` (OpenAI's Responses). The routes that read them are the same on all engines.
 */
export const otherInstructions: readonly IgnoredField[] = [
  instructionsAs('system', ['chat', 'completion', 'responses']),
  instructionsAs('system_prompt', ['chat', 'completion', 'messages', 'responses']),
  instructionsAs('instructions', ['chat', 'completion', 'messages']),
];

function instructionsAs(field: string, routes: readonly RouteKind[]): IgnoredField {
  return {
    name: field.replaceAll('_', '-'),
    path: [field],
    routes,
    effect: 'text',
    instead:
      'Send it as the first message, with the role system (to /v1/messages as system, to /v1/responses as instructions).',
  };
}

/** A template of the client's own. @param argument of the engine, by which it is started with one */
export function ownTemplate(routes: readonly RouteKind[], argument: string): IgnoredField {
  return {
    name: 'chat-template',
    path: ['chat_template'],
    routes,
    effect: 'template',
    instead: `Take it away, or have whoever runs the engine start it with that template (${argument}).`,
  };
}

/** Ollama's way to ask for a larger context. @param flag of the engine, which sets it */
export function contextOption(flag: string): IgnoredField {
  return {
    name: 'num-ctx',
    path: ['options', 'num_ctx'],
    routes: ['chat', 'completion', 'messages', 'responses'],
    effect: 'context',
    instead: `Whoever runs the engine sets the context, when it is started (${flag}).`,
  };
}

/** vLLM's way to have a prompt cut. */
export function truncation(routes: readonly RouteKind[]): IgnoredField {
  return {
    name: 'truncate-prompt-tokens',
    path: ['truncate_prompt_tokens'],
    routes,
    effect: 'length',
    instead: 'Cut the prompt before sending it: one that is too long is refused here, not cut.',
  };
}
