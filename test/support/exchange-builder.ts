// Exchanges for tests of pure parts: requests are read by the real reader from real bytes, ids are given by the test.
import { addedTo } from '../../src/engines/vllm/added-ids.ts';
import type { Exchange } from '../../src/exchange/exchange.ts';
import type { IgnoredEffect, IgnoredField, ModelFacts } from '../../src/exchange/model-facts.ts';
import type { Reference } from '../../src/exchange/reference.ts';
import type { ChoiceReply, Reply } from '../../src/exchange/reply/reply.ts';
import { readRequest, type RequestKind } from '../../src/exchange/request/request-reader.ts';
import type { GenerationRequest, JsonObject } from '../../src/exchange/request/request.ts';
import type { CutPart, TokenRead } from '../../src/exchange/token-read.ts';
import { turnMarksOf } from '../../src/exchange/written/turn-marks.ts';
import {
  compileTurnMarks,
  TurnScan,
  type TurnPattern,
  type TurnSightings,
} from '../../src/exchange/written/turn-scan.ts';
import { tokenizedText } from './tokenized-text.ts';

const noFacts: ModelFacts = {
  modelName: 'model',
  identity: 'identity',
  engine: 'llama-server',
  build: 'b1',
  modelPath: '/models/model.gguf',
  templateHash: '0123456789abcdef',
  templateFirstLine: '',
  templateWritesDate: false,
  addedPrefix: { chat: [], completion: [] },
  addedSuffix: { chat: [], completion: [] },
  markers: [],
  roleMarkers: [],
  contextTokens: 4096,
  slots: 4,
  mediaMarker: '',
};

/** Fields of one sort each, as an adapter tells of them. */
const ignoredFields = [
  field('add-special-tokens', 'bos', 'add_special_tokens'),
  field('documents', 'text', 'documents'),
  field('suffix', 'text', 'suffix'),
  field('echo', 'reply', 'echo'),
  field('truncate-prompt-tokens', 'length', 'truncate_prompt_tokens'),
  field('num-ctx', 'context', 'options', 'num_ctx'),
  field('thinking', 'thinking-off', 'thinking'),
  field('chat-template', 'template', 'chat_template'),
] as const;

function field(name: string, effect: IgnoredEffect, ...path: readonly string[]): IgnoredField {
  return { name, path, routes: ['chat', 'completion'], effect, instead: 'Leave it out.' };
}

/** A tune on Vicuna's words of a model that was trained on ChatML, or a ChatML model that is served by these words. */
const wordsBesideMarkers: ModelFacts = {
  ...noFacts,
  eos: { text: '<|im_end|>', id: 151_645 },
  markers: [
    { text: '<|im_start|>', id: 151_644 },
    { text: '<|im_end|>', id: 151_645 },
  ],
  generationPrompt: { text: 'ASSISTANT:', ids: [21_018] },
  roleMarkers: [
    { role: 'user', opening: 'USER: ' },
    { role: 'assistant', opening: 'ASSISTANT: ' },
  ],
};

