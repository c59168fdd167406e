/**
 * Carries one request that is not looked at: out as it came, back as it came. Used by the pass-through routes; a failure
 * becomes a shaped answer without any address.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { passRoute } from '../exchange/request/route.ts';
import { Departure } from './client-departure.ts';
import { asteriskFailure, errorEnvelope, upstreamFailure, type Failure } from './error-envelope.ts';
import type { Forwarder } from './forward.ts';
import { sendOwnAnswer } from './own-answer.ts';
import { relayReply } from './relay-reply.ts';
import { hasBody } from './request-facts.ts';
import { originForm } from './request-target.ts';
import { Upload } from './upload.ts';
import type { UpstreamReply } from './upstream-reply.ts';

/** Methods that may share a connection: they change nothing and can be sent again (RFC 9110, section 9.2.1). */
const readOnlyMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

export class Untouched {
  readonly request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #departure: Departure;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.#response = response;
    this.#departure = new Departure(request, response);
  }

  /** @throws the connection's error, or `clientGone`. */
  send(forwarder: Forwarder): Promise<UpstreamReply> {
    const method = this.request.method ?? 'GET';
    const carriesBody = hasBody(this.request);
    const upstreamRequest = {
      method,
      target: originForm(this.request.url ?? '/'),
      headers: this.request.rawHeaders,
      body: carriesBody ? new Upload(this.request) : undefined,
      departure: this.#departure,
    };
    return !carriesBody && readOnlyMethods.has(method)
      ? forwarder.sendReadOnly(upstreamRequest)
      : forwarder.send(upstreamRequest);
  }

  /** Streams the reply; a reply that ends early has closed the client's connection, or becomes a failure. */
  async relay(reply: UpstreamReply): Promise<void> {
    try {
      await relayReply(reply, this.#response, this.#departure, { added: [] });
    } catch (error) {
      this.fail(upstreamFailure(error));
    }
  }

  /** Answers with the failure unless a reply has begun or the client has left. */
  fail(failure: Failure): void {
    if (this.#response.headersSent || this.#departure.left) {
      this.#response.destroy();
      return;
    }
    const { status } = failure;
    const body = errorEnvelope(passRoute.dialect, failure);
    sendOwnAnswer(this.request, this.#response, { status, body, headers: [] });
  }
}

/** Carries the request to its end without the framework. Never rejects. */
export async function carryUntouched(
  forwarder: Forwarder,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const untouched = new Untouched(request, response);
  // undici can't send the one target that is no path (`OPTIONS *`).
  if (request.url === '*') {
    untouched.fail(asteriskFailure);
    return;
  }
  try {
    await untouched.relay(await untouched.send(forwarder));
  } catch (error) {
    untouched.fail(upstreamFailure(error));
  }
}
