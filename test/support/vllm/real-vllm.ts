// What a test file calls to test against a real vLLM.
import { after } from 'node:test';
import type { ByteModel } from '../gguf/byte-model.ts';
import type { Family } from '../gguf/families.ts';
import { byteModelFolder } from './byte-model-folder.ts';
import { findVllm } from './environment.ts';
import { modelFolder } from './model-folder.ts';
import { startVllm, type Vllm, type VllmOptions } from './server.ts';

export interface RealVllm {
  /** For the options of `describe` or `it`: false where there is a vLLM. */
  readonly skip: string | false;
  /** The server, started on the first call, stopped after the tests of the file. It takes 3 GB and a minute to start. */
  server(): Promise<Vllm>;
}

/** A model family, a byte model, or a named function that gives the path of a model's folder. */
type Model = Family | ByteModel | (() => Promise<string>);

const engines = new Map<string, RealVllm>();
let said = false;

/**
 * A real vLLM with a random-weight model for the tests of one file, started once per family and options. Call it at the
 * top of the file:
 *
 *     const engine = await realVllm('qwen3');
 *     describe('…', { skip: engine.skip }, () => {
 *       it('…', async () => {
 *         const { url } = await engine.server();
 *
 * Only `npm run test:vllm` starts one: it takes minutes and gigabytes, so `npm test` skips these tests even where vLLM
 * is installed, and says so in one line.
 */
export async function realVllm(model: Model, options: Omit<VllmOptions, 'model'> = {}): Promise<RealVllm> {
  if (process.env['TOKENWEIR_TEST_LIVE_VLLM'] !== '1') return absent('run them with npm run test:vllm');
  const vllm = await findVllm();
  if ('missing' in vllm) return absent(vllm.missing);
  const key = JSON.stringify([typeof model === 'function' ? model.name : model, options]);
  const known = engines.get(key) ?? lazyEngine(model, options);
  engines.set(key, known);
  return known;
}

function lazyEngine(model: Model, options: Omit<VllmOptions, 'model'>): RealVllm {
  let starting: Promise<Vllm> | undefined;
  after(async () => {
    // One that failed to start has told the test that asked for it.
    await starting?.then((server) => server.stop()).catch(() => undefined);
  });
  return {
    skip: false,
    server: () => {
      starting ??= folderOf(model).then((folder) => startVllm({ ...options, model: folder }));
      return starting;
    },
  };
}

function folderOf(model: Model): Promise<string> {
  if (typeof model === 'function') return model();
  return typeof model === 'string' ? modelFolder(model) : byteModelFolder(model);
}

function absent(reason: string): RealVllm {
  const line = `no vLLM for the tests: ${reason}`;
  if (!said) console.error(`Skipped, ${line}`);
  said = true;
  return { skip: 'no vLLM', server: () => Promise.reject(new Error(line)) };
}
