// The demo model's chat template and its rendering. Must not know about HTTP or about the shapes of request bodies:
// chat-request.ts turns a body into the variables below.
import { Template } from '@huggingface/jinja';

/**
 * Written in the ways of real families, so that their findings can be seen: it prints BOS itself (Gemma), lists tools
 * as JSON lines in the system turn (Qwen), drops old reasoning, and with thinking off it writes an empty think block
 * that the history does not repeat (Qwen3).
 */
export const chatTemplate = `{{- bos_token }}
{%- set latest = namespace(user=-1) %}
{%- for message in messages %}
  {%- if message.role == 'user' %}{% set latest.user = loop.index0 %}{% endif %}
{%- endfor %}
{%- set has_system = messages and messages[0].role == 'system' %}
{%- if tools or has_system %}
  {{- '<|turn|>system\\n' }}
  {%- if tools %}
    {{- '# Tools\\nYou can call the functions that are listed here, one JSON object in each line.\\n' }}
    {%- for tool in tools %}
      {{- tool | tojson }}{{- '\\n' }}
    {%- endfor %}
    {{- 'To call a function, write <tool_call>, one JSON object with its name and its arguments, and </tool_call>.' }}
    {%- if has_system %}{{- '\\n\\n' }}{% endif %}
  {%- endif %}
  {%- if has_system %}{{- messages[0].content }}{% endif %}
  {{- '<|end|>\\n' }}
{%- endif %}
{%- for message in messages %}
  {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
    {{- '<|turn|>' + message.role + '\\n' + message.content + '<|end|>\\n' }}
  {%- elif message.role == 'assistant' %}
    {{- '<|turn|>assistant\\n' }}
    {%- if message.reasoning_content and loop.index0 > latest.user %}
      {{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}
    {%- endif %}
    {{- message.content }}
    {%- for call in message.tool_calls or [] %}
      {%- if message.content or not loop.first %}{{- '\\n' }}{% endif %}
      {{- '<tool_call>\\n{"name": ' + (call.function.name | tojson) + ', "arguments": ' }}
      {{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}
      {{- '}\\n</tool_call>' }}
    {%- endfor %}
    {{- '<|end|>\\n' }}
  {%- elif message.role == 'tool' %}
    {{- '<|turn|>tool\\n<tool_response>\\n' + message.content + '\\n</tool_response><|end|>\\n' }}
  {%- elif message.role != 'system' %}
    {{- raise_exception('The demo template knows the roles system, user, assistant and tool, not ' + message.role) }}
  {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
  {{- '<|turn|>assistant\\n' }}
  {%- if enable_thinking is defined and enable_thinking is false %}
    {{- '<think>\\n\\n</think>\\n\\n' }}
  {%- endif %}
{%- endif %}`;

export interface TemplateMessage {
  readonly role: string;
  /** Content parts are joined before rendering; '' where a message has none. */
  readonly content: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly unknown[];
}

export interface TemplateVariables {
  readonly messages: readonly TemplateMessage[];
  readonly tools?: readonly unknown[];
  readonly add_generation_prompt: boolean;
  /** `chat_template_kwargs` of the request; the names above win over them. */
  readonly extra: Readonly<Record<string, unknown>>;
}

const template = new Template(chatTemplate);

/**
 * The conversation as the template writes it, its BOS text included.
 * @throws Error with the template's own message if it refuses the conversation.
 */
export function renderChatTemplate(variables: TemplateVariables, bosText: string, eosText: string): string {
  const { extra, ...own } = variables;
  return template.render({ ...extra, ...own, bos_token: bosText, eos_token: eosText });
}
