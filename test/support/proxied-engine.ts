// The product in front of an engine, in this process, as `serve` builds it: a test talks to it and reads what it says.
import { Writable } from 'node:stream';

import { loadConfig, type LoadedConfig } from '../../src/config/load.ts';
import { createLogger } from '../../src/log/logger.ts';
import { startServer, type RunningServer } from '../../src/server.ts';

export interface ProxiedEngine {
  readonly url: string;
  readonly adminUrl: string;
  readonly server: RunningServer;
  /** Log lines so far, parsed. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** The value of one series, e.g. `tokenweir_requests_total{…}` by a part of its labels; 0 if it is not there. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  findings(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): Promise<void>;
}

/** @param settings environment variables without their prefix, e.g. `MODE: 'strict'`. */
export async function proxy(
  upstream: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ProxiedEngine> {
  const env = Object.fromEntries(
    Object.entries({
      UPSTREAM_URL: upstream,
      LISTEN: '127.0.0.1:0',
      ADMIN_LISTEN: '127.0.0.1:0',
      INSPECTION_BUDGET_MS: '20000',
      LOG_FOLD_SECONDS: '0',
      DRAIN_TIMEOUT_SECONDS: '5',
      ...settings,
    }).map(([name, value]) => [`TOKENWEIR_${name}`, value]),
  );
  const loaded = loadConfig({ flags: {}, env, cwd: '/nonexistent' });
  if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.errors));
  return open(loaded);
}

async function open(loaded: LoadedConfig): Promise<ProxiedEngine> {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString().trim().split('\n')) {
        lines.push(JSON.parse(line) as Readonly<Record<string, unknown>>);
      }
      done();
    },
  });
  const logger = createLogger({ level: loaded.config.log.level, destination });
  const server = await startServer({ loaded, logger, cwd: '/' });
  const { url, adminUrl } = server;
  return {
    url,
    adminUrl,
    server,
    lines,
    metric: async (name, labels = {}) => {
      const text = await (await fetch(`${adminUrl}/metrics`)).text();
      return text
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
    findings: async () => {
      const answer = (await (await fetch(`${adminUrl}/api/findings`)).json()) as {
        findings: Readonly<Record<string, unknown>>[];
      };
      return answer.findings;
    },
    close: () => server.drain(),
  };
}
