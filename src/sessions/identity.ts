/**
 * Whose request it is and which conversation the client says it belongs to. Credentials go through a keyed hash and are
 * kept nowhere.
 */
import { createHash } from 'node:crypto';
import type { ClientIdentity } from '../exchange/exchange.ts';
import { isObject, parseJson } from '../exchange/json/body-reader.ts';
import type { ChatRequest, GenerationRequest } from '../exchange/request/request.ts';
import type { SessionKeySource } from '../exchange/session-match.ts';
import { keyedDigest } from '../tokens/digest.ts';

/** Request headers as Node gives them: names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How an operator recognises a client; of several conditions all must hold, and a rule without any holds never. */
export interface ClientRule {
  /** A header that the client sends, with this exact value if one is given. `name` in any case. */
  readonly header?: { readonly name: string; readonly value?: string };
  /** SHA-256 of the client's key, 64 hex digits: the bearer token or the `x-api-key`, without any prefix. */
  readonly keyHash?: string;
}

export interface IdentityOptions {
  /** Random per process, so that a pseudonym can't be compared with one of another process. */
  readonly digestKey: Uint8Array;
  /** By the operator's name; the first rule that holds decides. */
  readonly clients: Readonly<Record<string, ClientRule>>;
}

/** @param remoteAddress the peer's address without its port; stands in where the client sent no credentials. */
export function identifyClient(
  headers: RequestHeaders,
  remoteAddress: string,
  { digestKey, clients }: IdentityOptions,
): ClientIdentity {
  const key = clientKey(headers);
  const pseudonym =
    key === undefined
      ? keyedDigest(digestKey, 'address', remoteAddress)
      : keyedDigest(digestKey, 'credentials', key);
  const named = Object.entries(clients).find(([, rule]) => holds(rule, headers, key));
  return named === undefined ? { pseudonym } : { pseudonym, name: named[0] };
}

function holds(rule: ClientRule, headers: RequestHeaders, key: string | undefined): boolean {
  if (rule.header === undefined && rule.keyHash === undefined) return false;
  if (rule.header !== undefined) {
    const given = header(headers, rule.header.name.toLowerCase());
    if (given === undefined) return false;
    if (rule.header.value !== undefined && rule.header.value !== given) return false;
  }
  if (rule.keyHash === undefined) return true;
  return key !== undefined && sha256(key) === rule.keyHash.toLowerCase();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The client's key without its scheme; `authorization` goes before `x-api-key`. Undefined if it sent neither. */
function clientKey(headers: RequestHeaders): string | undefined {
  const authorization = header(headers, 'authorization');
  if (authorization !== undefined) return authorization.replace(/^bearer +/i, '');
  return header(headers, 'x-api-key');
}

export interface SessionKey {
  readonly source: SessionKeySource;
  readonly value: string;
}

/** Names of the header by which a client says which conversation a request belongs to; the first one sent counts. */
const sessionHeaders = ['tokenweir-session', 'x-tokenweir-session'] as const;

/** A longer key is cut: a session key is a name, and it is kept as long as its session. */
export const maxSessionKeyLength = 256;

/** Undefined if the client names no session: its conversation is then found by its content. */
export function readSessionKey(
  headers: RequestHeaders,
  request: GenerationRequest | undefined,
): SessionKey | undefined {
  for (const name of sessionHeaders) {
    const value = bounded(header(headers, name));
    if (value !== undefined) return { source: 'header', value };
  }
  const agents =
    request?.kind === 'chat' && request.dialect === 'anthropic' ? agentKey(headers, request) : undefined;
  if (agents !== undefined) return agents;
  const field = request?.json['prompt_cache_key'];
  const value = bounded(typeof field === 'string' ? field : undefined);
  return value === undefined ? undefined : { source: 'prompt-cache-key', value };
}

/** The session that Claude Code names; it speaks this dialect only, and its names mean nothing on other routes. */
function agentKey(headers: RequestHeaders, { json }: ChatRequest): SessionKey | undefined {
  const named = bounded(header(headers, 'x-claude-code-session-id'));
  if (named !== undefined) return { source: 'claude-code-header', value: named };
  const metadata = json['metadata'];
  const user = isObject(metadata) ? metadata['user_id'] : undefined;
  if (typeof user !== 'string') return undefined;
  // Newer versions write JSON with a session_id, older ones user_<hash>_account_<id>_session_<id>.
  const written = user.length <= maxUserIdLength ? parseJson(user) : undefined;
  const session = isObject(written)
    ? written['session_id']
    : /^user_.*_session_([0-9a-f-]{36})$/.exec(user.slice(0, maxUserIdLength))?.[1];
  const value = bounded(typeof session === 'string' ? session : undefined);
  return value === undefined ? undefined : { source: 'claude-code-metadata', value };
}

const maxUserIdLength = 1024;

function bounded(value: string | undefined): string | undefined {
  const trimmed = value?.trim().slice(0, maxSessionKeyLength);
  return trimmed === '' ? undefined : trimmed;
}

/** The header's first non-empty value. */
function header(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  const first = typeof value === 'object' ? value[0] : value;
  return first === '' ? undefined : first;
}
