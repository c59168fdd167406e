// A coding agent's conversation as Claude Code leads it, on each of the routes that it can come by: a line at the head of
// the instructions that differs per request, long instructions, a tool, and turns of calls and results.
import type { Answer } from './exchanges.ts';

export type AgentRoute = 'messages' | 'chat' | 'responses';

export interface AgentTurn {
  readonly path: string;
  readonly body: object;
}

export interface AgentOptions {
  /** Stands in the instructions behind the line. */
  readonly instructions?: string;
  /** True to send the line at the head of the instructions' own text, not in a block beside it. */
  readonly inline?: boolean;
}

const rules = Array.from({ length: 40 }, (_, rule) => `Rule ${rule}: read a file before you change it.`);
export const instructions = `You are Claude Code.\n${rules.join('\n')}`;

/** Five characters of hash, and a version; an engine may blank the former. */
export function attributionLine(version: number, hash = version): string {
  return `x-anthropic-billing-header: cc_version=2.1.101.e5${version}; cc_entrypoint=cli; cch=a514${hash};`;
}

/** @param turn from 1 on; a turn holds all before it. */
export function agentTurn(
  route: AgentRoute,
  turn: number,
  line: string,
  options: AgentOptions = {},
): AgentTurn {
  const { instructions: said = instructions, inline = false } = options;
  const texts = inline ? [`${line}\n${said}`] : [line, said];
  const earlier = Array.from({ length: turn - 1 }, (_, index) => index + 1);
  return { messages: onMessages, chat: onChat, responses: onResponses }[route](texts, earlier);
}

const question = 'What is in a.txt?';
const description = 'Reads a file.';
const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const argumentsOf = (turn: number): string => JSON.stringify({ path: `${turn}.txt` });
const resultOf = (turn: number): string => `Line ${turn}.`;

function onMessages(texts: readonly string[], earlier: readonly number[]): AgentTurn {
  const text = (said: string): object => ({ type: 'text', text: said });
  const system = texts.map((said) => ({ ...text(said), cache_control: { type: 'ephemeral' } }));
  const tools = [{ name: 'read_file', description, input_schema: parameters }];
  const turns = earlier.flatMap((turn) => {
    const input = JSON.parse(argumentsOf(turn)) as object;
    const call = { type: 'tool_use', id: `t${turn}`, name: 'read_file', input };
    const result = { type: 'tool_result', tool_use_id: `t${turn}`, content: [text(resultOf(turn))] };
    return [
      { role: 'assistant', content: [text('Let me see.'), call] },
      { role: 'user', content: [result] },
    ];
  });
  const messages = [{ role: 'user', content: [text(question)] }, ...turns];
  return { path: '/v1/messages', body: { max_tokens: 1, system, tools, messages } };
}

function onChat(texts: readonly string[], earlier: readonly number[]): AgentTurn {
  const tools = [{ type: 'function', function: { name: 'read_file', description, parameters } }];
  const turns = earlier.flatMap((turn) => {
    const called = { name: 'read_file', arguments: argumentsOf(turn) };
    const call = { id: `t${turn}`, type: 'function', function: called };
    return [
      { role: 'assistant', content: 'Let me see.', tool_calls: [call] },
      { role: 'tool', tool_call_id: `t${turn}`, content: resultOf(turn) },
    ];
  });
  const content = texts.length === 1 ? texts[0] : texts.map((text) => ({ type: 'text', text }));
  const messages = [{ role: 'system', content }, { role: 'user', content: question }, ...turns];
  return { path: '/v1/chat/completions', body: { max_tokens: 1, tools, messages } };
}

function onResponses(texts: readonly string[], earlier: readonly number[]): AgentTurn {
  const tools = [{ type: 'function', name: 'read_file', description, parameters }];
  const turns = earlier.flatMap((turn) => [
    { type: 'function_call', call_id: `t${turn}`, name: 'read_file', arguments: argumentsOf(turn) },
    { type: 'function_call_output', call_id: `t${turn}`, output: resultOf(turn) },
  ]);
  const input = [{ role: 'user', content: question }, ...turns];
  const content = texts.map((text) => ({ type: 'input_text', text }));
  const body =
    texts.length === 1
      ? { instructions: texts[0], input }
      : { input: [{ role: 'developer', content }, ...input] };
  return { path: '/v1/responses', body: { max_output_tokens: 1, tools, ...body } };
}

export interface PromptCounts {
  readonly prompt: number;
  readonly cached: number;
}

/** The engine's own counts, which each route tells in its own words. */
export function promptCounts({ json }: Answer): PromptCounts {
  const usage = json['usage'] as Readonly<Record<string, unknown>>;
  const details = (usage['prompt_tokens_details'] ?? usage['input_tokens_details']) as
    { readonly cached_tokens: number } | undefined;
  const told = Number(usage['prompt_tokens'] ?? usage['input_tokens']);
  if (details !== undefined) return { prompt: told, cached: details.cached_tokens };
  // On the messages route the cached tokens are told beside the others.
  const cached = Number(usage['cache_read_input_tokens']);
  return { prompt: told + cached, cached };
}
