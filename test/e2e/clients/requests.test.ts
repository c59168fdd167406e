// What the clients really send, byte for byte at a socket, is what docs/clients.md says.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { Q } from '../../support/conversations.ts';
import { startUpstream } from '../../support/fake-upstream.ts';
import { all } from './both-ways.ts';
import { documented } from './documented.ts';

const chunk = {
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'qwen3',
  choices: [{ index: 0, delta: { role: 'assistant', content: '4.' }, finish_reason: 'stop' }],
};
const upstream = await startUpstream((exchange) =>
  exchange.reply(
    '200 OK',
    'Content-Type: text/event-stream',
    `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`,
  ),
);
after(() => upstream.close());
const baseURL = `${upstream.url}/v1`;
const session = { 'tokenweir-session': 'conversation-1' };

const clients: Readonly<Record<string, () => Promise<unknown>>> = {
  openai: async () => {
    const client = new OpenAI({ baseURL, apiKey: 'none', defaultHeaders: session });
    const messages = Q as OpenAI.ChatCompletionMessageParam[];
    const stream_options = { include_usage: true };
    return all(
      await client.chat.completions.create({ model: 'qwen3', messages, stream: true, stream_options }),
    );
  },
  ai: async () => {
    const engine = createOpenAICompatible({ name: 'engine', baseURL, headers: session, includeUsage: true });
    const [system, user] = Q;
    return streamText({ model: engine('qwen3'), system: system!.content, prompt: user!.content }).text;
  },
  '@langchain/openai': async () => {
    const configuration = { baseURL, defaultHeaders: session };
    const model = new ChatOpenAI({ model: 'qwen3', apiKey: 'none', configuration });
    const [system, user] = Q;
    return all(await model.stream([new SystemMessage(system!.content), new HumanMessage(user!.content)]));
  },
};

/** Of the connection, not the client. */
const ofTheConnection = new Set(['host', 'connection', 'content-length']);

describe('what a client sends', () => {
  for (const [name, ask] of Object.entries(clients)) {
    it(`${name}: headers and body are those of its documentation`, async () => {
      const index = upstream.exchanges.length;
      await ask();
      const { request } = await upstream.exchange(index);
      assert.equal(request.startLine, 'POST /v1/chat/completions HTTP/1.1');
      const sent = request.headers.filter(([header]) => !ofTheConnection.has(header));
      const { headers, body } = documented(name);
      assert.deepEqual(sent.map(withoutPlatform), headers.map(withoutPlatform));
      assert.equal(request.body.toString(), JSON.stringify(body));
    });
  }
});

/** Versions and the machine change with the next install; names, order and all else do not. */
function withoutPlatform([name, value]: readonly [name: string, value: string]): string {
  const machine = name === 'x-stainless-os' || name === 'x-stainless-arch';
  return `${name}: ${machine ? '…' : value.replaceAll(/\d+(?:\.\d+)+/g, '…').replace(/; \w+; \w+\)/, '; …)')}`;
}
