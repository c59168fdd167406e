// What a vLLM serves and which of its endpoints there are, over the stand-in: adapters, restarts, gateways that answer only
// some questions. The same against the real one, as far as it can show it, is in test/vllm/served-models.test.ts.
import assert from 'node:assert/strict';
import { after, describe, it, type MockTimers } from 'node:test';
import type { JsonObject } from '../../../src/exchange/request/request.ts';
import type { EngineEvent } from '../../../src/exchange/engine-event.ts';
import { VllmEngine } from '../../../src/engines/vllm.ts';
import { parameterIgnored } from '../../../src/detectors/parameter-ignored.ts';
import { Q } from '../../support/conversations.ts';
import { buildExchange } from '../../support/exchange-builder.ts';
import { standIn, type Answer, type StandInOptions } from '../../support/vllm/stand-in.ts';
import { recording } from '../../vllm/recordings/recording.ts';
import { ask, context, idsOf, openAdapter, typed } from '../engine-under-test.ts';

const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

async function adapterOf(options: StandInOptions = {}) {
  const server = await standIn('qwen3', { without: ['/tokenizer_info'], ...options });
  const adapter = openAdapter(server.url, { adapter: VllmEngine, timeoutMs: 60_000 });
  closers.push(async () => {
    await adapter.engine.close();
    await server.close();
  });
  return { ...adapter, server };
}

describe('adapters on a vLLM', () => {
  it('have facts of their own, and are asked for by their names', async () => {
    const bodies: string[] = [];
    const { engine, events } = await adapterOf({
      adapters: ['tuned'],
      intercept: (path, body) => {
        if (path === '/tokenize') bodies.push(body);
        return undefined;
      },
    });
    const read = await engine.facts('tuned', context);
    assert.ok(read.known);
    assert.equal(read.facts.modelName, 'tuned');
    assert.equal(read.facts.contextTokens, 32_768);
    const base = await engine.facts('qwen3', context);
    assert.ok(base.known);
    assert.notEqual(base.facts.identity, read.facts.identity);
    assert.deepEqual(
      events.flatMap((event) => (event.event === 'facts-learnt' ? [event.facts.modelName] : [])),
      ['tuned', 'qwen3'],
    );
    bodies.length = 0;
    const chat = await idsOf(engine, typed('chat', { model: 'tuned', messages: Q }));
    assert.equal(chat.length, 25);
    await idsOf(engine, typed('completion', { model: 'tuned', prompt: 'One, two' }));
    const asked = bodies.map((body) => (JSON.parse(body) as { model?: string }).model);
    assert.ok(asked.length >= 2 && asked.every((name) => name === 'tuned'), JSON.stringify(asked));
  });
});

