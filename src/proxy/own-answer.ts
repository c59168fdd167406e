/** Writes answers that are ours, not the engine's: rejections and failures. Never used once a reply has begun. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddedHeaders } from '../exchange/inspection.ts';

export interface OwnAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly headers: AddedHeaders;
}

/** Without these a browser hides our answer from its page: the engine would have sent the like on its own. */
function corsHeaders(origin: string | undefined, added: AddedHeaders): AddedHeaders {
  if (origin === undefined) return [];
  const exposed = added.map(([name]) => name).join(', ');
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Allow-Credentials', 'true'],
    ...(exposed === '' ? [] : ([['Access-Control-Expose-Headers', exposed]] as const)),
  ];
}

/** Answers and ends. A client that has already gone is no error. */
export function sendOwnAnswer(request: IncomingMessage, response: ServerResponse, answer: OwnAnswer): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(answer.body);
  const headers: AddedHeaders = [
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', String(body.length)],
    ...corsHeaders(request.headers.origin, answer.headers),
    ...answer.headers,
  ];
  response.writeHead(answer.status, headers.flat());
  response.end(request.method === 'HEAD' ? undefined : body);
}
