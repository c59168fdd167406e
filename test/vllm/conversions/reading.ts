// How the adapter's reading of one body is asked for, of a real engine, of a recording one, or of one that is played back.
import assert from 'node:assert/strict';
import type { Engine } from '../../../src/engines/engine.ts';
import { readRequest } from '../../../src/exchange/request/request-reader.ts';
import { ask, typed } from '../../engines/engine-under-test.ts';

interface Asked {
  readonly kind: 'chat' | 'messages' | 'responses';
  /** As it is sent. */
  readonly body: string;
}

const paths = { chat: 'chat/completions', messages: 'messages', responses: 'responses' } as const;

/** Undefined if the body is not readable, or its ids are unknown. */
export async function idsByAdapter(
  engine: Engine,
  { kind, body }: Asked,
): Promise<readonly number[] | undefined> {
  if (!readRequest(Buffer.from(body), kind).readable) return undefined;
  const read = await ask(engine, typed(kind, body));
  assert.ok(!('reason' in read));
  const [prompt] = read.prompts;
  return prompt?.known === true ? [...prompt.ids] : undefined;
}

/** By the engine's own rendering; undefined if it refuses the body. */
export async function idsByRendering(url: string, { kind, body }: Asked): Promise<number[] | undefined> {
  const reply = await post(`${url}/v1/${paths[kind]}/render`, body);
  return reply.status === 200 ? (reply.json as { token_ids: number[] }).token_ids : undefined;
}

export async function post(url: string, body: string): Promise<{ status: number; json: unknown }> {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url, { method: 'POST', headers, body });
  return { status: reply.status, json: await reply.json() };
}
