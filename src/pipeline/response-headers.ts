/** The headers that an inspected exchange carries back (public contract): four at most, no token text. */
import type { Config } from '../config/schema.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { AddedHeaders } from '../exchange/inspection.ts';

type HeaderName = 'tokenweir-action' | 'tokenweir-findings' | 'tokenweir-inspection' | 'tokenweir-request-id';

export function responseHeaders(exchange: Exchange, config: Config): AddedHeaders {
  const { action, findings, inspection, id } = exchange;
  const headers: [HeaderName, string][] = [['tokenweir-action', action]];
  if (config.headers.findings && findings.length > 0) {
    const names = findings.map(({ kind, cause }) => (cause === undefined ? kind : `${kind};${cause}`));
    headers.push(['tokenweir-findings', [...new Set(names)].join(', ')]);
  }
  const result = inspection.result === 'unknown' ? `unknown;${inspection.reason}` : inspection.result;
  headers.push(['tokenweir-inspection', result], ['tokenweir-request-id', id]);
  return headers;
}
