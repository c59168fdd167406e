/** Who may read what the admin port protects. Compares tokens in constant time and never logs or echoes one. */
import { createHash, timingSafeEqual } from 'node:crypto';

import { isLoopback } from './host-allow-list.ts';
import type { ProblemCode } from './problem.ts';

export type Access =
  | { readonly granted: true }
  | { readonly granted: false; readonly code: ProblemCode; readonly detail: string };

export interface AccessRule {
  /** Host of the listener, without brackets and port. */
  readonly listenHost: string;
  /** `admin.token`; absent if none is configured. */
  readonly token?: string;
}

/** Offered to clients without a token. Basic makes browsers ask: the token is the password, any user name will do. */
export const challenge = 'Bearer realm="tokenweir admin", Basic realm="tokenweir admin", charset="UTF-8"';

/**
 * A configured token is always asked for. Without one a loopback listener is open to the machine's own users, and any
 * other listener protects nothing by answering nothing.
 * @param authorization the request's header; undefined if it has none.
 */
export function judgeAccess(rule: AccessRule, authorization: string | undefined): Access {
  if (rule.token === undefined) {
    if (isLoopback(rule.listenHost)) return { granted: true };
    return {
      granted: false,
      code: 'ADMIN_TOKEN_UNSET',
      detail:
        `The admin port listens on ${rule.listenHost}, which other machines can reach, and admin.token is not set. ` +
        'Set admin.token (TOKENWEIR_ADMIN_TOKEN), or let admin.listen be a loopback address such as 127.0.0.1:9939.',
    };
  }
  const given = tokenIn(authorization);
  if (given === undefined) {
    return {
      granted: false,
      code: 'ADMIN_TOKEN_MISSING',
      detail: 'Send "Authorization: Bearer <admin.token>"; in a browser, the token is the password.',
    };
  }
  if (sameToken(given, rule.token)) return { granted: true };
  return {
    granted: false,
    code: 'ADMIN_TOKEN_WRONG',
    detail: 'The token sent is not the configured admin.token.',
  };
}

function tokenIn(authorization: string | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization ?? '') ?? [];
  if (scheme === '') return undefined;
  if (scheme.toLowerCase() === 'bearer') return value;
  const pair = Buffer.from(value, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

/** Digests have one length, so that not even the token's length shows in the time taken. */
function sameToken(given: string, configured: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(configured));
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
