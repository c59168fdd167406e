// The engines that a bench can measure, behind the same Qwen3 vocabulary: how each is started, and what one whole rendering
// and tokenization of a chat costs there.
import { modelFile } from '../test/support/gguf/families.ts';
import { startLlamaServer } from '../test/support/llama-server/server.ts';
import { modelFolder } from '../test/support/vllm/model-folder.ts';
import { startVllm } from '../test/support/vllm/server.ts';
import type { WatchedServer } from '../test/support/watched-process.ts';
import type { Message } from './conversation.ts';

export interface BenchedEngine {
  readonly server: WatchedServer;
  /** What an inspection without memory would ask: the prompt rendered and tokenized whole. */
  readonly whole: (messages: readonly Message[]) => Promise<void>;
}

export const benchedEngines = {
  'llama-server': async (): Promise<BenchedEngine> => {
    const server = await startLlamaServer({ model: await modelFile('qwen3'), args: ['--parallel', '1'] });
    return {
      server,
      whole: async (messages) => {
        const { prompt } = (await ask(`${server.url}/apply-template`, { messages })) as { prompt: string };
        await ask(`${server.url}/tokenize`, { content: prompt, add_special: true, parse_special: true });
      },
    };
  },
  vllm: async (): Promise<BenchedEngine> => {
    const server = await startVllm({
      model: await modelFolder('qwen3'),
      args: ['--max-model-len', '65536'],
      env: { VLLM_ALLOW_LONG_MAX_MODEL_LEN: '1' },
    });
    return {
      server,
      whole: async (messages) => {
        // It renders and tokenizes in one call.
        await ask(`${server.url}/tokenize`, { messages });
      },
    };
  },
} as const;

export function isBenched(name: string): name is keyof typeof benchedEngines {
  return Object.hasOwn(benchedEngines, name);
}

async function ask(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${(await reply.text()).slice(0, 300)}`);
  return reply.json();
}