describe('a restart of a vLLM', () => {
  const started = (seconds: number): Answer => ({
    status: 200,
    text: `process_start_time_seconds ${seconds}\n`,
  });

  /** The restarts that are told of while the server's metrics say these start times, in seconds from now. */
  async function restartsTold(
    t: { mock: { timers: MockTimers } },
    ...metrics: readonly (number | Answer | 'away')[]
  ) {
    const now = Date.now();
    t.mock.timers.enable({ apis: ['Date'], now });
    let answer: Answer = started(now / 1000);
    let looked = (): void => undefined;
    const { engine, events } = await adapterOf({
      intercept: (path) => {
        if (path !== '/metrics') return undefined;
        looked();
        return answer;
      },
    });
    for (const metric of metrics) {
      if (metric === 'away') {
        engine.noteReply(undefined);
        continue;
      }
      answer = typeof metric === 'number' ? started(now / 1000 + metric) : metric;
      const asked = new Promise<void>((resolve) => {
        looked = resolve;
      });
      t.mock.timers.tick(11_000);
      await engine.facts(undefined, context);
      await asked;
      // The answer is read in turns of the event loop; a question behind it is answered after it.
      await engine.models(context);
    }
    return events.filter(({ event }: EngineEvent) => event === 'engine-cache-lost');
  }

  it('is told once of a process that was started since the last answer', async (t) => {
    const told = await restartsTold(t, -100, -100, 23, 23);
    assert.deepEqual(told, [{ event: 'engine-cache-lost', modelName: 'qwen3', reason: 'restart' }]);
  });

  /** As several API processes tell: together, and without a start time. */
  const served = (...tokens: readonly number[]): Answer => ({
    status: 200,
    text: tokens
      .map((count, index) => `vllm:prompt_tokens_total{engine="${index}",model_name="qwen3"} ${count}\n`)
      .join(''),
  });

  it('is told of several API processes, by a count that fell after nobody answered', async (t) => {
    const told = await restartsTold(
      t,
      served(50, 40),
      served(90, 60),
      'away',
      served(20, 70),
      served(30, 70),
    );
    assert.deepEqual(told, [{ event: 'engine-cache-lost', modelName: 'qwen3', reason: 'restart' }]);
  });

  it('is not told of a count that falls or of nobody there alone', async (t) => {
    assert.deepEqual(await restartsTold(t, served(90), served(20), served(90), served(20)), []);
    t.mock.timers.reset();
    assert.deepEqual(await restartsTold(t, served(90), 'away', served(91), served(20)), []);
  });

  it('is not told of several servers behind one address, nor where nothing is said', async (t) => {
    const silent = { status: 404, text: '{"detail":"Not Found"}' };
    assert.deepEqual(await restartsTold(t, -100, -50, -100, silent, -50, -100), []);
  });
});

describe('a gateway before a vLLM that answers only some questions', () => {
  const asks = async (intercept: StandInOptions['intercept']) => {
    const { engine } = await adapterOf({ ...(intercept && { intercept }) });
    const read = await ask(engine, typed('chat', { messages: Q }));
    if ('reason' in read) return read.reason;
    return read.prompts.map((prompt) => (prompt.known ? prompt.ids.length : prompt.reason));
  };
  const answering = (paths: RegExp, answer: Answer) => (path: string) =>
    paths.test(path) ? answer : undefined;
  const notFound = { status: 404, text: '{"detail":"Not Found"}' };
  const page = { status: 404, text: '<html>nothing here</html>' };
  const unauthorized = recording('llama3.1', 'unauthorized');

  it('is asked what it has', async () => {
    assert.deepEqual(await asks(answering(/version|metrics/, notFound)), [25]);
    assert.deepEqual(await asks(answering(/version|metrics/, unauthorized)), [25]);
    const anyPage = { status: 200, text: '<html>welcome</html>' };
    assert.deepEqual(await asks(answering(/version|metrics|tokenizer_info|render/, anyPage)), [25]);
    assert.deepEqual(await asks(answering(/render/, { status: 200, text: '{"ok":true}' })), [25]);
    const larger = { status: 200, text: 'x'.repeat(33 * 1024 * 1024) };
    assert.deepEqual(await asks(answering(/version|metrics/, larger)), [25]);
  });

  it('makes ids unknown where it has no tokenizing, and says why', async () => {
    assert.equal(await asks(answering(/^\/tokenize$/, notFound)), 'engine-cannot');
    assert.equal(await asks(answering(/^\/tokenize$/, page)), 'engine-cannot');
    assert.equal(await asks(answering(/^\/detokenize$/, notFound)), 'engine-cannot');
    assert.equal(await asks(answering(/^\/v1\/models$/, notFound)), 'engine-cannot');
  });

  it('makes them unknown where it wants a key, whatever its words', async () => {
    const inWords = { status: 403, text: 'no' };
    for (const answer of [unauthorized, { status: 401, text: '{"error":{"message":"no key"}}' }, inWords]) {
      assert.equal(await asks(answering(/^\/tokenize$/, answer)), 'oracle-refused');
      assert.equal(await asks(answering(/^\/v1\/models$/, answer)), 'oracle-refused');
    }
  });

  it('is followed where the model is taken away between two questions', async () => {
    const gone = recording('qwen3', 'tokenize-unknown-model');
    let served = true;
    const { engine } = await adapterOf({
      intercept: (path) => (path === '/tokenize' && !served ? gone : undefined),
    });
    const read = await engine.facts(undefined, context);
    assert.ok(read.known);
    served = false;
    const prompts = await engine.read(typed('chat', { messages: Q }), read.facts, context).prompts();
    assert.deepEqual(prompts, [
      {
        known: false,
        reason: 'model-not-loaded',
        status: 404,
        engineSays: 'The model `nope` does not exist. Valid aliases: qwen3.',
      },
    ]);
  });
});

