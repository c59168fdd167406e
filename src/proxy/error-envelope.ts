/**
 * The transport's own answers in the shape that the route's clients expect. Says which kind of failure it was;
 * never a socket address, a path or the text of a library's error.
 */
import type { Route } from '../exchange/request/route.ts';

export interface Failure {
  readonly status: 400 | 408 | 431 | 500 | 501 | 502 | 504;
  /** Stable name for programs. */
  readonly type: string;
  readonly message: string;
  /** The system's or library's name of what went wrong, e.g. ECONNREFUSED; for the log. */
  readonly code?: string;
}

export const internalFailure: Failure = {
  status: 500,
  type: 'proxy_failed',
  message: 'The proxy failed on this request; its log has the cause under the request id.',
};

export const asteriskFailure: Failure = {
  status: 501,
  type: 'target_unsupported',
  message: 'The request target "*" is not carried by the proxy; name a path.',
};

const timeoutCodes = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
/** Node's names of what can be wrong with a certificate, as its documentation of TLS lists them. */
const certificateCodes = /CERT|CRL|INVALID_CA|ISSUER|SIGNATURE|HOSTNAME_MISMATCH/;
const closedCodes = new Set(['UND_ERR_SOCKET', 'UND_ERR_HEADERS_OVERFLOW', 'ECONNRESET', 'EPIPE']);

/** Error codes are names such as ECONNREFUSED; anything else (a message) may hold an address. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : '';
}

/** What to tell a client whose request got no reply from the engine. */
export function upstreamFailure(error: unknown): Failure {
  const code = codeOf(error);
  return { ...failureOf(code), ...(code !== '' && { code }) };
}

function failureOf(code: string): Failure {
  if (timeoutCodes.has(code)) {
    return {
      status: 504,
      type: 'upstream_timeout',
      message:
        'The inference server did not accept a connection in time; check that it runs and is reachable.',
    };
  }
  if (closedCodes.has(code) || code.startsWith('HPE_')) {
    return {
      status: 502,
      type: 'upstream_closed',
      message: `The inference server closed the connection without a valid reply (${code}); see its log.`,
    };
  }
  if (certificateCodes.test(code)) {
    return {
      status: 502,
      type: 'upstream_unreachable',
      message: `The inference server's certificate is not trusted (${code}); its operator names the authority in upstream.ca.`,
    };
  }
  return {
    status: 502,
    type: 'upstream_unreachable',
    message: `The inference server is not reachable${code === '' ? '' : ` (${code})`}; check that it runs and that upstream.url is right.`,
  };
}

/** The failure as a JSON body in the route's dialect. */
export function errorEnvelope(dialect: Route['dialect'], failure: Failure): string {
  const { status, type, message } = failure;
  switch (dialect) {
    case 'anthropic':
      return JSON.stringify({ type: 'error', error: { type, message } });
    case 'openai':
    case 'native':
    case 'responses':
      return JSON.stringify({ error: { code: status, message, type } });
  }
}
