/**
 * Finds tools that the rendered prompt does not name, and parts of tools that it leaves out. Silent where the client itself
 * asked for no tool to be called.
 */
import { hostedTools } from './causes/hosted-tools.ts';
import { grouped, lostOf } from './causes/lost.ts';
import { toolsPlace } from './causes/lost-place.ts';
import { misplacedSchemaFindings, misplacedSchemas } from './causes/tool-forms.ts';
import { wroteIn } from './causes/tried-tools.ts';
import { wholeTools } from './causes/whole-tools.ts';
import type { Detector } from './detector.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Finding } from '../exchange/finding.ts';
import { formatPath } from '../exchange/json/json-path.ts';
import type { LostParts } from '../exchange/written/lost-parts.ts';
import type { LostToolPart } from '../exchange/written/lost-tools.ts';
import type { TemplateReading } from '../exchange/model-facts.ts';
import type { ChatRequest, JsonPath } from '../exchange/request/request.ts';
import { toolParts } from '../exchange/written/tool-parts.ts';

/** One finding for each sort of part; more say nothing new. */
const mostFindings = 16;

export const toolsDropped: Detector = {
  kind: 'tools-dropped',
  summary: 'A tool that the client sent, or a part of one, is not in the prompt.',
  stage: 'request',
  need: 'rendered',
  severity: 'error',
  repairs: false,
  detect(exchange) {
    const lost = lostOf(exchange);
    const {
      request,
      facts,
      prompts: [read],
    } = exchange;
    if (lost === undefined || request?.kind !== 'chat' || read?.known !== true || read.text === undefined)
      return [];
    const schemas = misplacedSchemas(request, read.text).filter(
      ({ path }) => !lost.tools.some((tool) => isWithin(path, tool.path)),
    );
    const whole =
      request.json['tool_choice'] === 'none'
        ? []
        : [
            ...wholeTools(lost.tools, lost.toolCount, request, facts?.reading).map((finding) => ({
              ...finding,
              ...placeOfAll(finding, exchange),
            })),
            ...hostedTools(request, read.text),
            ...misplacedSchemaFindings(schemas, request),
          ];
    const parts = [...lost.toolParts, ...knownParts(request, lost, facts?.reading)].filter(
      ({ path }) => !schemas.some((schema) => isWithin(path, schema.path)),
    );
    return [...whole, ...partsOf(parts)].slice(0, mostFindings);
  },
};

/** Of some among others, and of a template that writes them elsewhere at times, the place is not known. */
function placeOfAll({ cause }: Finding, exchange: Exchange): Pick<Finding, 'tokens'> {
  return cause === 'all-tools' && !wroteIn(exchange.facts?.reading, 'tools') ? toolsPlace(exchange) : {};
}

function isWithin(path: JsonPath, outer: JsonPath): boolean {
  return outer.every((step, at) => path[at] === step);
}

/** Fields that the template was seen to leave out, whose values are too short to be missed in a prompt. */
function knownParts(
  request: ChatRequest,
  { tools, toolParts: seen }: LostParts,
  reading: TemplateReading | undefined,
): LostToolPart[] {
  const dropped = new Set(reading?.droppedFields.filter((field) => !seen.some(({ what }) => what === field)));
  if (dropped.size === 0) return [];
  const gone = new Set(tools.map(({ path }) => formatPath(path)));
  return toolParts(request)
    .filter(({ path }) => !gone.has(formatPath(path)))
    .flatMap(({ fields, members }) => [
      ...fields.map(({ keyword, path }) => ({ what: keyword, path })),
      ...members.map(({ path }) => ({ what: 'tool-member', path })),
    ])
    .filter(({ what }) => dropped.has(what));
}

const words: Readonly<Record<string, string>> = {
  'tool-description': 'descriptions of tools',
  property: 'properties of tools',
  'property-description': 'descriptions of properties',
};

function partsOf(parts: readonly LostToolPart[]): Finding[] {
  return grouped(parts, ({ what }) => what).map(([what, [first, ...others]]) => {
    const field = formatPath(first.path);
    const more = others.length === 0 ? '' : ` and ${others.length} more like it`;
    const who =
      what === 'tool-member'
        ? 'The engine gives the template only name, description and parameters of a tool'
        : `The template leaves out ${words[what] ?? `${what} of tool schemas`}`;
    return {
      kind: 'tools-dropped',
      cause: what === 'tool-member' || what in words ? what : 'schema-field',
      fact: `schema:${what}`,
      severity: 'info',
      // llama.cpp's common_chat_tools_parse_oaicompat and vLLM's FunctionDefinition keep these three.
      culprit: what === 'tool-member' ? 'engine' : 'template',
      promptIndex: 0,
      field,
      message: `${who}: ${field}${more} ${others.length === 0 ? 'is' : 'are'} not in the prompt.`,
      advice: 'Say what the model must know of it in the description of the tool.',
    };
  });
}
