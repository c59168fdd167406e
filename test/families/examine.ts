// Serves one template by the real llama-server with the product in front of it, and asks both about it.
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import type { FindingRecord } from '../../src/exchange/finding-record.ts';
import { context, openAdapter } from '../engines/engine-under-test.ts';
import { send, settled } from '../support/exchanges.ts';
import { byteModelFile, type ByteModel } from '../support/gguf/byte-model.ts';
import { startLlamaServer } from '../support/llama-server/server.ts';
import { proxy, type ProxiedEngine } from '../support/proxied-engine.ts';

export interface Served {
  readonly model: ByteModel;
  readonly facts: ModelFacts;
  /** The rendered text of a chat as the engine tells it; undefined if the template refuses it. */
  render(body: object): Promise<string | undefined>;
  /** Ids as the raw route makes them, with what the engine adds. */
  tokenize(text: string): Promise<readonly number[]>;
  /** Sends a body through the product. */
  ask(path: string, body: object): Promise<Asked>;
}

export interface Asked {
  readonly status: number;
  /** Null if nothing was said of the body. */
  readonly inspection: string | null;
  /** Known after all bodies have been sent. */
  readonly findings: FindingRecord[];
}

/** @returns what `examine` returned; the findings of each body that it sent are complete by then. */
export async function served<Result>(
  model: ByteModel,
  examine: (served: Served) => Promise<Result>,
): Promise<Result> {
  const server = await startLlamaServer({
    model: await byteModelFile(model),
    args: ['--parallel', '1', '--ctx-size', '32768'],
  });
  const { engine } = openAdapter(server.url);
  const read = await engine.facts(undefined, context);
  await engine.close();
  // Only now: the server accepts few connections at a time, and who is not accepted waits for seconds.
  const proxied = await proxy(server.url, { LIMITS_FINDINGS_KEPT: '1000' });
  try {
    if (!read.known) throw new Error(`${model.name}: facts are not known: ${read.reason}`);
    const asked = new Map<string, Asked>();
    const result = await examine({
      model,
      facts: read.facts,
      render: async (body) => {
        const { status, json } = await send(`${server.url}/apply-template`, body);
        return status === 200 ? String(json['prompt']) : undefined;
      },
      tokenize: async (content) => {
        const body = { content, add_special: true, parse_special: true };
        return (await send(`${server.url}/tokenize`, body)).json['tokens'] as number[];
      },
      ask: async (path, body) => {
        const { status, headers, said } = await send(proxied.url + path, body);
        const one: Asked = { status, inspection: said.inspection, findings: [] };
        asked.set(headers.get('tokenweir-request-id') ?? '', one);
        return one;
      },
    });
    await distribute(proxied, asked);
    return result;
  } finally {
    await proxied.close();
    await server.stop();
  }
}

async function distribute(proxied: ProxiedEngine, asked: ReadonlyMap<string, Asked>): Promise<void> {
  await settled(proxied, asked.size);
  const records = (await proxied.findings()) as readonly unknown[] as readonly FindingRecord[];
  for (const record of records) asked.get(record.requestId)?.findings.push(record);
}
