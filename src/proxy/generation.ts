/**
 * Carries one exchange on a generation route: hold, show to the inspector, do what it says, stream the reply past its
 * sink. Knows nothing of tokens. Whatever happens, the sink's `end` is called once and nothing is thrown.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Inspection, Inspector, IncomingRequest, Verdict } from '../exchange/inspection.ts';
import type { Outcome } from '../exchange/reply/reply.ts';
import { createReplyMender } from '../exchange/reply/reply-mender.ts';
import type { Route } from '../exchange/request/route.ts';
import { Departure } from './client-departure.ts';
import { errorEnvelope, internalFailure, upstreamFailure, type Failure } from './error-envelope.ts';
import type { Forwarder } from './forward.ts';
import {
  holdBody,
  streamBody,
  UploadAbandoned,
  type HeldBytes,
  type HoldLimits,
  type Holding,
} from './hold-body.ts';
import type { TransportMeter } from './meter.ts';
import { sendOwnAnswer } from './own-answer.ts';
import { firstValue, withValue } from './raw-headers.ts';
import { relayReply } from './relay-reply.ts';
import { describeRequest } from './request-facts.ts';
import { originForm } from './request-target.ts';
import type { UpstreamReply } from './upstream-reply.ts';

export interface GenerationParts {
  readonly forwarder: Forwarder;
  readonly inspector: Inspector;
  readonly heldBytes: HeldBytes;
  /** Asked once per request: a reload reaches new requests only. */
  readonly limits: () => HoldLimits;
  readonly meter: TransportMeter;
  readonly log: FastifyBaseLogger;
}

interface Ending {
  readonly outcome: Outcome;
  /** Absent if the client got no status. */
  readonly status?: number;
}

/** One exchange under way; what every step needs. */
interface Carriage {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly incoming: IncomingRequest;
  readonly holding: Holding;
  readonly departure: Departure;
  readonly startedAt: number;
}

/** The verdict, or undefined once the client has left. */
function untilLeft(verdict: Promise<Verdict>, departure: Departure): Promise<Verdict | undefined> {
  return new Promise((resolve, reject) => {
    const release = departure.onLeft(() => {
      resolve(undefined);
    });
    verdict.then(resolve, reject).finally(release);
  });
}

/** Carries the exchange to its end. Never rejects. */
export async function carryGeneration(
  parts: GenerationParts,
  request: IncomingMessage,
  response: ServerResponse,
  route: Route,
): Promise<void> {
  const receivedAtMs = Date.now();
  const startedAt = performance.now();
  const departure = new Departure(request, response);
  const account = parts.heldBytes.account();
  let inspection: Inspection | undefined;
  let ending: Ending = { outcome: 'proxy-failed', status: internalFailure.status };
  try {
    const holding = route.inspected
      ? await holdBody(request, parts.limits(), account)
      : streamBody(request, 'route-not-inspected');
    const body = holding.held ? holding.body : holding.reason;
    const incoming = describeRequest(request, route, body, receivedAtMs);
    inspection = parts.inspector.inspect(incoming);
    const carriage = { request, response, incoming, holding, departure, startedAt };
    ending = await settle(parts, carriage, inspection);
    if (!holding.held) holding.rest.destroy();
  } catch (error) {
    if (error instanceof UploadAbandoned) return;
    parts.log.error({ err: error }, 'the proxy failed on a generation request');
    fail(request, response, route, internalFailure, []);
  } finally {
    account.release();
    // Nobody waits for what is left to do, and engines may still be at work for others that left in this turn.
    if (ending.outcome === 'client-aborted') await nextTurn();
    inspection?.reply.end(ending.outcome, ending.status);
  }
}

async function settle(parts: GenerationParts, carriage: Carriage, inspection: Inspection): Promise<Ending> {
  const { request, response, incoming, holding, departure } = carriage;
  const verdict = await untilLeft(inspection.verdict, departure);
  if (!verdict) return { outcome: 'client-aborted' };
  if (verdict.action === 'reject') {
    const { status, body, responseHeaders } = verdict;
    sendOwnAnswer(request, response, { status, body, headers: responseHeaders });
    return { outcome: 'rejected', status };
  }
  let reply: UpstreamReply;
  try {
    reply = await parts.forwarder.send({
      method: incoming.method,
      target: originForm(incoming.url),
      // What is compressed can't be mended.
      headers: verdict.asking
        ? withValue(request.rawHeaders, 'accept-encoding', 'identity')
        : request.rawHeaders,
      body: bodyToSend(verdict, holding),
      departure,
    });
  } catch (error) {
    if (departure.left) return { outcome: 'client-aborted' };
    return failUpstream(parts, carriage, error, verdict);
  }
  return stream(parts, carriage, inspection, verdict, reply);
}

function bodyToSend(
  verdict: Exclude<Verdict, { readonly action: 'reject' }>,
  holding: Holding,
): Buffer | Readable {
  if (verdict.asking !== undefined) return verdict.asking.body;
  if (verdict.action === 'rewrite') return verdict.body;
  return holding.held ? holding.body : holding.rest;
}

async function stream(
  parts: GenerationParts,
  carriage: Carriage,
  inspection: Inspection,
  verdict: Verdict,
  reply: UpstreamReply,
): Promise<Ending> {
  const { response, incoming, departure, startedAt } = carriage;
  const contentType = firstValue(reply.headers, 'content-type').toLowerCase();
  const contentEncoding = firstValue(reply.headers, 'content-encoding').toLowerCase();
  inspection.reply.headers(reply.status, contentType, contentEncoding);
  let started = false;
  try {
    const isReadable = contentEncoding === '' || contentEncoding === 'identity';
    const mend =
      verdict.action !== 'reject' && reply.status < 400 && isReadable ? verdict.asking?.mend : undefined;
    await relayReply(reply, response, departure, {
      added: verdict.responseHeaders,
      ...(mend && { mender: createReplyMender(contentType, mend) }),
      tap: (chunk) => {
        if (!started) {
          parts.meter.timeToFirstByte(incoming.route.kind, (performance.now() - startedAt) / 1000);
        }
        started = true;
        inspection.reply.chunk(chunk);
      },
    });
    return { outcome: 'completed', status: reply.status };
  } catch (error) {
    if (departure.left) return { outcome: 'client-aborted', status: reply.status };
    if (!response.headersSent) return failUpstream(parts, carriage, error, verdict);
    return { outcome: 'upstream-failed', status: reply.status };
  }
}

function failUpstream(parts: GenerationParts, carriage: Carriage, error: unknown, verdict: Verdict): Ending {
  const { request, response, incoming } = carriage;
  const failure = upstreamFailure(error);
  const { type, code } = failure;
  parts.log.warn({ requestId: incoming.id, failure: type, code }, 'no reply from the engine');
  fail(request, response, incoming.route, failure, verdict.responseHeaders);
  return { outcome: 'upstream-failed', status: failure.status };
}

function fail(
  request: IncomingMessage,
  response: ServerResponse,
  route: Route,
  failure: Failure,
  headers: Verdict['responseHeaders'],
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendOwnAnswer(request, response, {
    status: failure.status,
    body: errorEnvelope(route.dialect, failure),
    headers,
  });
}
