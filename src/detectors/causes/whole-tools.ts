/** What is said of tools that are not in the prompt at all, and who left them out. */
import type { Finding } from '../../exchange/finding.ts';
import { isArray, isObject } from '../../exchange/json/body-reader.ts';
import { formatPath } from '../../exchange/json/json-path.ts';
import type { TemplateReading } from '../../exchange/model-facts.ts';
import type { ChatRequest, JsonPath } from '../../exchange/request/request.ts';
import type { LostTool } from '../../exchange/written/lost-tools.ts';
import { inOtherForm, otherForm } from './tool-forms.ts';
import { wroteIn } from './tried-tools.ts';

export function wholeTools(
  lost: readonly LostTool[],
  count: number,
  request: ChatRequest,
  reading: TemplateReading | undefined,
): Finding[] {
  const unread = lost.filter((tool) => tool.unread);
  const misformed = inOtherForm(lost, request);
  const read = lost.filter((tool) => !tool.unread && !misformed.includes(tool));
  const isFunction = ({ path }: LostTool): boolean => typeOf(request, path) === undefined;
  const dropped = read.filter(isFunction);
  const others = read.filter((tool) => !isFunction(tool));
  return [
    ...(unread.length > 0 ? [unreadTools(unread)] : []),
    ...(misformed.length > 0 ? [otherForm(misformed, request)] : []),
    ...(dropped.length > 0 ? [droppedTools(dropped, dropped.length === count, request, reading)] : []),
    ...(others.length > 0 ? [otherTools(others, typeOf(request, others[0]?.path ?? []) ?? '')] : []),
  ];
}

/** Of a tool on the Responses route that is no function: `custom`, for one; else undefined. */
function typeOf(request: ChatRequest, [, index]: JsonPath): string | undefined {
  if (request.dialect !== 'responses' || typeof index !== 'number') return undefined;
  const tool = request.tools[index];
  const type = isObject(tool) ? tool['type'] : undefined;
  return typeof type === 'string' && type !== 'function' ? type : undefined;
}

const common = { kind: 'tools-dropped', severity: 'error', promptIndex: 0 } as const;

function unreadTools(tools: readonly LostTool[]): Finding {
  return {
    ...common,
    cause: 'unread-field',
    culprit: 'client',
    field: 'functions',
    message: `${tools.length === 1 ? 'The tool in functions is not' : `None of the ${tools.length} tools in functions is`} in the prompt: the engine does not read that field.`,
    advice: 'Send them as tools, each as {"type": "function", "function": {…}}.',
  };
}

function otherTools(tools: readonly LostTool[], type: string): Finding {
  return {
    ...common,
    cause: 'some-tools',
    culprit: 'engine',
    field: fieldOf(tools),
    message: `The prompt does not name ${named(tools)}: the engine gives the template functions only, and ${tools.length === 1 ? 'this is a tool' : 'these are tools'} of type ${type}.`,
    advice: 'Have the client offer it as a function, or switch it off there.',
  };
}

function droppedTools(
  tools: readonly LostTool[],
  all: boolean,
  request: ChatRequest,
  reading: TemplateReading | undefined,
): Finding {
  const culprit = 'template';
  if (!all) {
    return {
      ...common,
      cause: 'some-tools',
      culprit,
      field: fieldOf(tools),
      message: `The prompt does not name ${named(tools)}: the model does not know that it has ${tools.length === 1 ? 'it' : 'them'}.`,
      advice: 'Whoever runs the engine must look at how its template writes tools.',
    };
  }
  const none =
    tools.length === 1
      ? 'The prompt does not name the tool that was sent'
      : `The prompt names none of the ${tools.length} tools sent`;
  const told = { ...common, cause: 'all-tools', culprit, field: 'tools' } as const;
  if (!wroteIn(reading, 'tools')) {
    return {
      ...told,
      message: `${none}: the model does not know that it has any.`,
      advice:
        'Whoever runs the engine must give it a template that renders tools; until then describe them in a message.',
    };
  }
  const question = request.messages.findLast(({ role }) => role === 'user');
  return {
    ...told,
    message: `${none}: the template writes tools in other conversations, and not in this one.`,
    advice: isArray(question?.value['content'])
      ? "Send the content of the user's messages as one string, or have whoever runs the engine mend the template: those that look for the last question by comparing messages miss one that is a list of parts."
      : 'Whoever runs the engine must look at where its template writes tools: some do it beside the last question only.',
  };
}

function fieldOf(tools: readonly LostTool[]): string {
  return formatPath(tools[0]?.path ?? ['tools']);
}

function named(tools: readonly LostTool[]): string {
  return tools.length === 1 ? fieldOf(tools) : `${fieldOf(tools)} and ${tools.length - 1} more`;
}