/** Facts as probing finds them for real families; ids are the families' own. */
export const factsOf = {
  gemma3: {
    ...noFacts,
    modelName: 'gemma-3-1b-it',
    ignoredFields,
    bos: { text: '<bos>', id: 2 },
    templateWritesBos: true,
    eos: { text: '<eos>', id: 1 },
    addedPrefix: { chat: [2], completion: [2] },
    markers: [
      { text: '<start_of_turn>', id: 105, kind: 'control' },
      { text: '<end_of_turn>', id: 106, kind: 'control' },
      { text: '<start_of_image>', id: 255_999, kind: 'control' },
      { text: '<bos>', id: 2, kind: 'control' },
      { text: '<eos>', id: 1, kind: 'control' },
    ],
    generationPrompt: { text: '<start_of_turn>model\n', ids: [105, 4368, 107] },
    turnEnds: ['<end_of_turn>'],
    userTurnEnd: '<end_of_turn>',
    roleMarkers: [
      { role: 'system', opening: '<start_of_turn>user\n' },
      { role: 'user', opening: '<start_of_turn>user\n' },
      { role: 'assistant', opening: '<start_of_turn>model\n' },
    ],
  },
  qwen3: {
    ...noFacts,
    modelName: 'qwen3-0.6b',
    ignoredFields,
    eos: { text: '<|im_end|>', id: 151_645 },
    markers: [
      { text: '<|fim_prefix|>', id: 151_659, kind: 'control' },
      { text: '<|fim_middle|>', id: 151_660, kind: 'control' },
      { text: '<|fim_suffix|>', id: 151_661, kind: 'control' },
      { kind: 'user-defined', text: '</tool_call>', id: 151_658 },
      { kind: 'user-defined', text: '<tool_call>', id: 151_657 },
      { text: '<|im_start|>', id: 151_644, kind: 'control' },
      { text: '<|im_end|>', id: 151_645, kind: 'control' },
      { kind: 'user-defined', text: '</think>', id: 151_668 },
      { kind: 'user-defined', text: '<think>', id: 151_667 },
    ],
    generationPrompt: { text: '<|im_start|>assistant\n', ids: [151_644, 77_091, 198] },
    turnEnds: ['<|im_end|>'],
    userTurnEnd: '<|im_end|>',
    thinkTail: { text: '<think>\n\n</think>\n\n', ids: [151_667, 271, 151_668, 271] },
    roleMarkers: [
      { role: 'system', opening: '<|im_start|>system\n' },
      { role: 'user', opening: '<|im_start|>user\n' },
      { role: 'assistant', opening: '<|im_start|>assistant\n' },
    ],
  },
  /** An engine that shows its template, which reads one argument. */
  shown: {
    ...noFacts,
    templateInputs: {
      read: ['enable_thinking', 'messages'],
      byEngine: ['reasoning_effort'],
    },
  },
  /** A template that merges instructions, reads reasoning under one name and drops much of what it is given. */
  forgetful: {
    ...noFacts,
    markers: [
      { text: '<|im_start|>', id: 1 },
      { text: '<|im_end|>', id: 2 },
    ],
    roleMarkers: [{ role: 'user', opening: '<|im_start|>user\n' }],
    reading: {
      dropped: ['call', 'reasoning'],
      droppedFields: ['minLength'],
      mergesInstructions: true,
      developerAsSystem: true,
      reasoningMembers: ['reasoning_content'],
    },
  },
  /** A template that writes messages in capitals without angle brackets, lines joined, and results as JSON in ASCII. */
  rewriting: {
    ...noFacts,
    reading: {
      dropped: [],
      droppedFields: [],
      mergesInstructions: false,
      developerAsSystem: false,
      reasoningMembers: ['reasoning_content'],
      forms: [
        {
          places: ['instructions', 'question', 'answer', 'text-part'],
          characters: [
            { given: '<', written: '' },
            { given: '>', written: '' },
          ],
          letters: 'upper',
          changesSpace: true,
          trims: 'both',
        },
        {
          places: ['tool-result'],
          characters: [
            { given: '"', written: String.raw`\"` },
            { given: '\n', written: String.raw`\n` },
          ],
          beyondAscii: 'json-upper',
          trims: 'nothing',
        },
      ],
      json: [{ place: 'result', comma: ', ', colon: ': ', sorted: true, lines: false, literals: 'python' }],
    },
  },
  /** A model without a chat template. */
  base: { ...noFacts, bos: { text: '<s>', id: 1 }, addedPrefix: { chat: [1], completion: [1] } },
  /** A model file without a template, as llama-server serves it: ChatML in a vocabulary that does not know it. */
  defaultTemplate: {
    ...noFacts,
    templateOrigin: 'default',
    bos: { text: '<s>', id: 1 },
    addedPrefix: { chat: [1], completion: [1] },
    markers: [
      { text: '</s>', id: 2 },
      { text: '<s>', id: 1 },
    ],
    generationPrompt: { text: '<|im_start|>assistant\n', ids: [60, 124, 105, 62, 97, 10] },
    turnEnds: ['<|im_end|>'],
    roleMarkers: [
      { role: 'system', opening: '<|im_start|>system\n' },
      { role: 'user', opening: '<|im_start|>user\n' },
      { role: 'assistant', opening: '<|im_start|>assistant\n' },
    ],
  },
  /** Turns in plain words, as RWKV's are. */
  plainTurns: {
    ...noFacts,
    eos: { text: '</s>', id: 2 },
    markers: [
      { text: '</s>', id: 2 },
      { text: '<s>', id: 1 },
    ],
    generationPrompt: { text: 'Assistant:', ids: [5, 6] },
    roleMarkers: [
      { role: 'user', opening: 'User: ' },
      { role: 'assistant', opening: 'Assistant: ' },
    ],
  },
  /** Turns of plain words, served to a vocabulary that has what opens turns and stops where they end. */
  wordsBesideMarkers,
  /** The same, as the engine has it built in under a name. */
  wordsByName: { ...wordsBesideMarkers, templateName: 'vicuna' },
  /** The two different preamble tokens of GLM; the vocabulary names no BOS. */
  glm: {
    ...noFacts,
    markers: [
      { text: '[gMASK]', id: 151_331 },
      { text: '<|user|>', id: 151_336 },
      { text: '<sop>', id: 151_333 },
    ],
    roleMarkers: [{ role: 'user', opening: '<|user|>\n' }],
  },
  /** `[INST]` turns: BOS comes again with every turn, by design. */
  mistral: {
    ...noFacts,
    bos: { text: '<s>', id: 1 },
    eos: { text: '</s>', id: 2 },
    addedPrefix: { chat: [1], completion: [1] },
    markers: [
      { text: '[/INST]', id: 4 },
      { text: '[INST]', id: 3 },
      { text: '</s>', id: 2 },
      { text: '<s>', id: 1 },
    ],
    roleMarkers: [{ role: 'user', opening: '[INST]' }],
  },
  /** A model file that has no BOS put in front of texts, though its template writes one. */
  bosByTemplate: {
    ...noFacts,
    bos: { text: '<bos>', id: 2 },
    templateWritesBos: true,
    markers: [
      { text: '<|fim_prefix|>', id: 67 },
      { text: '<|turn>', id: 105 },
      { text: '<bos>', id: 2 },
    ],
    roleMarkers: [{ role: 'user', opening: '<|turn>user\n' }],
  },
  /** A model file that names no BOS and has one put in front: the engine takes the token that its loader defaults to. */
  bosByDefault: {
    ...noFacts,
    templateWritesBos: false,
    ordinaryBos: { text: ',', id: 11 },
    addedPrefix: { chat: [11], completion: [11] },
    markers: [{ text: '<|im_start|>', id: 151_644 }],
    roleMarkers: [{ role: 'user', opening: '<|im_start|>user\n' }],
  },
  /** A template that opens answers in the history and never the one to come, as one was published. */
  unopened: {
    ...noFacts,
    markers: [
      { text: '<|assistant|>', id: 13 },
      { text: '<|user|>', id: 12 },
    ],
    turnEnds: [],
    roleMarkers: [
      { role: 'user', opening: '<|user|>\n' },
      { role: 'assistant', opening: '<|assistant|>\n' },
    ],
  },
  /** No role markers in front of a message: the template puts the first one at the very head. */
  bare: {
    ...noFacts,
    bos: { text: '<s>', id: 1 },
    addedPrefix: { chat: [1], completion: [1] },
    markers: [{ text: '<s>', id: 1 }],
  },
} as const satisfies Record<string, ModelFacts>;

