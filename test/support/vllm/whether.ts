// Ends with 0 where there is a vLLM to test with; else says in one line why its live tests are skipped, and ends with 1.
import { findVllm } from './environment.ts';

const vllm = await findVllm();
if ('missing' in vllm) {
  console.log(`Skipped, no vLLM for the live tests: ${vllm.missing}`);
  process.exitCode = 1;
}
