/** Mistakes that no single key shows: values that are valid alone and contradict each other. Pure. */
import { isLoopbackHost, parseListenAddress, parseUpstreamUrl } from './addresses.ts';
import type { ConfigError } from './config-error.ts';
import type { Config } from './schema.ts';

/** @param places where each key that is not at its default was set, by key name. */
export function conflictsIn(config: Config, places: ReadonlyMap<string, string>): readonly ConfigError[] {
  const conflict = (key: string, message: string, where = places.get(key)): ConfigError => {
    return { code: 'CONFIG_CONFLICT', where: where ?? key, key, message };
  };
  const errors: ConfigError[] = [];
  if (overlap(config.listen, config.admin.listen)) {
    const message = `"listen" (${config.listen}) and "admin.listen" (${config.admin.listen}) can't both be opened; give one of them another port`;
    errors.push(conflict('admin.listen', message, places.get('admin.listen') ?? places.get('listen')));
  }
  const { url } = config.upstream;
  if (url !== undefined && leadsTo(url, config.listen)) {
    errors.push(
      conflict(
        'upstream.url',
        'upstream.url is the address of "listen": requests would go round in a circle',
      ),
    );
  }
  for (const [index, { client }] of config.inspection.exempt.entries()) {
    if (client === undefined || Object.hasOwn(config.clients, client)) continue;
    const names = Object.keys(config.clients);
    errors.push(
      conflict(
        'inspection.exempt',
        `inspection.exempt[${index}].client is ${JSON.stringify(client)}; allowed: a name under "clients"` +
          (names.length === 0 ? ', which is empty' : ` (${names.join(', ')})`),
      ),
    );
  }
  return errors;
}

/** Two listeners that can't both be opened. Port 0 never collides. */
function overlap(one: string, other: string): boolean {
  const first = parseListenAddress(one);
  const second = parseListenAddress(other);
  if (!first || !second || first.port === 0 || first.port !== second.port) return false;
  return first.host === second.host || isEveryInterface(first.host) || isEveryInterface(second.host);
}

function leadsTo(url: string, listen: string): boolean {
  const upstream = parseUpstreamUrl(url);
  const address = parseListenAddress(listen);
  if (!upstream || !address || upstream.socketPath !== undefined) return false;
  const target = new URL(upstream.origin);
  const port = target.port === '' ? (upstream.tls ? 443 : 80) : Number(target.port);
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const local = isLoopbackHost(host) && (isLoopbackHost(address.host) || isEveryInterface(address.host));
  return port === address.port && (host === address.host || local);
}

function isEveryInterface(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
