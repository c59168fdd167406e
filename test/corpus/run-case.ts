// Runs the cases of the corpus: each through the product, in front of a real llama-server that cases of one model share.
import type { FindingRecord } from '../../src/exchange/finding-record.ts';
import { send, settled } from '../support/exchanges.ts';
import { gatedEngine } from '../support/gated-engine.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { modelFile } from '../support/gguf/families.ts';
import { startLlamaServer, type LlamaServer } from '../support/llama-server/server.ts';
import { proxy } from '../support/proxied-engine.ts';
import type { CorpusCase, CorpusFind } from './case.ts';

export interface CaseResult {
  readonly missed: readonly CorpusFind[];
  /** Above info and not expected. */
  readonly falseAlarms: readonly FindingRecord[];
}

const shortReply = { max_tokens: 4, n_predict: 4 };

/** Random weights answer, with few tokens: what is said of such an answer is no matter of a case about its prompt. */
const aboutReplies: readonly string[] = ['output-truncated', 'runaway-reply'];

export class CorpusEngines {
  readonly #servers = new Map<string, Promise<LlamaServer>>();

  serverOf({ engine, args: options = [], contextTokens = 32_768 }: CorpusCase): Promise<LlamaServer> {
    const key = JSON.stringify([engine, options, contextTokens]);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const file = typeof engine === 'string' ? modelFile(engine) : byteModelFile(engine);
    const args = ['--parallel', '1', '--ctx-size', String(contextTokens), ...options];
    const server = file.then((model) => startLlamaServer({ model, args }));
    this.#servers.set(key, server);
    return server;
  }

  async stop(): Promise<void> {
    for (const server of this.#servers.values())
      await server.then((one) => one.stop()).catch(() => undefined);
  }
}

export async function runCase(one: CorpusCase, engines: CorpusEngines): Promise<CaseResult> {
  const gated = await gatedEngine((await engines.serverOf(one)).url);
  const proxied = await proxy(gated.url);
  try {
    const ids: string[] = [];
    for (const { path, body, repeat, fakeReply } of one.requests) {
      if (fakeReply !== undefined) gated.answer(path, fakeReply);
      const { headers } = await send(proxied.url + path, bodyOf(body, repeat));
      ids.push(headers.get('tokenweir-request-id') ?? '');
    }
    await settled(proxied, ids.filter((id) => id !== '').length);
    const records = (await proxied.findings()) as readonly unknown[] as readonly FindingRecord[];
    return compare(one, ids, records);
  } finally {
    await proxied.close();
    await gated.close();
  }
}

function bodyOf(
  body: CorpusCase['requests'][number]['body'],
  repeat: { readonly text: string; readonly times: number } | undefined,
): object {
  const limited = 'max_tokens' in body || 'n_predict' in body || 'input' in body ? {} : shortReply;
  const text = JSON.stringify({ ...limited, ...body });
  const filled = repeat === undefined ? text : text.replaceAll('{{text}}', repeat.text.repeat(repeat.times));
  return JSON.parse(filled) as object;
}

function compare(one: CorpusCase, ids: readonly string[], records: readonly FindingRecord[]): CaseResult {
  const rest = new Set(records);
  const missed = one.finds.filter(({ request, ...members }) => {
    const found = [...rest].find(
      (record) =>
        record.requestId === ids[request] &&
        Object.entries(members).every(
          ([key, value]) => JSON.stringify(record[key as keyof FindingRecord]) === JSON.stringify(value),
        ),
    );
    if (found !== undefined) rest.delete(found);
    return found === undefined;
  });
  const isFaked = one.requests.some(({ fakeReply }) => fakeReply !== undefined);
  const falseAlarms = [...rest].filter(
    ({ severity, kind }) => severity !== 'info' && (isFaked || !aboutReplies.includes(kind)),
  );
  return { missed, falseAlarms };
}
