/** Names of what the engine is asked, and of how a question ended: both are label values. */
export const oracleNames = [
  'health',
  'props',
  'models',
  'apply-template',
  'render',
  'tokenize',
  'detokenize',
  'version',
  'tokenizer-info',
  'metrics',
] as const;
export type OracleName = (typeof oracleNames)[number];

export const oracleResults = ['ok', 'refused', 'error', 'timeout', 'unreachable', 'breaker-open'] as const;
export type OracleResult = (typeof oracleResults)[number];
