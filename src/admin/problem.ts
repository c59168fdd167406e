/** Errors of the admin port as RFC 9457 problem details. Says what was given and what to do; never echoes a token. */
import type { FastifyReply } from 'fastify';

/** Part of the public contract, like the status beside it. */
const problems = {
  ADMIN_HOST_REFUSED: { status: 421, title: 'Host is not served here' },
  ADMIN_TOKEN_UNSET: { status: 403, title: 'No admin token is configured' },
  ADMIN_TOKEN_MISSING: { status: 401, title: 'A token is needed' },
  ADMIN_TOKEN_WRONG: { status: 401, title: 'The token is wrong' },
  ADMIN_BAD_QUERY: { status: 400, title: 'The query is not understood' },
  ADMIN_NOT_FOUND: { status: 404, title: 'Nothing is here' },
  ADMIN_INTERNAL: { status: 500, title: 'Internal error' },
} as const;
export type ProblemCode = keyof typeof problems;

export function sendProblem(reply: FastifyReply, code: ProblemCode, detail: string): FastifyReply {
  const { status, title } = problems[code];
  // A buffer, because Fastify would serialise an object under this content type as text.
  const body = Buffer.from(JSON.stringify({ title, status, code, detail }));
  return reply.code(status).header('content-type', 'application/problem+json').send(body);
}
