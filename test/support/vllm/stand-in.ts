// What stands in for a vLLM where none is installed: its helper endpoints over a family's real tokenizer and template. That
// it answers as the real one is tested against the recordings. It generates nothing.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { packageFile, type Family } from '../gguf/families.ts';
import { recording } from '../../vllm/recordings/recording.ts';

export interface StandIn {
  readonly url: string;
  /** Method and path of every request so far. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export interface StandInOptions {
  /** Paths that this server has not, or has switched off. */
  readonly without?: readonly string[];
  /** Names of adapters (LoRA) that it serves beside the model. */
  readonly adapters?: readonly string[];
  /** What it says of the vocabulary's entries of some ids; as they are if absent. */
  readonly entries?: (entries: readonly string[]) => readonly (string | null)[] | null;
  /** Answers before anything else does; undefined to leave it. */
  readonly intercept?: (path: string, body: string) => Answer | undefined | Promise<Answer | undefined>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Fields that the protocol does not know are dropped before the template sees them. */
const toolAsKnown = z.object({
  type: z.string(),
  function: z.object({
    name: z.string(),
    description: z.string().optional(),
    parameters: z.unknown().optional(),
  }),
});

const question = z.object({
  model: z.string().optional(),
  prompt: z.unknown().optional(),
  messages: z.array(z.record(z.string(), z.unknown())).optional(),
  tools: z.array(toolAsKnown).nullish(),
  add_special_tokens: z.boolean().optional(),
  return_token_strs: z.boolean().nullish(),
  add_generation_prompt: z.boolean().default(true),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  tokens: z.array(z.int()).default([]),
});

const contextTokens = 32_768;

/** @param family also the model's served name */
export async function standIn(family: Family, options: StandInOptions = {}): Promise<StandIn> {
  const asked: string[] = [];
  const answer = answersOf(family, options);
  const server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      const path = request.url ?? '';
      asked.push(`${request.method ?? ''} ${path}`);
      const off = options.without?.includes(path) === true;
      const { status, text } = off
        ? notFound
        : ((await options.intercept?.(path, body)) ?? answer(path, body));
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const notFound: Answer = { status: 404, text: '{"detail":"Not Found"}' };

const refused: Answer = recording('qwen3', 'tokenize-image');

function answersOf(
  family: Family,
  { adapters = [], entries = (all) => all }: StandInOptions,
): (path: string, body: string) => Answer {
  const { config, tokenizer, template } = modelOf(family);
  const recorded = (name: string): Answer => ({ status: 200, text: recording('qwen3', name).text });
  const render = (asking: z.infer<typeof question>): string =>
    template.render({
      messages: (asking.messages ?? []).map(withoutAttribution),
      add_generation_prompt: asking.add_generation_prompt,
      bos_token: config.bos_token ?? '',
      ...(asking.tools && { tools: asking.tools }),
      ...asking.chat_template_kwargs,
    });
  const rendered = (asking: z.infer<typeof question>): string | undefined => {
    try {
      return render(asking);
    } catch {
      // The template's own refusal (raise_exception).
      return undefined;
    }
  };
  const tokenize = (asking: z.infer<typeof question>): Answer => {
    if (asking.messages === undefined && typeof asking.prompt !== 'string') return refused;
    const isChat = asking.messages !== undefined;
    const content = isChat ? rendered(asking) : String(asking.prompt);
    if (content === undefined) return refused;
    const special = asking.add_special_tokens ?? !isChat;
    const { ids, tokens } = tokenizer.encode(content, { add_special_tokens: special });
    const named = asking.return_token_strs === true ? entries(tokens) : null;
    return ok({ count: ids.length, max_model_len: contextTokens, tokens: ids, token_strs: named });
  };
  return (path, body) => {
    // Python's parser reads over a byte order mark.
    const asking = question.parse(body === '' ? {} : JSON.parse(body.replace(/^\ufeff/, '')));
    const served = ['', family, ...adapters];
    if (asking.model !== undefined && !served.includes(asking.model)) {
      const message = `The model \`${asking.model}\` does not exist. Valid aliases: ${family}.`;
      return {
        status: 404,
        text: JSON.stringify({ error: { message, type: 'NotFoundError', param: 'model', code: 404 } }),
      };
    }
    switch (path) {
      case '/v1/models':
        return { status: 200, text: modelsOf(family, adapters) };
      case '/version':
      case '/metrics':
        return recorded(path.slice(1));
      case '/health':
        return { status: 200, text: '' };
      case '/tokenizer_info':
        return family === 'qwen3' ? recorded('tokenizer-info') : notFound;
      case '/tokenize':
        return tokenize(asking);
      case '/detokenize': {
        const prompt = tokenizer.decode(asking.tokens, {
          skip_special_tokens: false,
          clean_up_tokenization_spaces: false,
        });
        return ok({ prompt });
      }
      default:
        return notFound;
    }
  };
}

/** As recorded; an adapter's entry is as that of the model but for these members (seen on 0.32.0). */
function modelsOf(family: Family, adapters: readonly string[]): string {
  const list = JSON.parse(recording('qwen3', 'models').text.replaceAll('qwen3', family)) as {
    data: object[];
  };
  const asAdapter = (id: string) => ({
    ...list.data[0],
    id,
    parent: family,
    root: '/lora',
    max_model_len: null,
  });
  return JSON.stringify({ ...list, data: [...list.data, ...adapters.map(asAdapter)] });
}

interface Model {
  readonly config: { readonly chat_template: string; readonly bos_token?: string };
  readonly tokenizer: Tokenizer;
  readonly template: Template;
}

const models = new Map<Family, Model>();

/** Kept: a tokenizer takes seconds to load. */
function modelOf(family: Family): Model {
  const known = models.get(family);
  if (known !== undefined) return known;
  const config = parsed(family, 'tokenizer_config') as Model['config'];
  const tokenizer = new Tokenizer(parsed(family, 'tokenizer'), config);
  const model = { config, tokenizer, template: new Template(config.chat_template) };
  models.set(family, model);
  return model;
}

/** A system text loses its first line if that is a coding agent's attribution line. */
function withoutAttribution(message: Record<string, unknown>): Record<string, unknown> {
  const { role, content } = message;
  if (role !== 'system' || typeof content !== 'string') return message;
  return { ...message, content: content.replace(/^x-anthropic-billing-header[^\n]*\n?/, '') };
}

function ok(body: object): Answer {
  return { status: 200, text: JSON.stringify(body) };
}

function parsed(family: Family, name: 'tokenizer' | 'tokenizer_config'): object {
  return JSON.parse(readFileSync(packageFile(family, name), 'utf8')) as object;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