export type Family = keyof typeof factsOf;

/** What a reply tells of one choice, or the text that is looked through as a reply reader does. */
export interface ChoiceShape extends Partial<ChoiceReply> {
  readonly says?: string;
}

export interface ExchangeShape {
  readonly route: RequestKind;
  /** The body's JSON text, or a value to be written as such. */
  readonly body: JsonObject | string;
  readonly facts?: ModelFacts;
  /** The engine on which requests differ in what it adds to their prompts; else the facts say. */
  readonly engine?: 'vllm';
  /** Ids per prompt index; an unknown reason where they could not be read. */
  readonly ids?: readonly (readonly number[] | Extract<TokenRead, { known: false }>['reason'])[];
  /** The rendered text of the only prompt; without `ids` its tokens are those of tokenized-text. */
  readonly text?: string;
  /** The part of each prompt that the request has the engine cut off. */
  readonly cut?: CutPart;
  readonly modelKind?: 'instruct' | 'base';
  readonly reply?: Partial<Omit<Reply, 'choices'>> & { readonly choices?: readonly ChoiceShape[] };
  readonly session?: Exchange['session'];
  readonly reference?: Reference;
}

export function buildRequest(route: ExchangeShape['route'], body: JsonObject | string): GenerationRequest {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const reading = readRequest(bytes, route);
  if (!reading.readable) throw new Error(`the test's body is ${reading.reason}: ${bytes.toString()}`);
  return reading.request;
}

