/** The engine that a configuration names, for commands that ask it themselves, without a proxy in between. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { parseUpstreamUrl } from '../config/addresses.ts';
import type { Config } from '../config/load.ts';
import { ownCredentials } from '../config/effective.ts';
import { connectEngine } from '../engines/connect.ts';
import type { AskContext, Engine } from '../engines/engine.ts';

export interface ConfiguredEngine {
  readonly engine: Engine;
  /** Carries the operator's key, if there is one, and ends with the command. */
  readonly context: AskContext;
}

/**
 * Connects to nothing yet: the first question does. Whoever opens it closes it.
 * @param cwd relative paths in the configuration start here
 * @throws Error if the configuration names no upstream
 */
export function openConfiguredEngine(config: Config, cwd: string, signal: AbortSignal): ConfiguredEngine {
  const { url = '', ca, insecureTls } = config.upstream;
  const address = parseUpstreamUrl(url);
  if (address === undefined) throw new Error('upstream.url is not set; commands check this first');
  const engine = connectEngine({
    kind: config.engine.kind,
    address,
    tls: {
      rejectUnauthorized: !insecureTls,
      ...(ca === undefined ? {} : { ca: readFileSync(resolve(cwd, ca), 'utf8') }),
    },
    limits: () => config.limits,
    segmentCacheBytes: config.limits.segmentCacheBytes,
    digestKey: randomBytes(32),
  });
  return { engine, context: { credentials: ownCredentials(config), signal } };
}
