// The engine that a shared suite runs on, and all that differs between engines, in one table. A suite in test/e2e that gets
// its engine here is run on llama-server by `npm test`, and on vLLM by test/vllm/shared-suites.test.ts.
import { LlamaServerEngine } from '../../src/engines/llama-server.ts';
import { VllmEngine } from '../../src/engines/vllm.ts';
import { byteModelFile, type ByteModel } from './gguf/byte-model.ts';
import type { Family } from './gguf/families.ts';
import { eventually, send, type Answer } from './exchanges.ts';
import { realEngine, type RealEngine } from './real-engine.ts';
import { realVllm } from './vllm/real-vllm.ts';
import type { WatchedServer } from './watched-process.ts';

type EngineName = 'llama-server' | 'vllm';

interface Reachable {
  readonly url: string;
}

export interface EngineExpectations {
  /** The route for text, and what limits its answer to two tokens. */
  readonly text: { readonly path: string; readonly short: object };
  /** What asks for likelihoods there, and what for one token only. */
  readonly scoring: readonly object[];
  /** Ids of the question with one tool, and with one that has a member that the protocol does not know. */
  readonly oneTool: { readonly plain: number; readonly withReturn: number };
  /** Ids of the rendered question if texts of control tokens are read as ordinary text; undefined: this can't be asked for. */
  readonly withoutControlTokens: number | undefined;
  /** How many of so many shared ids the engine's cache gives again. */
  readonly reusable: (shared: number) => number;
  /** The ids of a conversation, by the engine's own helper endpoints. */
  readonly chatIds: (at: Reachable, messages: readonly object[]) => Promise<readonly number[]>;
  /** The ids of a text, with texts of control tokens read as these and nothing added. */
  readonly textIds: (at: Reachable, text: string) => Promise<readonly number[]>;
  /** The ids of a raw prompt, as the route for text makes them. */
  readonly promptIds: (at: Reachable, prompt: string) => Promise<readonly number[]>;
  /** What makes a chat's reply tell the prompt that the model was given, and where it tells it. */
  readonly promptInReply: { readonly ask: object; readonly of: (answer: Answer) => unknown };
  /** Routes of conversations as items, and those that only count. */
  readonly responsesRoutes: readonly string[];
  readonly countingRoutes: readonly string[];
  /** Members of its error for a message of `/v1/messages` that has no content, and why its ids are unknown. */
  readonly withoutContent: { readonly error: Readonly<Record<string, unknown>>; readonly reason: string };
  /** What is found where Claude Code's attribution line at the head of the system text changed by more than its hash. */
  readonly changedAttributionLine: string | null;
  /** What is named where both this line changed and a message of the history was edited. */
  readonly editedBehindAttributionLine: string;
  /** By the name of a request in count-checks: what its count is compared to, where that differs; `no-route`: it has no such route. */
  readonly countsOtherwise: Readonly<Record<string, 'absent' | 'partial' | 'no-route'>>;
  /** What is named where the last message is the assistant's and nothing asks for it to be gone on with. */
  readonly lastIsAssistant: { readonly findings: string; readonly severity: 'info' | 'warning' };
  /** What an empty one does to the prompt. */
  readonly emptyLast: RegExp;
  /** A stream tells the prompt's count though nobody asked for it. */
  readonly countsEveryStream: boolean;
  /** What a client can send instead of text to which BOS is added. */
  readonly withoutAddedBos: string;
  /** Two replies to the same request come in the same pieces. */
  readonly cutsAlike: boolean;
  /** Resolves when it has stopped to generate for a client that left, though much was left to generate. @param from end of its log before */
  readonly givenUp: (server: WatchedServer, from: number) => Promise<unknown>;
}

