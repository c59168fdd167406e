/** A proxy in front of a fake upstream, with an inspector that records what it was shown and does what it is told. */
import { pino } from 'pino';
import type { IncomingRequest, Inspector, Verdict } from '../../src/exchange/inspection.ts';
import type { Outcome } from '../../src/exchange/reply/reply.ts';
import { passRoute, type Route } from '../../src/exchange/request/route.ts';
import { createProxy, type ProxyOptions, type ProxyServer } from '../../src/proxy/proxy-server.ts';
import { startUpstream, type Answer, type FakeUpstream, type FakeUpstreamOptions } from './fake-upstream.ts';

/** What the inspector was told about one exchange. */
export interface Seen {
  readonly incoming: IncomingRequest;
  head?: { readonly status: number; readonly contentType: string; readonly contentEncoding: string };
  readonly chunks: Buffer[];
  readonly ends: { readonly outcome: Outcome; readonly status: number | undefined }[];
  /** Resolves at `end`. */
  readonly ended: Promise<void>;
}

const testRoutes: Readonly<Record<string, Route>> = {
  '/v1/chat/completions': { kind: 'chat', inspected: true, dialect: 'openai' },
  '/completion': { kind: 'completion', inspected: true, dialect: 'native' },
  '/v1/messages': { kind: 'messages', inspected: false, dialect: 'anthropic' },
};

export class RecordingInspector implements Inspector {
  readonly seen: Seen[] = [];
  /** What to do with each request; replaced by tests. */
  verdict: (incoming: IncomingRequest) => Verdict | Promise<Verdict> = () => ({
    action: 'pass',
    responseHeaders: [],
  });

  routeOf(method: string, path: string): Route {
    return method === 'POST' ? (testRoutes[path] ?? passRoute) : passRoute;
  }

  inspect(incoming: IncomingRequest): ReturnType<Inspector['inspect']> {
    let resolveEnd = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      resolveEnd = resolve;
    });
    const seen: Seen = { incoming, chunks: [], ends: [], ended };
    this.seen.push(seen);
    return {
      verdict: Promise.resolve(this.verdict(incoming)),
      reply: {
        headers: (status, contentType, contentEncoding) => {
          seen.head = { status, contentType, contentEncoding };
        },
        chunk: (bytes) => seen.chunks.push(Buffer.from(bytes)),
        end: (outcome, status) => {
          seen.ends.push({ outcome, status });
          resolveEnd();
        },
      },
    };
  }
}

export interface TransportRig {
  readonly proxy: ProxyServer;
  readonly port: number;
  readonly upstream: FakeUpstream;
  readonly inspector: RecordingInspector;
  /** Latest values of the gauges, and all times to first byte. */
  readonly measured: { heldBytes: number; inFlight: number; firstBytes: number[] };
  readonly close: () => Promise<void>;
}

export interface RigOptions extends FakeUpstreamOptions {
  /** Appended to the fake upstream's URL. */
  readonly basePath?: string;
  readonly upstreamOptions?: Partial<ProxyOptions['upstream']>;
  readonly limits?: ProxyOptions['limits'];
  /** Told of each line of the log, from level `info` on. */
  readonly onLogLine?: (line: string) => void;
}

export async function startRig(answer: Answer, options: RigOptions = {}): Promise<TransportRig> {
  const upstream = await startUpstream(answer, options);
  const inspector = new RecordingInspector();
  const measured = { heldBytes: 0, inFlight: 0, firstBytes: [] as number[] };
  const proxy = await createProxy({
    upstream: { url: upstream.url + (options.basePath ?? ''), ...options.upstreamOptions },
    inspector,
    limits: options.limits ?? (() => ({ requestBytes: 64 * 2 ** 20, heldBytesTotal: 512 * 2 ** 20 })),
    logger:
      options.onLogLine === undefined
        ? pino({ level: process.env['TEST_LOG'] ?? 'silent' })
        : pino({ level: 'info' }, { write: options.onLogLine }),
    meter: {
      heldBytes: (bytes) => {
        measured.heldBytes = bytes;
      },
      inFlight: (requests) => {
        measured.inFlight = requests;
      },
      timeToFirstByte: (_route, seconds) => measured.firstBytes.push(seconds),
    },
  });
  const { port } = await proxy.listen({ host: '127.0.0.1', port: 0 });
  return {
    proxy,
    port,
    upstream,
    inspector,
    measured,
    close: async () => {
      await proxy.close();
      await upstream.close();
    },
  };
}
