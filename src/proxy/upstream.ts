/** Where the engine listens: `upstream.url` read once, with the connector that both senders share. Opens nothing itself. */
import { readFileSync } from 'node:fs';
import { buildConnector } from 'undici';

export interface UpstreamOptions {
  /** `http://host:port/base`, `https://…`, `unix:/path/to.sock`, or `unix:/path/to.sock:/base`. */
  readonly url: string;
  /** Path of a PEM file that is trusted instead of the system's list. */
  readonly ca?: string;
  /** Accept any certificate. @defaultValue false */
  readonly insecureTls?: boolean;
  /** Sent as a bearer token with requests that carry no credentials. @defaultValue nothing is added */
  readonly injectedKey?: string;
  /** @defaultValue 10000 */
  readonly connectTimeoutMs?: number;
}

export interface Upstream {
  /** Scheme and authority; `http://localhost` for a unix socket. */
  readonly origin: string;
  /** Path in front of every target, without a slash at its end; '' if none. */
  readonly basePath: string;
  /** '' unless the engine listens on a unix socket. */
  readonly socketPath: string;
  readonly tls: { readonly ca?: string; readonly rejectUnauthorized: boolean };
  readonly connect: buildConnector.connector;
  readonly injectedKey?: string;
}

/** Opening a connection may take this long before the client gets a 504. */
const defaultConnectTimeoutMs = 10_000;

function locate(url: string): Pick<Upstream, 'origin' | 'basePath' | 'socketPath'> {
  const withoutEnd = url.replace(/\/+$/, '');
  if (url.startsWith('unix:')) {
    const [socketPath = '', basePath = ''] = withoutEnd.slice('unix:'.length).split(':');
    if (!socketPath.startsWith('/')) {
      throw new TypeError(
        `upstream.url is "${url}"; a unix socket is given as unix:/path/to.sock or unix:/path/to.sock:/base`,
      );
    }
    return { origin: 'http://localhost', basePath, socketPath };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new TypeError(
      `upstream.url is "${url}"; give http://host:port, https://host:port or unix:/path/to.sock`,
    );
  }
  if (parsed.username !== '' || parsed.search !== '' || parsed.hash !== '') {
    throw new TypeError(
      `upstream.url must not carry credentials, a query or a fragment (host ${parsed.host}); ` +
        'use upstream.apiKey for a key',
    );
  }
  return { origin: parsed.origin, basePath: parsed.pathname.replace(/\/+$/, ''), socketPath: '' };
}

/**
 * Reads the upstream's address and certificate file.
 * @throws TypeError for an address that is none of the allowed forms; the file system's own error for `ca`.
 */
export function resolveUpstream(options: UpstreamOptions): Upstream {
  const located = locate(options.url);
  const tls = {
    rejectUnauthorized: options.insecureTls !== true,
    ...(options.ca === undefined ? {} : { ca: readFileSync(options.ca, 'utf8') }),
  };
  const connect = buildConnector({
    ...tls,
    timeout: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    ...(located.socketPath === '' ? {} : { socketPath: located.socketPath }),
  });
  const { injectedKey } = options;
  return { ...located, tls, connect, ...(injectedKey === undefined ? {} : { injectedKey }) };
}
