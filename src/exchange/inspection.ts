/**
 * The seam between the transport (proxy/) and the inspection (pipeline): types only, nothing of HTTP libraries.
 * The transport knows no tokens, the inspection knows no sockets.
 */
import type { Reference } from './reference.ts';
import type { Outcome } from './reply/reply.ts';
import type { Mend } from './reply/reply-mender.ts';
import type { Route } from './request/route.ts';
import type { UnknownReason } from './token-read.ts';

/** A request on a generation route, as the transport received it. For reading only: the bytes go on from the transport. */
export interface IncomingRequest {
  /** The client's `x-request-id`, else made by the transport. */
  readonly id: string;
  readonly receivedAtMs: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The request target as sent. */
  readonly url: string;
  /** Lower-case names; repeated headers joined. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string;
  readonly route: Route;
  /** The whole body, or why it was not held: too large, no room left, compressed, or a route that is not inspected. */
  readonly body: Buffer | UnknownReason;
  /** Only of requests that are checked and not forwarded. */
  readonly reference?: Reference;
}

/** Headers that are added to the engine's own, or stand on our own answer. */
export type AddedHeaders = readonly (readonly [name: string, value: string])[];

/** A request that asks for more than the client did, and how its reply is made to look as if it had not. */
export interface Asking {
  /** Goes up in place of the client's body, or of the rewritten one. */
  readonly body: Buffer;
  /** For each part of the reply; the inspection sees the reply as it came. */
  readonly mend: Mend;
}

export type Verdict =
  | { readonly action: 'pass'; readonly responseHeaders: AddedHeaders; readonly asking?: Asking }
  | {
      readonly action: 'rewrite';
      readonly body: Buffer;
      readonly responseHeaders: AddedHeaders;
      readonly asking?: Asking;
    }
  | {
      readonly action: 'reject';
      readonly status: number;
      readonly body: string;
      readonly responseHeaders: AddedHeaders;
    };

/** Sees the engine's reply go by. Called by the transport in order; never throws, never blocks. */
export interface ReplySink {
  /** `contentType` and `contentEncoding` as sent by the engine, lower case, '' if absent. */
  headers(status: number, contentType: string, contentEncoding: string): void;
  chunk(bytes: Buffer): void;
  /** Once, always, however the exchange ended; `httpStatus` is absent if the client got no status at all. */
  end(outcome: Outcome, httpStatus: number | undefined): void;
}

export interface Inspection {
  /** What to do; resolves within the inspection's own deadlines, never rejects. */
  readonly verdict: Promise<Verdict>;
  readonly reply: ReplySink;
}

export interface Inspector {
  routeOf(method: string, path: string): Route;
  /** A client that leaves is told to the sink; its verdict is then no longer waited for. */
  inspect(incoming: IncomingRequest): Inspection;
}
