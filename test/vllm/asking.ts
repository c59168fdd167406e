// Asks a real vLLM, and gives the parts of its replies that tests look at.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { postJson } from '../support/post-json.ts';

interface ChatReply {
  prompt_token_ids: number[];
  usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } | null };
}
interface CompletionReply {
  choices: { prompt_token_ids: number[] }[];
  usage: ChatReply['usage'];
}

const limits = { max_tokens: 2, temperature: 0, return_token_ids: true };

/** A chat of two tokens, with the ids that the model was given. */
export async function chat(url: string, body: object): Promise<ChatReply> {
  const reply = await postJson<ChatReply>(`${url}/v1/chat/completions`, { ...limits, ...body });
  assert.equal(reply.status, 200);
  return reply.body;
}

/** A completion of two tokens, with the ids that the model was given. */
export async function completion(url: string, body: object): Promise<CompletionReply> {
  const reply = await postJson<CompletionReply>(`${url}/v1/completions`, { ...limits, ...body });
  assert.equal(reply.status, 200);
  return reply.body;
}

/** The ids that the model was given for a completion, by the reply itself. */
export async function idsOf(url: string, body: object): Promise<number[]> {
  return (await completion(url, body)).choices[0]!.prompt_token_ids;
}

/** The ids by `/tokenize`, for a prompt or for messages. */
export async function tokenize(url: string, body: object): Promise<number[]> {
  return (await postJson<{ tokens: number[] }>(`${url}/tokenize`, body)).body.tokens;
}

/** The value of a metric with one series. */
export async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1];
  assert.ok(value !== undefined, `no metric ${name}`);
  return Number(value);
}

/** Asks again and again until `happened`; the test's own time-out ends it. */
export async function until(happened: () => Promise<boolean>): Promise<void> {
  while (!(await happened())) await sleep(50);
}
