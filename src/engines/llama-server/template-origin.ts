/**
 * Tells llama-server's own templates from a model's. It never says which it serves: without a template in the model file
 * `/props` shows the built-in one as if it were the model's. Pure.
 */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { ProbedFacts } from '../facts/facts-probe.ts';

/**
 * CHATML_TEMPLATE_SRC in llama.cpp's common/chat.cpp, as `/props` shows it (seen from build b11669): served where the
 * model file has no template, and by `--chat-template chatml`.
 */
const builtIn = `{%- for message in messages -%}
  {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
{%- endif -%}`;

/** As `--chat-template` takes them; a template has braces. */
const templateName = /^[\w.-]{1,40}$/;

export function llamaTemplateOrigin(
  template: string,
  { roleMarkers, generationPrompt }: Pick<ProbedFacts, 'roleMarkers' | 'generationPrompt'>,
): Pick<ModelFacts, 'templateOrigin' | 'templateName'> {
  if (withoutSpace(template) === withoutSpace(builtIn)) return { templateOrigin: 'default' };
  // With --no-jinja a name stands for a template that the engine has built in, and conversations are rendered by that.
  const rendersNothing = roleMarkers.length === 0 && generationPrompt === undefined;
  if (!templateName.test(template)) return {};
  return rendersNothing ? { templateOrigin: 'name' } : { templateName: template };
}

/** Builds have indented it in different ways. */
function withoutSpace(template: string): string {
  return template.replaceAll(/\s/g, '');
}