describe('fields that vLLM reads over', () => {
  it('are found by the ids that they left as they were', async () => {
    const { engine } = await adapterOf();
    const read = await engine.facts(undefined, context);
    assert.ok(read.known);
    const { facts } = read;
    const found = async (route: 'chat' | 'messages' | 'completion' | 'responses', body: JsonObject) => {
      const request = typed(route, body);
      const prompts = await engine.read(request, facts, context).prompts();
      return parameterIgnored
        .detect({ ...buildExchange({ route, body, facts }), prompts })
        .map(({ cause }) => cause);
    };
    const off = { enable_thinking: false };
    assert.deepEqual(await found('chat', { messages: Q, ...off }), ['enable-thinking']);
    assert.deepEqual(await found('chat', { messages: Q, reasoning: { enabled: false } }), ['reasoning']);
    assert.deepEqual(await found('chat', { messages: Q, ...off, chat_template_kwargs: off }), []);
    const writtenOut = { extra_body: { chat_template_kwargs: off } };
    assert.deepEqual(await found('chat', { messages: Q, ...writtenOut }), ['extra-body']);
    assert.deepEqual(await found('chat', { messages: Q, ...writtenOut, chat_template_kwargs: off }), []);
    assert.deepEqual(await found('chat', { messages: Q, options: { num_ctx: 65_536 } }), ['num-ctx']);
    assert.deepEqual(
      await found('chat', { messages: Q, options: { num_ctx: 4096 }, truncate_prompt_tokens: 5 }),
      [],
    );
    const documents = [{ title: 'Weirs', text: 'They hold water.' }];
    assert.deepEqual(await found('chat', { messages: Q, documents }), ['documents']);
    const asArgument = { chat_template_kwargs: { documents } };
    assert.deepEqual(await found('chat', { messages: Q, ...asArgument }), ['documents']);
    assert.deepEqual(await found('chat', { messages: Q, documents: [] }), []);
    const own = { instructions: 'Answer as a keeper.', system: 'Answer as a guard.' };
    assert.deepEqual(await found('chat', { messages: Q, ...own }), ['system', 'instructions']);
    assert.deepEqual(await found('messages', { messages: [Q[1]!], ...own }), ['instructions']);
    assert.deepEqual(await found('responses', { input: 'Hi', ...own }), ['system']);
    const template = { chat_template: '{{ messages[0].content }}' };
    assert.deepEqual(await found('chat', { messages: Q, ...template }), []);
    assert.deepEqual(await found('responses', { input: 'Hi', ...template }), ['chat-template']);
    const quoted = [...Q, { role: 'user', content: 'Read this: They hold water.' }];
    assert.deepEqual(await found('chat', { messages: quoted, documents }), []);
    const messages = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 2 };
    assert.deepEqual(await found('messages', { ...messages, documents }), ['documents']);
    assert.deepEqual(await found('messages', { ...messages, truncate_prompt_tokens: 2 }), [
      'truncate-prompt-tokens',
    ]);
    assert.deepEqual(await found('messages', { ...messages, thinking: { type: 'disabled' } }), []);
    assert.deepEqual(await found('completion', { prompt: 'One', suffix: 'x', echo: true }), []);
  });
});
