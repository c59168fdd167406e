/** The registry of adapters: adding an engine is one file and one line here. */
import { unknown } from '../exchange/token-read.ts';

import { AutoEngine, type Candidate } from './auto-engine.ts';
import type { Engine } from './engine.ts';
import { LlamaServerEngine, type EngineDependencies } from './llama-server.ts';
import { readTokens } from './vllm-oracle.ts';
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
  const candidates: Candidate[] = [
    {
      engine: llamaServer,
      recognise: async (context) => {
        const answer = await options.client.ask({
          oracle: 'props',
          method: 'GET',
          path: '/props',
          credentials: context.credentials,
        });
        if (answer.known) {
          const isProps =
            typeof answer.json === 'object' &&
            answer.json !== null &&
            'default_generation_settings' in answer.json;
          return { known: true, recognised: isProps };
        }
        if (answer.status === 401 || answer.status === 403) return unknown('oracle-refused');
        // Other answers without our shape come from a server that is not this one.
        if (answer.status !== undefined && answer.status !== 503) return { known: true, recognised: false };
        return unknown(answer.reason);
      },
    },
    {
      engine: vllm,
      recognise: async (context) => {
        const answer = await options.client.ask({
          oracle: 'tokenize',
          method: 'POST',
          path: '/tokenize',
          body: '{"prompt":"x"}',
          credentials: context.credentials,
        });
        if (answer.known) return { known: true, recognised: readTokens(answer.json) !== undefined };
        if (answer.status === 401 || answer.status === 403) return unknown('oracle-refused');
        if (answer.status !== undefined && answer.status !== 503) return { known: true, recognised: false };
        return unknown(answer.reason);
      },
    },
  ];
  return new AutoEngine(candidates, (engine) => options.onRecognised?.(engine.kind));
}
