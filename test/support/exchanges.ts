// How an end-to-end test talks through the proxy and reads what it says about it.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { ProxiedEngine } from './proxied-engine.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; throws for a stream. */
  readonly json: Readonly<Record<string, unknown>>;
  /** What the proxy's own headers say; null where one is absent. */
  readonly said: Said;
}

export interface Said {
  readonly action: string | null;
  readonly findings: string | null;
  readonly inspection: string | null;
}

export const clean: Said = { action: 'pass', findings: null, inspection: 'ok' };

export function saidIn(headers: Headers): Said {
  return {
    action: headers.get('tokenweir-action'),
    findings: headers.get('tokenweir-findings'),
    inspection: headers.get('tokenweir-inspection'),
  };
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Posts a body, JSON or bytes as they are, and reads the whole reply, of any status. */
export async function send(
  url: string,
  body: object | string | Buffer,
  options: SendOptions = {},
): Promise<Answer> {
  const asIs = typeof body === 'string' || Buffer.isBuffer(body);
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...options.headers },
    body: asIs ? new Uint8Array(Buffer.from(body as string)) : JSON.stringify(body),
    ...(options.signal && { signal: options.signal }),
  });
  const text = await reply.text();
  return {
    status: reply.status,
    headers: reply.headers,
    text,
    get json() {
      return JSON.parse(text) as Readonly<Record<string, unknown>>;
    },
    said: saidIn(reply.headers),
  };
}

/** A chat turn of two tokens. */
export function chat(
  { url }: { readonly url: string },
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return send(`${url}/v1/chat/completions`, { max_tokens: 2, ...body }, { headers });
}

/** A raw prompt, two tokens. */
export function complete(
  { url }: { readonly url: string },
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return send(`${url}/completion`, { n_predict: 2, ...body }, { headers });
}

/** Resolves once the condition holds; for what has no event to wait for, such as a metric. @throws after ten seconds */
export async function eventually(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`still not so after ten seconds: ${what}`);
    await turn();
  }
}

/** Waits until so many exchanges have been settled, however they ended: then all that they count is counted. */
export function settled(proxied: ProxiedEngine, exchanges: number): Promise<void> {
  return eventually(
    async () => (await proxied.metric('tokenweir_replies_total')) >= exchanges,
    `${exchanges} exchanges settled`,
  );
}

/** Waits until the model's facts are learnt: until then nothing can be said of a request. */
export function learnt({ lines }: ProxiedEngine): Promise<void> {
  return eventually(() => lines.some(({ event }) => event === 'facts-learnt'), 'facts learnt');
}

/** The findings about requests, oldest first: tests ask for two tokens, and that the answer is cut is said each time. */
export async function requestFindings(
  proxied: ProxiedEngine,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const findings = await proxied.findings();
  return findings.filter(({ kind }) => kind !== 'output-truncated').toReversed();
}

/** Asserts that the record has these members; others may stand beside them. */
export function assertHas(
  record: Readonly<Record<string, unknown>> | undefined,
  members: Readonly<Record<string, unknown>>,
): void {
  const those = Object.fromEntries(Object.keys(members).map((name) => [name, record?.[name]]));
  assert.deepEqual(those, members);
}
