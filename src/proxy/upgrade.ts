/**
 * Upgrade requests. WebSockets go to the plugin; any other offer (`Upgrade: h2c`, which Java's HTTP client sends with
 * every request) is declined by reading the request again without it. Must not lose a byte of the body behind it.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Fields that only make an upgrade offer (RFC 9110, section 7.8; RFC 7540, section 3.2.1). */
const offerHeaders = new Set(['upgrade', 'http2-settings']);

/** True for a WebSocket handshake. */
export function offersWebSocket(request: IncomingMessage): boolean {
  return request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket';
}

/** The request's head as sent, without the offer. */
function headWithoutOffer(request: IncomingMessage): Buffer {
  const lines = [`${request.method ?? 'GET'} ${request.url ?? '/'} HTTP/${request.httpVersion}`];
  const raw = request.rawHeaders;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const lower = name.toLowerCase();
    if (offerHeaders.has(lower)) continue;
    const value = raw[at + 1] ?? '';
    const kept =
      lower === 'connection'
        ? value
            .split(',')
            .filter((token) => !offerHeaders.has(token.trim().toLowerCase()))
            .join(',')
        : value;
    if (lower !== 'connection' || kept !== '') lines.push(`${name}: ${kept}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Stands between the server and the plugin's upgrade listener; gives back the sockets of open WebSockets. */
export function guardUpgrades(server: Server): ReadonlySet<Duplex> {
  const webSockets = new Set<Duplex>();
  const listeners = server.listeners('upgrade') as UpgradeListener[];
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!offersWebSocket(request)) {
      socket.unshift(Buffer.concat([headWithoutOffer(request), head]));
      server.emit('connection', socket);
      return;
    }
    webSockets.add(socket);
    socket.once('close', () => webSockets.delete(socket));
    for (const listener of listeners) listener.call(server, request, socket, head);
  });
  return webSockets;
}
