// The end-to-end suites about odd templates on real vLLMs: the same tests as on llama-server, each template on a server of
// its own.
process.env['TOKENWEIR_TEST_ENGINE'] = 'vllm';

const suites = ['unopened-answers', 'learnt-forms'] as const;
for (const suite of suites) await import(`../e2e/${suite}.test.ts`);