const table: Readonly<Record<EngineName, EngineExpectations>> = {
  'llama-server': {
    text: { path: '/completion', short: { n_predict: 2 } },
    scoring: [{ n_probs: 5 }, { n_predict: 1 }],
    oneTool: { plain: 168, withReturn: 168 },
    withoutControlTokens: 46,
    reusable: (shared) => shared,
    chatIds: async ({ url }, messages) => {
      const { json } = await send(`${url}/apply-template`, { messages });
      return tokens(await send(`${url}/tokenize`, { content: json['prompt'], add_special: true }));
    },
    textIds: async ({ url }, content) => tokens(await send(`${url}/tokenize`, { content })),
    promptIds: async ({ url }, content) =>
      tokens(await send(`${url}/tokenize`, { content, add_special: true, parse_special: true })),
    promptInReply: {
      ask: { verbose: true },
      of: ({ json }) => (json['__verbose'] as { prompt: string }).prompt,
    },
    responsesRoutes: ['/v1/responses', '/responses'],
    countingRoutes: ['/v1/messages/count_tokens', '/v1/responses/input_tokens'],
    withoutContent: {
      error: {
        code: 400,
        message: "All non-assistant messages must contain 'content'",
        type: 'invalid_request_error',
      },
      reason: 'oracle-refused',
    },
    changedAttributionLine: 'prefix-break;attribution-line',
    // The line stands before the history.
    editedBehindAttributionLine: 'prefix-break;attribution-line',
    countsOtherwise: {},
    lastIsAssistant: { findings: 'trailing-assistant;prefill', severity: 'info' },
    emptyLast: /lacks what opens an answer/,
    countsEveryStream: true,
    withoutAddedBos: 'token ids',
    cutsAlike: true,
    givenUp: (server, from) => server.waitForLog(/cancel task, id_task = \d+/, { from }),
  },
  vllm: {
    text: { path: '/v1/completions', short: { max_tokens: 2 } },
    scoring: [{ logprobs: 5 }, { max_tokens: 1 }, { echo: true }],
    // Members that the protocol does not know are dropped before the template sees them: Transformers would print 177.
    oneTool: { plain: 168, withReturn: 168 },
    withoutControlTokens: undefined,
    // Whole blocks, of 32 as the tests start it.
    reusable: (shared) => shared - (shared % 32),
    chatIds: async ({ url }, messages) => tokens(await send(`${url}/tokenize`, { messages })),
    textIds: async ({ url }, prompt) =>
      tokens(await send(`${url}/tokenize`, { prompt, add_special_tokens: false })),
    promptIds: async ({ url }, prompt) => tokens(await send(`${url}/tokenize`, { prompt })),
    promptInReply: { ask: { return_token_ids: true }, of: ({ json }) => json['prompt_token_ids'] },
    responsesRoutes: ['/v1/responses'],
    countingRoutes: ['/v1/messages/count_tokens'],
    // The body is converted here before the engine is asked.
    withoutContent: {
      error: { code: 400, type: 'Bad Request', param: 'body.messages.0.content' },
      reason: 'engine-cannot',
    },
    // The line is left out of system messages, in a block of its own or not.
    changedAttributionLine: null,
    editedBehindAttributionLine: 'prefix-break;history-edited',
    // A count is told of all prompts together, and in streams only if it is asked for.
    countsOtherwise: {
      'a streamed chat': 'absent',
      'two streamed choices of one chat': 'absent',
      'a native prompt': 'no-route',
      'a streamed native prompt': 'no-route',
      'two native prompts': 'no-route',
      'two streamed native prompts': 'no-route',
      'a streamed text': 'absent',
      'two streamed texts': 'absent',
      'two texts': 'absent',
    },
    // It closes the message and opens another answer, unless continue_final_message is sent.
    lastIsAssistant: { findings: 'trailing-assistant;not-continued', severity: 'warning' },
    emptyLast: /opens another answer behind it/,
    countsEveryStream: false,
    withoutAddedBos: 'token ids, or add_special_tokens: false',
    cutsAlike: false,
    givenUp: ({ url }) =>
      eventually(async () => {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        return /^vllm:num_requests_running\{.*\} 0\.0$/m.test(metrics);
      }, 'no request runs'),
  },
};

export const testedEngineName: EngineName =
  process.env['TOKENWEIR_TEST_ENGINE'] === 'vllm' ? 'vllm' : 'llama-server';

/** Asks the engine under test as the pipeline does. */
export const adapterUnderTest = testedEngineName === 'vllm' ? VllmEngine : LlamaServerEngine;

/** What the engine under test does where engines differ. */
export const expected = table[testedEngineName];

/** vLLM refuses tools that a model may choose among, and tells no cached tokens, unless it is started so. */
const vllmArguments = [
  ...['--enable-auto-tool-choice', '--tool-call-parser', 'hermes'],
  '--enable-prompt-tokens-details',
];

/** By engine: each takes its own arguments. */
interface Options {
  readonly 'llama-server'?: { readonly args: readonly string[] };
  readonly vllm?: { readonly args: readonly string[]; readonly model?: () => Promise<string> };
}

/** The engine under test with a model of this family; call it at the top of a file, as `realEngine`. */
export function testedEngine(family: Family, options: Options = {}): Promise<RealEngine> {
  if (testedEngineName === 'llama-server') return realEngine(family, options[testedEngineName]);
  const { args = [], model } = options.vllm ?? {};
  return realVllm(model ?? family, { args: [...vllmArguments, ...args] });
}

/** The engine under test with a byte model; call it at the top of a file, as `realEngine`. */
export function testedByteModel(model: ByteModel): Promise<RealEngine> {
  return testedEngineName === 'llama-server'
    ? realEngine(() => byteModelFile(model))
    : realVllm(model, { args: vllmArguments });
}

/** A raw prompt on the engine's own route for text, two tokens. */
export function completeText({ url }: Reachable, body: object): Promise<Answer> {
  return send(url + expected.text.path, { ...expected.text.short, ...body });
}

function tokens({ json }: Answer): readonly number[] {
  return json['tokens'] as number[];
}
