/**
 * Which `Host` values the admin port answers to. A web page can point its own name at this machine (DNS rebinding) and
 * then read our answers as its own; it can't make the browser send another name than its own.
 */

/** True if only this machine can reach a listener on the host. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

export interface HostAllowList {
  /** @param host the request's `Host` value, port included; undefined if it has none. */
  allows(host: string | undefined): boolean;
}

/**
 * Loopback names and addresses, the listener's own host and the operator's names; ports do not matter. A listener that
 * other machines reach also answers to every plain IP address: it has to be reached by one (probes, scrapers), and a
 * rebound request always carries a name.
 * @param listenHost host of the listener, without brackets and port.
 * @param allowedHosts `admin.allowedHosts`: names, with or without a port.
 */
export function createHostAllowList(listenHost: string, allowedHosts: readonly string[]): HostAllowList {
  const names = new Set([listenHost, ...allowedHosts].map((host) => nameOf(host) ?? host.toLowerCase()));
  const reachable = !isLoopback(listenHost);
  return {
    allows: (host) => {
      const name = host === undefined ? undefined : nameOf(host);
      if (name === undefined) return false;
      return (
        names.has(name) || isLoopback(name) || name.endsWith('.localhost') || (reachable && isAddress(name))
      );
    },
  };
}

/** The host without port, brackets and the root's dot, in lower case; undefined if it is no host. */
function nameOf(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:/?#@[\]]+))(?::\d{1,5})?$/i.exec(host);
  const name = match?.[1] ?? match?.[2];
  if (name !== undefined) return name.toLowerCase().replace(/(?<=.)\.$/, '');
  return /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(host) ? host.toLowerCase() : undefined;
}

function isAddress(name: string): boolean {
  return name.includes(':') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name);
}
