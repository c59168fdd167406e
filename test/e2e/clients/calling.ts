// What makes the tests' model answer the same each time, and call a tool, on each engine.
import { callingModelFolder } from '../../support/vllm/model-folder.ts';
import type { RealEngine } from '../../support/real-engine.ts';
import { testedEngine, testedEngineName } from '../../support/tested-engine.ts';

/**
 * On llama-server, Qwen3 with any weights writes exactly `get_weather` with `{"city": "Oslo"}` where the engine's grammar
 * lets it choose: by preference of the call's own tokens. The penalty is on the last token only, so that the opening
 * marker, which free text may repeat for ever, comes once.
 */
const preferences = {
  presence_penalty: 30,
  repeat_last_n: 1,
  logit_bias: {
    '151645': 100, // <|im_end|>, which the grammar allows after a whole call only
    '151657': 60, // <tool_call>
    '198': 45, // the line break that belongs to it
    ...Object.fromEntries(
      // {" name ": " get _weather ", arguments {" city Os lo "}} </tool_call>
      [4913, 606, 788, 330, 455, 69364, 497, 16370, 5212, 8926, 28867, 385, 95642, 151658].map((id) => [
        id,
        20,
      ]),
    ),
  },
};

interface Calling {
  /** Greedy, and never from the cache: a prompt computed in other portions gives other last digits, so other words. */
  readonly repeatable: {
    readonly temperature: number;
    readonly seed: number;
    readonly cache_prompt?: boolean;
    readonly top_k?: number;
  };
  /** Fields of a request in which the call is to be written, on routes that take them. */
  readonly preferences: Partial<typeof preferences>;
  /** What a request says of its tools, in the words of OpenAI and of Anthropic. */
  readonly choice: 'required' | 'auto';
  readonly anyTool: 'any' | 'auto';
}

const ways = {
  'llama-server': {
    repeatable: { temperature: 0, seed: 1, cache_prompt: false },
    preferences,
    choice: 'required',
    anyTool: 'any',
  },
  // A model of its own writes the call: there what is required is written by a grammar that leaves the arguments, and white
  // space without end, to the model. Two choices are refused where the temperature is 0.
  vllm: {
    repeatable: { temperature: 1, seed: 1, top_k: 1 },
    preferences: {},
    choice: 'auto',
    anyTool: 'auto',
  },
} as const satisfies Readonly<Record<typeof testedEngineName, Calling>>;

export const calling: Calling = ways[testedEngineName];
export const { repeatable } = calling;

/** Room for one call, which takes about 25 tokens. */
export const roomForCall = 60;

const uncached = ['--no-enable-prefix-caching', '--override-generation-config', '{"temperature":0}'];

/** Qwen3 for requests that say themselves how to answer. */
export function answeringEngine(): Promise<RealEngine> {
  return testedEngine('qwen3', { vllm: { args: uncached } });
}

/** The same, and it writes the call where `calling.preferences` are in the request. */
export function callingEngine(): Promise<RealEngine> {
  return testedEngine('qwen3', { vllm: { args: uncached, model: callingModelFolder } });
}

/** For requests that can't say how to answer, so the engine itself is started to. */
const steady = ['--temp', '0', '--seed', '1', '--no-cache-prompt'];

export function steadyEngine(): Promise<RealEngine> {
  return testedEngine('qwen3', { 'llama-server': { args: steady }, vllm: { args: uncached } });
}

export function steadyCallingEngine(): Promise<RealEngine> {
  const penalties = [
    ...['--presence-penalty', String(preferences.presence_penalty)],
    ...['--repeat-last-n', String(preferences.repeat_last_n)],
  ];
  const biases = Object.entries(preferences.logit_bias).flatMap(([id, bias]) => [
    '--logit-bias',
    `${id}+${bias}`,
  ]);
  return testedEngine('qwen3', {
    'llama-server': { args: [...steady, ...penalties, ...biases] },
    vllm: { args: uncached, model: callingModelFolder },
  });
}
