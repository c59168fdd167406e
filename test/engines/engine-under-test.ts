// Opens the real adapter on a real server, and asks it as the pipeline does.
import { LlamaServerEngine } from '../../src/engines/llama-server.ts';
import type { AskContext, Engine, EngineDependencies } from '../../src/engines/engine.ts';
import type { EngineEvent } from '../../src/exchange/engine-event.ts';
import { OracleClient } from '../../src/engines/oracle/oracle-client.ts';
import { readRequest, type RequestKind } from '../../src/exchange/request/request-reader.ts';
import type { GenerationRequest } from '../../src/exchange/request/request.ts';
import type { HeadRead, TokenRead } from '../../src/exchange/token-read.ts';

export const context: AskContext = { credentials: {}, signal: new AbortController().signal };

export function openAdapter(
  url: string,
  options: { timeoutMs?: number; adapter?: new (dependencies: EngineDependencies) => Engine } = {},
) {
  const counted = { cache: 0, engine: 0, check: 0 };
  const answers: string[] = [];
  const events: EngineEvent[] = [];
  const client = new OracleClient({
    origin: url,
    basePath: '',
    tls: { rejectUnauthorized: true },
    concurrency: () => 4,
    timeoutMs: () => options.timeoutMs ?? 10_000,
    onAnswer: (oracle, result) => answers.push(`${oracle} ${result}`),
  });
  const Adapter = options.adapter ?? LlamaServerEngine;
  const engine: Engine = new Adapter({
    client,
    segmentCacheBytes: 64 * 1024 * 1024,
    digestKey: new Uint8Array(32),
    onEvent: (event) => events.push(event),
    onTokenized: (source, tokens) => {
      counted[source] += tokens;
    },
  });
  return { engine, counted, answers, events };
}

export function typed(kind: RequestKind, body: object | string): GenerationRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const reading = readRequest(Buffer.from(text), kind);
  if (!reading.readable) throw new Error(`the test's own body is unreadable: ${reading.reason}`);
  return reading.request;
}

export async function ask(
  engine: Engine,
  request: GenerationRequest,
): Promise<{ heads: readonly HeadRead[]; prompts: readonly TokenRead[] } | { reason: string }> {
  const facts = await engine.facts(request.model, context);
  if (!facts.known) return { reason: facts.reason };
  const reading = engine.read(request, facts.facts, context);
  return { heads: await reading.heads(), prompts: await reading.prompts() };
}

/** The ids of the only prompt; throws with the reason where they are unknown. */
export async function idsOf(engine: Engine, request: GenerationRequest): Promise<number[]> {
  const read = await ask(engine, request);
  if ('reason' in read) throw new Error(read.reason);
  const [prompt] = read.prompts;
  if (prompt?.known !== true) throw new Error(prompt?.reason ?? 'no prompt');
  return [...prompt.ids];
}
