// Installs vLLM for the tests unless it is there: `npm run test:vllm` runs this first.
import { installVllm } from './environment.ts';

await installVllm();
