// The end-to-end suites of llama-server on a real vLLM: the same tests, in one process, so that a server is started once for
// all of them. What differs is in test/support/tested-engine.ts.
process.env['TOKENWEIR_TEST_ENGINE'] = 'vllm';

const suites = [
  'numbers',
  'sessions',
  'dialects',
  'count-checks',
  'agreement',
  'clients/openai',
  'clients/openai-responses',
  'clients/ai-sdk',
  'clients/anthropic',
  'clients/langchain',
] as const;
for (const suite of suites) await import(`../e2e/${suite}.test.ts`);
