/** vLLM's generation routes (engine-protocols, section 3.1). Everything else generates nothing and passes. */
import { passRoute, type Route } from '../../exchange/request/route.ts';

const chat: Route = { kind: 'chat', inspected: true, dialect: 'openai' };
const text: Route = { kind: 'completion', inspected: true, dialect: 'openai' };
const messages: Route = { kind: 'messages', inspected: true, dialect: 'anthropic' };
const responses: Route = { kind: 'responses', inspected: true, dialect: 'responses' };
const unreadText: Route = { kind: 'completion', inspected: false, dialect: 'openai' };
const unreadChat: Route = { kind: 'chat', inspected: false, dialect: 'openai' };

const generationRoutes: ReadonlyMap<string, Route> = new Map([
  ['/v1/chat/completions', chat],
  ['/v1/completions', text],
  ['/v1/messages', messages],
  ['/v1/responses', responses],
  ['/v1/chat/completions/batch', unreadChat],
  ['/inference/v1/generate', unreadText],
  // Its body's shape says which of the others it is.
  ['/invocations', unreadText],
]);

export function vllmRouteOf(method: string, path: string): Route {
  return method === 'POST' ? (generationRoutes.get(path) ?? passRoute) : passRoute;
}
