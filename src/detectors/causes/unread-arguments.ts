/**
 * What a request gives the template by name (`chat_template_kwargs`) and this template does not read. Known only where the
 * engine shows the template's source; what the engine itself reads there is never told.
 */
import type { Finding } from '../../exchange/finding.ts';
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import { formatPath } from '../../exchange/json/json-path.ts';
import type { TemplateInputs } from '../../exchange/model-facts.ts';
import type { Json, JsonObject } from '../../exchange/request/request.ts';
import { nearNames } from './near-names.ts';

const field = 'chat_template_kwargs';
/** More are no mistake in a name. */
const mostNames = 64;

/** @param isLeftOut true of a value whose texts the prompt does not hold */
export function unreadArguments(
  json: JsonObject,
  inputs: TemplateInputs | undefined,
  isLeftOut: (value: Json) => boolean,
): Finding[] {
  const given = json[field];
  if (inputs === undefined || !isObject(given)) return [];
  const read = new Set([...inputs.read, ...inputs.byEngine]);
  return Object.entries(given)
    .slice(0, mostNames)
    .filter(([name]) => !read.has(name))
    .flatMap(([name, value]) => {
      const near = nearNames(name, value, inputs.read);
      // Who serves several families gives the same by all their names.
      if (near.some((one) => given[one] !== undefined)) return [];
      // What would switch something off, or add nothing, is no loss where the template has no such thing.
      if (near.length === 0 && asksForNothing(value)) return [];
      return [findingOf(name, near, (isArray(value) || isObject(value)) && isLeftOut(value))];
    });
}

function asksForNothing(value: Json): boolean {
  if (isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === null || value === false || value === '';
}

/** @param losesTexts then it is this request's loss, and no fact of the model */
function findingOf(name: string, near: readonly string[], losesTexts: boolean): Finding {
  const path = formatPath([field, name]);
  return {
    kind: 'parameter-ignored',
    cause: 'template-argument',
    ...(!losesTexts && { fact: `template-argument:${name}` }),
    severity: losesTexts || near.length > 0 ? 'warning' : 'info',
    culprit: 'client',
    promptIndex: 0,
    field: path,
    message: `The template does not read ${path}: the prompt is the same without it.`,
    advice:
      near.length > 0
        ? `Send it as ${near.join(' or ')}, which this template reads.`
        : 'Take it away, or have whoever runs the engine give it a template that reads it.',
  };
}
