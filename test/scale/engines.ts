// The engines that generated conversations are sent to, and what differs between them there.
import { postJson } from '../support/post-json.ts';
import { startLlamaServer } from '../support/llama-server/server.ts';
import { modelFolder } from '../support/vllm/model-folder.ts';
import { startVllm } from '../support/vllm/server.ts';
import { chatPath, rawPath, type EngineQuestions, type PlannedRequest } from './requests.ts';
import { families, type ScaleFamily } from './families.ts';

export interface ScaleServer {
  readonly url: string;
  readonly questions: EngineQuestions;
  stop(): Promise<void>;
}

export interface ScaleEngine {
  /** Those that it can serve. */
  readonly families: readonly ScaleFamily[];
  /** @param templateFile in the place of the model's own template */
  readonly start: (family: ScaleFamily, templateFile?: string) => Promise<ScaleServer>;
  /** The same request in this engine's words. */
  readonly adapt: (request: PlannedRequest, family: ScaleFamily) => PlannedRequest;
  /** Kinds, or `kind;cause`, whose injected fault is none here. */
  readonly faultless: ReadonlySet<string>;
}

const llamaServer: ScaleEngine = {
  families,
  start: async (family, templateFile) => {
    const args = templateFile === undefined ? [] : ['--chat-template-file', templateFile];
    const server = await startLlamaServer({ model: await family.file(), args });
    const ask = async <Answer>(path: string, body: object): Promise<Answer> =>
      (await postJson<Answer>(server.url + path, body)).body;
    return {
      url: server.url,
      questions: {
        render: async (body) => (await ask<{ prompt: string }>('/apply-template', body)).prompt,
        tokenize: async (content) =>
          (await ask<{ tokens: number[] }>('/tokenize', { content, add_special: true, parse_special: true }))
            .tokens,
      },
      stop: () => server.stop(),
    };
  },
  adapt: (request) => request,
  // It reads no salt (docs/detectors/prefix-break.md).
  faultless: new Set(['prefix-break;salt-changed']),
};

const vllm: ScaleEngine = {
  families: families.filter(({ folder }) => folder !== undefined),
  start: async (family, templateFile) => {
    if (family.folder === undefined) throw new Error(`no model folder of ${family.name}`);
    const server = await startVllm({
      model: await modelFolder(family.folder),
      args: [
        ...['--enable-auto-tool-choice', '--tool-call-parser', 'hermes'],
        ...(templateFile === undefined ? [] : ['--chat-template', templateFile]),
      ],
    });
    const ask = async <Answer>(path: string, body: object): Promise<Answer> =>
      (await postJson<Answer>(server.url + path, body)).body;
    const tokenize = async (body: object): Promise<number[]> =>
      (await ask<{ tokens: number[] }>('/tokenize', body)).tokens;
    return {
      url: server.url,
      questions: {
        render: async (body) => {
          const { prompt } = await ask<{ prompt: string }>('/detokenize', { tokens: await tokenize(body) });
          return family.bos !== undefined && prompt.startsWith(family.bos)
            ? prompt.slice(family.bos.length)
            : prompt;
        },
        tokenize: (prompt) => tokenize({ prompt, add_special_tokens: true }),
      },
      stop: () => server.stop(),
    };
  },
  adapt: ({ path, body }, { name, bos }) => {
    const { n_predict: most, tools, ...others } = body;
    // An empty list of tools is refused.
    const rest = Array.isArray(tools) && tools.length > 0 ? { ...others, tools } : others;
    if (path === rawPath) {
      const limit = most === undefined ? {} : { max_tokens: most };
      return { path: '/v1/completions', body: { model: name, ...rest, ...limit } };
    }
    // It puts a second BOS in front of each of these, which is told, and rightly so (docs/engines/vllm.md).
    if (path === '/v1/responses' && bos !== undefined) {
      return { path: chatPath, body: { model: name, messages: body['input'], max_tokens: 1 } };
    }
    return { path, body: { model: name, ...rest } };
  },
  // It leaves the attribution line out of the prompt (docs/engines/vllm.md).
  faultless: new Set(['prefix-break;attribution-line']),
};

export const engines = { 'llama-server': llamaServer, vllm } as const;
