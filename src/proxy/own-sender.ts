/**
 * Tells which pass-through requests the framework would refuse or change, so that they go by our own sender.
 * Errs on the side of our sender: it carries everything that node's parser lets in.
 */
import type { IncomingMessage } from 'node:http';
import { hasBody } from './request-facts.ts';

/** Paths without escapes or doubled slashes at the start: what router, plugin and URL parser leave as they are. */
const plainPath = /^\/(?!\/)[\w\-.~!$&'()*+,;=:@/]*$/;
const dotSegment = /\/\.{1,2}(\/|$)/;
const plainMediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(; ?[\w-]+=[\w.+-]+)*$/;

/** Methods whose bodies the framework reads as sent; of the others it drops them. */
const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

/** True if @fastify/http-proxy would not carry the request unchanged. */
export function needsOwnSender(request: IncomingMessage): boolean {
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (!plainPath.test(path) || dotSegment.test(path)) return true;
  if (!hasBody(request)) return false;
  return (
    !bodyMethods.has(request.method ?? '') || !plainMediaType.test(request.headers['content-type'] ?? '')
  );
}
