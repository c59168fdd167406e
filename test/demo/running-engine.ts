// A demo engine on a real socket without its simulated pauses, and the requests that the tests send to it.
import { after, before } from 'node:test';
import { startDemoEngine, type DemoEngine, type DemoEngineOptions } from '../../src/demo/engine.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface RunningEngine {
  get(path: string): Promise<Response>;
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** Posts and reads the reply's JSON; fails on any status but 200. */
  ask(path: string, body: unknown): Promise<JsonObject>;
  /** The data of each event of a stream, parsed; `[DONE]` stays text. */
  stream(path: string, body: JsonObject): Promise<(JsonObject | string)[]>;
}

/** Starts the engine before the tests of the enclosing `describe` and closes it after them. */
export function useDemoEngine(options: DemoEngineOptions = {}): RunningEngine {
  let engine: DemoEngine | undefined;
  before(async () => {
    engine = await startDemoEngine({ tokenIntervalMs: 0, prefillTokensPerSecond: Infinity, ...options });
  });
  after(async () => {
    await engine?.close();
  });
  const send = (path: string, init: RequestInit): Promise<Response> => {
    if (engine === undefined) throw new Error('the engine starts with the first test');
    return fetch(engine.url + path, init);
  };
  const post = (path: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
    send(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), ...init });
  const text = async (path: string, body: unknown): Promise<string> => {
    const response = await post(path, body);
    const reply = await response.text();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${reply}`);
    return reply;
  };
  return {
    get: (path) => send(path, {}),
    post,
    ask: async (path, body) => JSON.parse(await text(path, body)) as JsonObject,
    stream: async (path, body) => {
      const events = (await text(path, { ...body, stream: true })).split('\n\n');
      if (events.pop() !== '') throw new Error('the stream ends inside an event');
      return events.map((event) => {
        if (!event.startsWith('data: ')) throw new Error(`not a data event: ${event}`);
        const data = event.slice('data: '.length);
        return data === '[DONE]' ? data : (JSON.parse(data) as JsonObject);
      });
    },
  };
}
