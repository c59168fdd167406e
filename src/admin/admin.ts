/**
 * The admin port: metrics, health, version, and behind the access rule the configuration, findings, sessions and the
 * inspector page. Read-only; never on the listener that clients use, whose paths belong to the engine.
 */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

import { contentTypes, negotiateForm, type ExpositionForm } from '../metrics/exposition.ts';
import type { SessionSummary } from '../sessions/store.ts';

import { challenge, judgeAccess, type AccessRule } from './access.ts';
import type { EventsRing } from './events-ring.ts';
import type { FindingsRing } from './findings-ring.ts';
import { createHostAllowList } from './host-allow-list.ts';
import { inspectorPage, inspectorPolicy } from './inspector-page.ts';
import { sendProblem } from './problem.ts';
import { readEventsQuery, readFindingsQuery, readSessionsQuery } from './query.ts';

export interface Readiness {
  readonly ready: boolean;
  /** In words; also why it is ready. */
  readonly reason: string;
}

export interface AdminParts {
  /** Where the listener will be, and the token that protects it. */
  readonly access: AccessRule;
  /** `admin.allowedHosts`. */
  readonly allowedHosts: readonly string[];
  readonly version: Readonly<Record<string, string>>;
  readonly scrape: (form: ExpositionForm) => Promise<string>;
  /** The engine answers and this process is not draining. */
  readonly ready: () => Readiness | Promise<Readiness>;
  /** The effective configuration with origins, secrets already redacted; any JSON. */
  readonly config: () => unknown;
  readonly findings: FindingsRing;
  readonly events: EventsRing;
  /** Remembered conversations, newest first, at most `limit`. */
  readonly sessions: (limit: number) => readonly SessionSummary[] | Promise<readonly SessionSummary[]>;
  /** Told what went wrong inside; the client only learns that something did. */
  readonly onError: (error: unknown) => void;
}

const paths = '/, /metrics, /healthz, /readyz, /version, /config, /api/findings, /api/events, /api/sessions';

/** Ready to listen; the caller opens it on `parts.access.listenHost` and closes it last when draining. */
export function createAdmin(parts: AdminParts): FastifyInstance {
  const admin = Fastify({ logger: false, forceCloseConnections: true });
  const hosts = createHostAllowList(parts.access.listenHost, parts.allowedHosts);

  admin.addHook('onRequest', async (request, reply) => {
    void reply.headers({
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    if (hosts.allows(request.headers.host)) return;
    const given = request.headers.host === undefined ? 'no Host header' : `Host "${request.headers.host}"`;
    await sendProblem(
      reply,
      'ADMIN_HOST_REFUSED',
      `The request has ${given}; allowed: localhost, loopback addresses, the listener's own host, and the names in ` +
        'admin.allowedHosts. Add the name there if you meant to use it.',
    );
  });
  admin.setNotFoundHandler((request, reply) => {
    return sendProblem(reply, 'ADMIN_NOT_FOUND', `${request.method} ${request.url}; there is GET ${paths}.`);
  });
  admin.setErrorHandler((error, _request, reply) => {
    parts.onError(error);
    return sendProblem(reply, 'ADMIN_INTERNAL', 'The log of this process says more.');
  });
  addOpenRoutes(admin, parts);
  addProtectedRoutes(admin, parts);
  return admin;
}

function addOpenRoutes(admin: FastifyInstance, parts: AdminParts): void {
  admin.get('/metrics', async (request, reply) => {
    const form = negotiateForm(request.headers.accept);
    const text = await parts.scrape(form);
    return reply.headers({ 'content-type': contentTypes[form], vary: 'accept' }).send(text);
  });
  admin.get('/healthz', () => ({ status: 'ok' }));
  admin.get('/readyz', async (_request, reply) => {
    const readiness = await parts.ready();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  admin.get('/version', () => parts.version);
}

function addProtectedRoutes(admin: FastifyInstance, parts: AdminParts): void {
  const protect = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    void reply.header('cache-control', 'no-store');
    const access = judgeAccess(parts.access, request.headers.authorization);
    if (access.granted) return;
    if (access.code !== 'ADMIN_TOKEN_UNSET') void reply.header('www-authenticate', challenge);
    await sendProblem(reply, access.code, access.detail);
  };
  const options = { onRequest: protect };

  admin.get('/config', options, () => parts.config());
  admin.get('/api/findings', options, (request, reply) => {
    const query = readFindingsQuery(request.query);
    if (!query.valid) return sendProblem(reply, 'ADMIN_BAD_QUERY', query.detail);
    return reply.send({ seen: parts.findings.seen, findings: parts.findings.list(query.value) });
  });
  admin.get('/api/events', options, (request, reply) => {
    const query = readEventsQuery(request.query);
    if (!query.valid) return sendProblem(reply, 'ADMIN_BAD_QUERY', query.detail);
    return reply.send({ seen: parts.events.seen, events: parts.events.list(query.value) });
  });
  admin.get('/api/sessions', options, async (request, reply) => {
    const query = readSessionsQuery(request.query);
    if (!query.valid) return sendProblem(reply, 'ADMIN_BAD_QUERY', query.detail);
    return reply.send({ sessions: await parts.sessions(query.value.limit) });
  });
  admin.get('/', options, (_request, reply) => {
    return reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': inspectorPolicy })
      .header('referrer-policy', 'no-referrer')
      .send(inspectorPage);
  });
}
