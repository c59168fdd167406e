// The end-to-end suites about forms of prompts on real vLLMs: the same tests as on llama-server. Apart from the other shared
// suites, for they need a server per family.
process.env['TOKENWEIR_TEST_ENGINE'] = 'vllm';

const suites = ['forged-turns', 'wrong-forms', 'prompt-ends'] as const;
for (const suite of suites) await import(`../e2e/${suite}.test.ts`);
