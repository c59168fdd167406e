// The end-to-end suites of llama-server on a real vLLM: the same tests, in one process, so that a server is started once for
// all of them. What differs is in test/support/tested-engine.ts.
process.env['TOKENWEIR_TEST_ENGINE'] = 'vllm';

for (const suite of ['numbers', 'sessions']) await import(`../e2e/${suite}.test.ts`);
