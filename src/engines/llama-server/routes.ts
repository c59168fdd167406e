/** llama-server's generation routes (engine-protocols, section 2.1). Everything else generates nothing and passes. */
import { passRoute, type Route } from '../../exchange/request/route.ts';

const chat: Route = { kind: 'chat', inspected: true, dialect: 'openai' };
const native: Route = { kind: 'completion', inspected: true, dialect: 'native' };
const openAiText: Route = { kind: 'completion', inspected: true, dialect: 'openai' };
const messages: Route = { kind: 'messages', inspected: true, dialect: 'anthropic' };
const responses: Route = { kind: 'responses', inspected: true, dialect: 'responses' };
const infill: Route = { kind: 'infill', inspected: false, dialect: 'native' };

const generationRoutes: ReadonlyMap<string, Route> = new Map([
  ['/completion', native],
  ['/completions', native],
  ['/v1/completions', openAiText],
  ['/chat/completions', chat],
  ['/v1/chat/completions', chat],
  ['/v1/messages', messages],
  ['/responses', responses],
  ['/v1/responses', responses],
  ['/infill', infill],
]);

export function llamaRouteOf(method: string, path: string): Route {
  return method === 'POST' ? (generationRoutes.get(path) ?? passRoute) : passRoute;
}
