// A real admin listener on a port of its own, and requests to it with any Host header (fetch would not allow that).
import { request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

import { createAdmin, type AdminParts } from '../../src/admin/admin.ts';
import { EventsRing } from '../../src/admin/events-ring.ts';
import { FindingsRing } from '../../src/admin/findings-ring.ts';
import { createMetrics } from '../../src/metrics/meter.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Throws if the answer is no JSON object. */
  json(): Readonly<Record<string, unknown>>;
}

export type Ask = (path: string, headers?: Record<string, string>, method?: string) => Promise<Answer>;

export function partsWith(changes: Partial<AdminParts> = {}): AdminParts {
  return {
    access: { listenHost: '127.0.0.1' },
    allowedHosts: [],
    version: { version: '0.1.0' },
    scrape: createMetrics({ modelLabels: 5 }).scrape,
    ready: () => ({ ready: true, reason: 'the engine answers' }),
    config: () => [{ key: 'mode', value: 'observe', origin: 'default' }],
    findings: new FindingsRing(() => 10),
    events: new EventsRing(),
    sessions: () => [],
    onError: (error) => {
      throw error;
    },
    ...changes,
  };
}

/** Listens on 127.0.0.1, whatever host the parts speak of, until the test ends. */
export async function listening(t: TestContext, changes: Partial<AdminParts> = {}): Promise<Ask> {
  const admin = createAdmin(partsWith(changes));
  await admin.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => admin.close());
  const { port } = admin.server.address() as AddressInfo;
  return (path, headers = {}, method = 'GET') => ask(port, path, headers, method);
}

function ask(port: number, path: string, headers: Record<string, string>, method: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: () => JSON.parse(text) as Record<string, unknown>,
        });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
