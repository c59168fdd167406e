/** Reads what the inspection is told about a request from node's message. Copies; never touches the bytes. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { IncomingRequest } from '../exchange/inspection.ts';
import type { Route } from '../exchange/request/route.ts';
import { pathOf } from './request-target.ts';

/** Longer or stranger ids are replaced: they come back in a header and stand in every log line. */
const usableRequestId = /^[\x21-\x7e]{1,128}$/;

function joined(headers: IncomingMessage['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** True if the message announces a body, empty ones of known length left out. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}

/** The request as the inspection sees it. */
export function describeRequest(
  request: IncomingMessage,
  route: Route,
  body: IncomingRequest['body'],
  receivedAtMs: number,
): IncomingRequest {
  const sentId = request.headers['x-request-id'];
  const url = request.url ?? '/';
  return {
    id: typeof sentId === 'string' && usableRequestId.test(sentId) ? sentId : randomUUID(),
    receivedAtMs,
    method: request.method ?? 'GET',
    path: pathOf(url),
    url,
    headers: joined(request.headers),
    remoteAddress: request.socket.remoteAddress ?? '',
    route,
    body,
  };
}
