// What a test file calls to test against a real vLLM.
import { after } from 'node:test';
import type { Family } from '../gguf/families.ts';
import { findVllm } from './environment.ts';
import { modelFolder } from './model-folder.ts';
import { startVllm, type Vllm, type VllmOptions } from './server.ts';

export interface RealVllm {
  /** For the options of `describe` or `it`: false where there is a vLLM. */
  readonly skip: string | false;
  /** The server, started on the first call, stopped after the tests of the file. It takes 3 GB and a minute to start. */
  server(): Promise<Vllm>;
}

let said = false;

/**
 * A real vLLM with a random-weight model for the tests of one file: one per file, so that two never run at once where
 * files are tested one after the other. Call it at the top of the file:
 *
 *     const engine = await realVllm('qwen3');
 *     describe('…', { skip: engine.skip }, () => {
 *       it('…', async () => {
 *         const { url } = await engine.server();
 *
 * Only `npm run test:vllm` starts one: it takes minutes and gigabytes, so `npm test` skips these tests even where vLLM
 * is installed, and says so in one line.
 */
export async function realVllm(family: Family, options: Omit<VllmOptions, 'model'> = {}): Promise<RealVllm> {
  if (process.env['TOKENWEIR_TEST_LIVE_VLLM'] !== '1') return absent('run them with npm run test:vllm');
  const vllm = await findVllm();
  if ('missing' in vllm) return absent(vllm.missing);
  let starting: Promise<Vllm> | undefined;
  after(async () => {
    // One that failed to start has told the test that asked for it.
    await starting?.then((server) => server.stop()).catch(() => undefined);
  });
  return {
    skip: false,
    server: () => {
      starting ??= modelFolder(family).then((model) => startVllm({ ...options, model }));
      return starting;
    },
  };
}

function absent(reason: string): RealVllm {
  const line = `no vLLM for the tests: ${reason}`;
  if (!said) console.error(`Skipped, ${line}`);
  said = true;
  return { skip: 'no vLLM', server: () => Promise.reject(new Error(line)) };
}
