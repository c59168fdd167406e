// Prompts of a wanted size, of the kinds that detectors have the most work with, each with its request and with the
// rendering that a template would make of it.
import type { ModelFacts, TemplateReading } from '../src/exchange/model-facts.ts';
import type { JsonObject } from '../src/exchange/request/request.ts';
import { factsOf, type ExchangeShape } from '../test/support/exchange-builder.ts';
import { prose, seeded, type Message } from './conversation.ts';

export interface PromptShape {
  readonly name: string;
  /** @param size characters of prompt, about */
  make(size: number): ExchangeShape;
}

/** What the probes see of Qwen3's template, but for its JSON: here it is as it was sent. @param dropped what it leaves out */
function readingOf(dropped: readonly string[]): TemplateReading {
  const asSent = ['instructions', 'question', 'answer', 'reasoning', 'tool-result', 'text-part'] as const;
  const asJson = ['tool-description', 'schema-value', 'call-argument', 'tool-result-value'] as const;
  const escapes = ['"', '\\', '\n', '\r', '\t', '\b', '\f'].map((given) => ({
    given,
    written: JSON.stringify(given).slice(1, -1),
  }));
  return {
    dropped,
    droppedFields: [],
    mergesInstructions: false,
    developerAsSystem: true,
    reasoningMembers: ['reasoning_content'],
    writesNames: false,
    forms: [
      { characters: [], trims: 'nothing', places: asSent },
      { characters: escapes, controls: 'json', trims: 'nothing', places: asJson },
    ],
  };
}

/** The tokens of Qwen3's vocabulary that a prompt can hold; the ids are its own. */
const qwen3: ModelFacts = withMarkers(factsOf.qwen3, [
  ...['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<|object_ref_start|>', '<|object_ref_end|>'],
  ...['<|box_start|>', '<|box_end|>', '<|quad_start|>', '<|quad_end|>', '<|vision_start|>', '<|vision_end|>'],
  ...['<|vision_pad|>', '<|image_pad|>', '<|video_pad|>'],
]);

/** A vocabulary that has the tags of markup as tokens, as Gemma 3's has. */
const tags = ['table', 'tr', 'th', 'td', 'ul', 'ol', 'li', 'b', 'i', 'p', 'h1', 'h2', 'code', 'sup', 'a'];
const gemma3: ModelFacts = {
  ...factsOf.gemma3,
  reading: readingOf([]),
  markers: [
    ...factsOf.gemma3.markers,
    ...tags
      .flatMap((tag) => [`<${tag}>`, `</${tag}>`])
      .map((text, index) => ({ text, id: 168 + index, kind: 'user-defined' as const })),
  ],
};

function withMarkers(facts: ModelFacts, texts: readonly string[]): ModelFacts {
  const known = new Set(facts.markers.map(({ text }) => text));
  const more = texts.map((text, index) => ({ text, id: 151_643 + index, kind: 'control' as const }));
  return {
    ...facts,
    reading: readingOf([]),
    markers: [...facts.markers, ...more.filter(({ text }) => !known.has(text))],
  };
}

export const promptShapes: readonly PromptShape[] = [
  { name: 'prose', make: (size) => chat(size, 200, (random) => prose(random, 700)) },
  { name: 'short turns', make: (size) => chat(size, 8, (random) => prose(random, 8)) },
  {
    name: 'Chinese',
    make: (size) => chat(size, 200, () => '模型读到的是标记而不是文本，前缀一变后面全要重算。'.repeat(160)),
  },
  { name: 'code', make: (size) => chat(size, 200, (random) => codeOf(random, 120)) },
  {
    name: 'markup',
    make: (size) => chat(size, 200, (random) => `<table>${rowsOf(random, 200)}</table>`, gemma3),
  },
  { name: 'markers', make: (size) => chat(size, 200, () => 'of <|im_start|> and <|im_end|>, '.repeat(120)) },
  { name: 'one message', make: (size) => oneMessage(size) },
  { name: '1000 tools', make: (size) => rendered(asked, thousandTools(size), qwen3) },
  {
    name: 'none rendered',
    make: (size) => ({ ...rendered(asked, thousandTools(size), qwen3), text: padded(size) }),
  },
  { name: 'tool loop', make: (size) => toolLoop(size, (call) => JSON.stringify(call)) },
  { name: 'calls as tags', make: (size) => toolLoop(size, asTags) },
  { name: 'without said', make: (size) => toolLoop(size, (call) => JSON.stringify(call), 'dropped') },
  { name: 'raw text', make: (size) => rawText(size) },
];

const codeOf = (random: () => number, lines: number): string =>
  Array.from(
    { length: lines },
    () =>
      `  const items = new Map<string, Array<number>>(); if (i < ${Math.floor(random() * 99)} && a[i] >> 2 > b) return "\\n";`,
  ).join('\n');

const rowsOf = (random: () => number, count: number): string =>
  Array.from({ length: count }, () => `<tr><td>${prose(random, 2)}</td><td class="n">7</td></tr>\n`).join('');

