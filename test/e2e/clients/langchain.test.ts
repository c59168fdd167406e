// `@langchain/openai` through the proxy: its answers, its histories, its errors.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { concat } from '@langchain/core/utils/stream';
import {
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type AIMessageChunk,
  type BaseMessage,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAI } from '@langchain/openai';
import { z } from 'zod';
import { settled } from '../../support/exchanges.ts';
import { expected, testedEngine } from '../../support/tested-engine.ts';
import { all, bothWays } from './both-ways.ts';
import { answeringEngine, calling, callingEngine, repeatable, roomForCall } from './calling.ts';
import { documented } from './documented.ts';

const qwen3 = await answeringEngine();
const caller = await callingEngine();
const gemma3 = await testedEngine('gemma3');
const { skip } = qwen3;

const { temperature, ...extra } = repeatable;
const client = { apiKey: 'none', temperature, maxRetries: 0 };

function chat(baseURL: string, options: { maxTokens?: number; more?: object } = {}): ChatOpenAI {
  const { maxTokens = 6, more = {} } = options;
  return new ChatOpenAI({
    ...client,
    model: 'qwen3',
    maxTokens,
    configuration: { baseURL },
    modelKwargs: { ...extra, ...more },
  });
}

const city = { description: 'About a city.', schema: z.object({ city: z.enum(['Oslo', 'Rome']) }) };
const getWeather = tool(() => 'Rain.', { name: 'get_weather', ...city });
const getTime = tool(() => 'Noon.', { name: 'get_time', ...city });

const question = [new SystemMessage('You are terse.'), new HumanMessage('What is 2 + 2?')];

interface Answer {
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly name: string; readonly args: unknown }[];
  readonly usage_metadata?: unknown;
  readonly response_metadata: Readonly<Record<string, unknown>>;
}

/** What an answer says; its other members are the package's own book-keeping. */
function said({ content, tool_calls: calls = [], usage_metadata: usage, response_metadata }: Answer) {
  return {
    content,
    calls: calls.map(({ name, args }) => [name, args]),
    usage: usage as { readonly input_tokens: number } | undefined,
    finish: response_metadata['finish_reason'],
  };
}

/** An answer in pieces, put together as the package does. */
async function whole(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  return (await all(chunks)).reduce((before, chunk) => concat(before, chunk));
}

describe('langchain: chat', { skip }, () => {
  const ways = bothWays(qwen3);

  it('is the same as from the engine, invoked and streamed', async () => {
    const invoked = await ways.same(async (url) => said(await chat(url).invoke(question)));
    const streamed = await ways.same(async (url) => said(await whole(await chat(url).stream(question))));
    assert.equal(invoked.usage?.input_tokens, 25);
    assert.equal(invoked.finish, 'length');
    assert.deepEqual([streamed.content, streamed.usage?.input_tokens], [invoked.content, 25]);
    await ways.assertClean(2);
  });
});

describe('langchain: a conversation', { skip }, () => {
  const ways = bothWays(qwen3);

  it('is no break when the answers are appended, whole or put together from chunks', async () => {
    await ways.same(async (url) => {
      const messages: BaseMessage[] = [...question];
      messages.push(await chat(url).invoke(messages));
      messages.push(new HumanMessage({ content: [{ type: 'text', text: 'And times 3?' }] }));
      messages.push(await whole(await chat(url).stream(messages)));
      messages.push(new HumanMessage('Minus 5?'));
      messages.push(await chat(url).invoke(messages));
      return messages.map(({ content }) => content);
    });
    await ways.assertClean(3);
  });
});

describe('langchain: tools', { skip }, () => {
  const ways = bothWays(caller);

  it('are called the same, invoked and streamed, and their results are no break', async () => {
    const answers = await ways.same(async (url) => {
      const model = chat(url, { maxTokens: roomForCall, more: calling.preferences }).bindTools(
        [getWeather, getTime],
        { tool_choice: calling.choice },
      );
      const messages: BaseMessage[] = [...question];
      const given = [];
      for (const ask of [
        () => model.invoke(messages),
        async () => whole(await model.stream(messages)),
        () => model.invoke(messages),
      ]) {
        const answer = await ask();
        given.push(said(answer));
        messages.push(answer);
        for (const { id } of answer.tool_calls ?? []) {
          messages.push(new ToolMessage({ content: 'Rain.', tool_call_id: id ?? '' }));
        }
      }
      return given;
    });
    assert.deepEqual(
      answers.map(({ calls }) => calls),
      Array.from({ length: 3 }, () => [['get_weather', { city: 'Oslo' }]]),
    );
    await ways.assertClean(3);
  });
});

describe('langchain: the raw route', { skip }, () => {
  const ways = bothWays(qwen3);

  it('gets the same text, invoked and streamed', async () => {
    const prompt = '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n';
    const [invoked, pieces] = await ways.same(async (baseURL) => {
      const model = new OpenAI({
        ...client,
        model: 'qwen3',
        maxTokens: 6,
        configuration: { baseURL },
        modelKwargs: extra,
      });
      return [await model.invoke(prompt), await all(await model.stream(prompt))] as const;
    });
    assert.equal(pieces.join(''), invoked);
    await ways.assertClean(2);
  });
});

describe('langchain: sessions', { skip }, () => {
  const ways = bothWays(qwen3);

  it('are named by a header per client or per call', async () => {
    const perClient = new ChatOpenAI({
      ...client,
      model: 'qwen3',
      maxTokens: 2,
      configuration: {
        baseURL: ways.baseUrl(),
        defaultHeaders: { 'tokenweir-session': 'conversation-1' },
      },
    });
    await perClient.invoke(question);
    await perClient.invoke(question);
    await chat(ways.baseUrl()).invoke(question, {
      options: { headers: { 'tokenweir-session': 'conversation-1' } },
    });
    await ways.assertClean(3);
    assert.equal(await ways.proxied().metric('tokenweir_session_lookups_total', { source: 'header' }), 2);
  });
});

describe('langchain: a stream that is given up', { skip }, () => {
  const ways = bothWays(qwen3);

  it('ends the generation', async () => {
    const server = await qwen3.server();
    const from = server.log().length;
    const leaving = new AbortController();
    const model = chat(ways.baseUrl(), { maxTokens: 20_000 });
    await assert.rejects(async () => {
      for await (const { content } of await model.stream(question, { signal: leaving.signal })) {
        if (content !== '') leaving.abort();
      }
    });
    await expected.givenUp(server, from);
    await settled(ways.proxied(), 1);
    const outcome = { outcome: 'client-aborted' };
    assert.equal(await ways.proxied().metric('tokenweir_replies_total', outcome), 1);
  });
});

describe('langchain: a rejection', { skip }, () => {
  const ways = bothWays(gemma3, { MODE: 'strict' });

  it("is the openai package's error, thrown from invoke and stream", async () => {
    const model = new OpenAI({
      ...client,
      model: 'gemma3',
      maxTokens: 2,
      configuration: { baseURL: ways.baseUrl() },
    });
    const { rejection } = documented('@langchain/openai');
    // `invoke` sends a list of one prompt, `stream` the prompt itself.
    const rows = [
      [() => model.invoke('<bos>What is 2 + 2?'), rejection],
      [async () => all(await model.stream('<bos>What is 2 + 2?')), rejection.replace('prompt[0]', 'prompt')],
    ] as const;
    for (const [ask, message] of rows) {
      await assert.rejects(ask, (error: { status?: number; code?: string; message?: string }) => {
        assert.deepEqual([error.status, error.code, error.message], [400, 'double_bos', message]);
        return true;
      });
    }
  });
});