const dialects = {
  chat: 'openai',
  completion: 'openai',
  messages: 'anthropic',
  responses: 'responses',
} as const;

export function buildExchange(shape: ExchangeShape): Exchange {
  const facts = shape.facts ?? factsOf.gemma3;
  const request = buildRequest(shape.route, shape.body);
  const added = shape.engine === 'vllm' ? { added: addedTo(request, facts) } : {};
  const tokenized = shape.text === undefined ? [] : [tokenizedText(shape.text, facts)];
  const given = shape.ids?.map((ids): TokenRead => {
    if (typeof ids === 'string') return { known: false, reason: ids };
    const text = shape.text === undefined ? {} : { text: shape.text };
    const cut = shape.cut === undefined ? {} : { cut: shape.cut };
    return { known: true, ids: Uint32Array.from(ids), source: 'engine', ...text, ...cut };
  });
  const prompts = given ?? tokenized;
  return {
    id: 'request-1',
    receivedAtMs: 0,
    route: { kind: shape.route, inspected: true, dialect: dialects[shape.route] },
    client: { pseudonym: 'client' },
    modelName: facts.modelName,
    ...(shape.modelKind && { modelKind: shape.modelKind }),
    request,
    facts,
    heads: prompts.map((read) =>
      read.known
        ? { known: true, ids: [...read.ids.subarray(0, 16)], ...added, ...(read.cut && { cut: read.cut }) }
        : read,
    ),
    prompts,
    ...(shape.session && { session: shape.session }),
    ...(shape.reference && { reference: shape.reference }),
    findings: [],
    skipped: [],
    inspection: { result: 'ok' },
    action: 'pass',
    ...(shape.reply && { reply: buildReply(shape.reply, compileTurnMarks(turnMarksOf(request, facts))) }),
  };
}

/** A reply that ended as the protocol says, unless the test says otherwise. */
export function buildReply(reply: NonNullable<ExchangeShape['reply']>, pattern?: TurnPattern): Reply {
  return {
    status: 200,
    started: true,
    complete: true,
    ...reply,
    choices: (reply.choices ?? []).map(({ says, ...choice }, index) => ({
      index,
      hasAnswerText: true,
      hasReasoning: false,
      hasToolCalls: false,
      ...(says !== undefined && pattern !== undefined && { turns: lookedThrough(says, pattern) }),
      ...choice,
    })),
  };
}

function lookedThrough(text: string, pattern: TurnPattern): TurnSightings {
  const scan = new TurnScan(pattern);
  scan.push(text);
  return scan.end();
}
