// Exchanges for the metric tests: a plain clean one, changed by what a test says about it. No fields that no test reads.
import type { Exchange } from '../../src/exchange/exchange.ts';
import type { Finding } from '../../src/exchange/finding.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import type { ChoiceReply, Reply } from '../../src/exchange/reply/reply.ts';
import type { TokenRead } from '../../src/exchange/token-read.ts';

export function exchangeWith(changes: Partial<Exchange> = {}): Exchange {
  return {
    id: 'req-1',
    receivedAtMs: 0,
    route: { kind: 'chat', inspected: true, dialect: 'openai' },
    client: { pseudonym: 'c-1' },
    modelName: 'qwen3',
    heads: [],
    prompts: [tokens(25)],
    findings: [],
    skipped: [],
    inspection: { result: 'ok' },
    action: 'pass',
    ...changes,
  };
}

export function tokens(count: number): TokenRead {
  return { known: true, ids: new Uint32Array(count), source: 'engine' };
}

export const doubleBos: Finding = {
  kind: 'double-bos',
  cause: 'client-text',
  severity: 'error',
  culprit: 'client',
  promptIndex: 0,
  tokens: { start: 0, end: 2 },
  field: 'prompt',
  message: 'The prompt starts with two BOS tokens.',
  advice: 'Leave <bos> out of the prompt.',
};

export const prefixBreak: Finding = {
  kind: 'prefix-break',
  cause: 'tools-reordered',
  severity: 'warning',
  culprit: 'client',
  promptIndex: 0,
  tokens: { start: 56, end: 234 },
  lostTokens: 178,
  message: 'The prompt leaves the earlier turn at token 56 of 234.',
  advice: 'Send the tools in the same order on every turn.',
};

/** A break that a repair has mended before forwarding. */
export const mendedBreak: Finding = { ...prefixBreak, cause: 'attribution-line', savedTokens: 170 };

export function replyWith(...choices: readonly Partial<ChoiceReply>[]): Reply {
  return {
    status: 200,
    started: true,
    complete: true,
    choices: choices.map((choice, index) => ({
      index,
      hasAnswerText: true,
      hasReasoning: false,
      hasToolCalls: false,
      ...choice,
    })),
  };
}

export function factsWith(changes: Partial<ModelFacts> = {}): ModelFacts {
  return {
    modelName: 'qwen3',
    identity: 'i-1',
    engine: 'llama-server',
    build: 'b1',
    modelPath: '',
    templateHash: 't1',
    templateFirstLine: '',
    templateWritesDate: false,
    addedPrefix: { chat: [], completion: [] },
    addedSuffix: { chat: [], completion: [] },
    markers: [],
    roleMarkers: [],
    contextTokens: 4096,
    slots: 1,
    mediaMarker: '',
    ...changes,
  };
}
