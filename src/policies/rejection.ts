/** What a rejected client reads: what was found, where, and how to fix it, in the envelope of the route it called. */
import type { Finding } from '../exchange/finding.ts';
import type { Route } from '../exchange/request/route.ts';
import type { Lacked } from './decide.ts';

export interface Rejection {
  readonly status: number;
  /** Stable and public: the finding's kind with underscores, or `inspection_unknown`. */
  readonly code: string;
  readonly contentType: 'application/json; charset=utf-8';
  readonly body: string;
}

export function rejectFinding(finding: Finding, dialect: Route['dialect']): Rejection {
  const { kind, field, tokens, message, advice } = finding;
  const where = [
    ...(field === undefined ? [] : [`in ${field}`]),
    ...(tokens === undefined ? [] : [`at tokens ${tokens.start}–${Math.max(tokens.start, tokens.end - 1)}`]),
  ].join(', ');
  return rejection(dialect, {
    status: 400,
    code: kind.replaceAll('-', '_'),
    message: `${kind}${where === '' ? '' : ` (${where})`}: ${message} ${advice}`,
    param: field ?? null,
  });
}

/** For `inspection.onUnknown: reject`: the request may be right, and can be sent again. */
export function rejectUnknown(
  { kind, reason, unprovenRepair }: Lacked,
  dialect: Route['dialect'],
): Rejection {
  const why =
    unprovenRepair === true
      ? `the repair of ${kind} could not be proven`
      : `it could not be inspected for ${kind}`;
  return rejection(dialect, {
    status: 503,
    code: 'inspection_unknown',
    message: `The request was held back because ${why} (${reason}). Send it again, or ask the operator: with inspection.onUnknown: forward such requests pass.`,
    param: null,
  });
}

interface Problem {
  readonly status: 400 | 503;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
}

function rejection(dialect: Route['dialect'], problem: Problem): Rejection {
  return {
    status: problem.status,
    code: problem.code,
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify(envelope(dialect, problem)),
  };
}

function envelope(dialect: Route['dialect'], { status, code, message, param }: Problem): object {
  const clientsFault = status === 400;
  switch (dialect) {
    case 'anthropic':
      return {
        type: 'error',
        error: { type: clientsFault ? 'invalid_request_error' : 'api_error', message, code },
      };
    case 'native':
    case 'openai':
    case 'responses':
      return {
        error: { message, type: clientsFault ? 'invalid_request_error' : 'unavailable_error', param, code },
      };
  }
}