function chat(
  size: number,
  longest: number,
  text: (random: () => number) => string,
  facts: ModelFacts = qwen3,
): ExchangeShape {
  const random = seeded(longest);
  const messages: Message[] = [{ role: 'system', content: prose(random, 60) }];
  for (let length = 0, turn = 0; length < size; turn += 1) {
    const content = text(random);
    messages.push({ role: turn % 2 === 0 ? 'user' : 'assistant', content });
    length += content.length;
  }
  messages.push({ role: 'user', content: 'Go on.' });
  return rendered(messages, [], facts);
}

function oneMessage(size: number): ExchangeShape {
  const content = `${prose(seeded(1), Math.floor(size / 6))} What does <|im_end|> do?`;
  return rendered([{ role: 'user', content: content.slice(-size) }], [], qwen3);
}

const asked: readonly Message[] = [{ role: 'user', content: 'Which tools are there?' }];

function thousandTools(size: number): readonly JsonObject[] {
  const random = seeded(2);
  const words = Math.floor(size / 1000 / 6);
  return Array.from({ length: 1000 }, (_, index) => ({
    type: 'function',
    function: {
      name: `tool_${index}`,
      description: prose(random, words),
      parameters: {
        type: 'object',
        properties: { path: { type: 'string', description: 'Where.' }, depth: { type: 'integer' } },
        required: ['path'],
      },
    },
  }));
}

/** What a template without a place for tools makes of them, in a prompt that is long by itself. */
function padded(size: number): string {
  return `<|im_start|>user\nWhich tools are there? ${prose(seeded(4), Math.floor(size / 6))}<|im_end|>\n<|im_start|>assistant\n`;
}

interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** As the templates of some coding models do: nothing of it stands there as it was sent. */
function asTags({ name, arguments: given }: Call): string {
  const parameters = Object.entries(given).map(
    ([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`,
  );
  return `<function=${name}>\n${parameters.join('')}</function>`;
}

/**
 * An agent at work: each answer thinks, which the template leaves out, and calls a tool, whose result follows.
 * @param beside what the template makes of a text beside calls; some leave it out
 */
function toolLoop(
  size: number,
  written: (call: Call) => string,
  beside: 'kept' | 'dropped' = 'kept',
): ExchangeShape {
  const random = seeded(5);
  const [question] = asked;
  const messages: JsonObject[] = [{ ...question }];
  const turns: string[] = [`<|im_start|>user\n${question?.content ?? ''}<|im_end|>\n`];
  for (let length = 0, turn = 0; length < size; turn += 1) {
    const call = {
      name: 'read_file',
      arguments: { path: `src/part-${turn}/file.ts`, lines: prose(random, 4) },
    };
    const said = prose(random, 12);
    const result = codeOf(random, 12);
    const reasoning = prose(random, 40);
    const id = `call_${turn}`;
    messages.push(
      {
        role: 'assistant',
        content: said,
        reasoning_content: reasoning,
        tool_calls: [
          { id, type: 'function', function: { ...call, arguments: JSON.stringify(call.arguments) } },
        ],
      },
      { role: 'tool', tool_call_id: id, content: result },
    );
    const text =
      `<|im_start|>assistant\n${beside === 'kept' ? `${said}\n` : ''}<tool_call>\n${written(call)}\n</tool_call><|im_end|>\n` +
      `<|im_start|>user\n<tool_response>\n${result}\n</tool_response><|im_end|>\n`;
    turns.push(text);
    length += text.length;
  }
  messages.push({ role: 'user', content: 'Go on.' });
  turns.push('<|im_start|>user\nGo on.<|im_end|>\n<|im_start|>assistant\n');
  const dropped = ['loop-reasoning', 'reasoning', ...(beside === 'kept' ? [] : ['text-beside-calls'])];
  const facts = { ...qwen3, reading: readingOf(dropped) };
  return { route: 'chat', body: { messages }, facts, text: turns.join('') };
}

function rawText(size: number): ExchangeShape {
  const prompt = prose(seeded(3), Math.floor(size / 6));
  return { route: 'completion', body: { prompt }, facts: qwen3, text: prompt };
}

/** As Qwen3's template writes it, or Gemma 3's: the tools in the system text, each message between its markers. */
function rendered(
  messages: readonly Message[],
  tools: readonly JsonObject[],
  facts: ModelFacts,
): ExchangeShape {
  const openings = new Map<string, string>(facts.roleMarkers.map(({ role, opening }) => [role, opening]));
  const end = facts.turnEnds?.[0] ?? '';
  const list = tools.map((tool) => `\n${JSON.stringify(tool)}`).join('');
  const turns = messages.map(({ role, content }) => `${openings.get(role) ?? ''}${content}${end}\n`);
  const head = list === '' ? '' : `${openings.get('system') ?? ''}# Tools\n<tools>${list}\n</tools>${end}\n`;
  return {
    route: 'chat',
    body: {
      messages: messages.map((message) => ({ ...message })),
      ...(tools.length > 0 && { tools: [...tools] }),
    },
    facts,
    text: `${facts.bos?.text ?? ''}${head}${turns.join('')}${facts.generationPrompt?.text ?? ''}`,
  };
}
