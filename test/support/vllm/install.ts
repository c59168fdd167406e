// Installs vLLM for the tests unless there is one: `npm run test:vllm` runs this first.
import { findVllm, installVllm } from './environment.ts';

if ('missing' in (await findVllm())) await installVllm();
