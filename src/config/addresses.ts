/** Upstream URLs and listen addresses, read into their parts. Text only: nothing is resolved, opened or connected here. */

export interface UpstreamAddress {
  /** What requests are sent to: `http://host:port`; for a socket `http://localhost`, with `socketPath` set. */
  readonly origin: string;
  /** Unix socket to connect to; absent for TCP. */
  readonly socketPath?: string;
  /** Put in front of every path; '' for none, else starts with a slash and does not end with one. */
  readonly basePath: string;
  readonly tls: boolean;
}

export interface ListenAddress {
  /** IP address or name, without brackets. */
  readonly host: string;
  /** 0 means that the system chooses. */
  readonly port: number;
}

/**
 * Reads `http://host:port/base`, `https://…` or `unix:/path.sock[:/base]` (the form nginx uses).
 * @returns undefined for anything else, also for a URL with credentials, a query or a fragment.
 */
export function parseUpstreamUrl(text: string): UpstreamAddress | undefined {
  const socket = /^unix:(\/[^:?#]+)(?::(\/[^:?#]*))?$/.exec(text);
  if (socket) {
    const [, socketPath = '', basePath = ''] = socket;
    return { origin: 'http://localhost', socketPath, basePath: withoutEndSlash(basePath), tls: false };
  }
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) return undefined;
  return { origin: url.origin, basePath: withoutEndSlash(url.pathname), tls: url.protocol === 'https:' };
}

/** Reads `127.0.0.1:9930`, `[::1]:9930` or `name:9930`. @returns undefined for anything else. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):(\d{1,5})$/i.exec(text);
  if (!match) return undefined;
  const host = match[1] ?? match[2] ?? '';
  const port = Number(match[3]);
  return port > 65_535 ? undefined : { host, port };
}

/** Reads an address that the configuration's check has let pass. */
export function requireListenAddress(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address === undefined) throw new Error(`"${text}" passed the configuration's check but is no address`);
  return address;
}

export function listenUrl({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** True if only this machine can reach a listener on the host. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function withoutEndSlash(path: string): string {
  return path.replace(/\/+$/, '');
}
