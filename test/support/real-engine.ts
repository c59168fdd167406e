// What a test file calls to test against a real llama-server.
import { after } from 'node:test';
import { modelFile, type Family } from './gguf/families.ts';
import { findLlamaServer } from './llama-server/binary.ts';
import { startLlamaServer, type LlamaServer, type LlamaServerOptions } from './llama-server/server.ts';

export interface RealEngine {
  /** For the options of `describe` or `it`: false where there is a llama-server. */
  readonly skip: string | false;
  /** The server, started on the first call; one per family and options in a test file, stopped after its tests. */
  server(): Promise<LlamaServer>;
}

/** A model family, or anything that gives the path of a model file. */
export type Model = Family | (() => Promise<string>);

const engines = new Map<string, RealEngine>();
let said = false;

/**
 * A real llama-server with a random-weight model for the tests of one file. Call it at the top of the file:
 *
 *     const engine = await realEngine('qwen3');
 *     describe('…', { skip: engine.skip }, () => {
 *       it('…', async () => {
 *         const { url } = await engine.server();
 *
 * Where no llama-server can be had the tests are skipped and one line says why.
 * @throws Error in that case if `CI` is `true`: there the tests must not pass by being skipped.
 */
export async function realEngine(
  model: Model,
  options: Omit<LlamaServerOptions, 'model'> = {},
): Promise<RealEngine> {
  const binary = await findLlamaServer();
  if ('missing' in binary) return absent(binary.missing);
  const key = typeof model === 'string' ? JSON.stringify([model, options]) : undefined;
  const known = key === undefined ? undefined : engines.get(key);
  if (known !== undefined) return known;
  const engine = lazyEngine(model, options);
  if (key !== undefined) engines.set(key, engine);
  return engine;
}

function lazyEngine(model: Model, options: Omit<LlamaServerOptions, 'model'>): RealEngine {
  let starting: Promise<LlamaServer> | undefined;
  after(async () => {
    // One that failed to start has told the test that asked for it.
    await starting?.then((server) => server.stop()).catch(() => undefined);
  });
  return {
    skip: false,
    server: () => {
      starting ??= Promise.resolve(typeof model === 'string' ? modelFile(model) : model()).then((file) =>
        startLlamaServer({ ...options, model: file }),
      );
      return starting;
    },
  };
}

function absent(reason: string): RealEngine {
  const line = `no llama-server for the tests: ${reason}`;
  if (process.env['CI'] === 'true') throw new Error(line);
  if (!said) console.error(`Skipped, ${line}`);
  said = true;
  return { skip: 'no llama-server', server: () => Promise.reject(new Error(line)) };
}
