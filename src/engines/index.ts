/** The registry of adapters: adding an engine is one file and one line here. */
import type { Json } from '../exchange/request/request.ts';
import { unknown, type Unknown } from '../exchange/token-read.ts';

import { AutoEngine, type Candidate } from './auto-engine.ts';
import type { Engine, EngineDependencies } from './engine.ts';
import { isProps } from './llama-server/props.ts';
import { LlamaServerEngine } from './llama-server.ts';
import { whatWasSaid } from './oracle/engine-words.ts';
import type { OracleClient, OracleQuestion } from './oracle/oracle-client.ts';
import { readTokens } from './vllm/oracle.ts';
import { VllmEngine } from './vllm.ts';

export const engineKinds = ['auto', 'llama-server', 'vllm'] as const;
export type EngineKind = (typeof engineKinds)[number];

export interface OpenEngineOptions extends EngineDependencies {
  readonly kind: EngineKind;
  readonly onRecognised?: (kind: string) => void;
}

/** Where the adapters' servers listen by default, for a message that helps who forgot the upstream. */
export const usualPorts: readonly { readonly port: number; readonly engine: string }[] = [
  { port: 9931, engine: 'llama-server' },
  { port: 8080, engine: 'llama-server' },
  { port: 8000, engine: 'vLLM' },
  { port: 30000, engine: 'SGLang' },
  { port: 11434, engine: 'Ollama' },
];

export function openEngine(options: OpenEngineOptions): Engine {
  const llamaServer = new LlamaServerEngine(options);
  if (options.kind === 'llama-server') return llamaServer;
  const vllm = new VllmEngine(options);
  if (options.kind === 'vllm') return vllm;
  const { client } = options;
  const props = { oracle: 'props', method: 'GET', path: '/props' } as const;
  const tokenize = { oracle: 'tokenize', method: 'POST', path: '/tokenize', body: '{"prompt":"x"}' } as const;
  const candidates: Candidate[] = [
    { engine: llamaServer, recognise: recognisedBy(client, props, isProps) },
    { engine: vllm, recognise: recognisedBy(client, tokenize, (json) => readTokens(json) !== undefined) },
  ];
  return new AutoEngine(candidates, (engine) => options.onRecognised?.(engine.kind));
}

function recognisedBy(
  client: OracleClient,
  question: Omit<OracleQuestion, 'credentials'>,
  isOurs: (json: Json) => boolean,
): Candidate['recognise'] {
  return async ({ credentials }) => {
    const answer = await client.ask({ ...question, credentials });
    if (answer.known) return { known: true, recognised: isOurs(answer.json) };
    const said: Unknown = { ...unknown(answer.reason), ...whatWasSaid(answer) };
    if (answer.status === 401 || answer.status === 403 || answer.reason === 'answer-too-large') return said;
    // Other answers without our shape come from a server that is not this one.
    if (answer.status !== undefined && !isOfTheMoment(answer.status))
      return { known: true, recognised: false };
    return said;
  };
}

/**
 * What gateways answer while the server behind them is away or busy says nothing about which it is: Cloudflare's have 520 to
 * 530, Anthropic's 529. 501 and 505 are said of every question alike.
 */
function isOfTheMoment(status: number): boolean {
  return status === 429 || (status >= 500 && status !== 501 && status !== 505);
}
