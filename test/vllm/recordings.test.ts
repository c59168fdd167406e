// What the recorded replies of a real vLLM say, for machines that have none: the adapter is written against these facts, so
// a new version that says otherwise must fail here once it is recorded.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { recordedServers } from './recordings/cases.ts';
import { recording } from './recordings/recording.ts';
import type { Family } from '../support/gguf/families.ts';

const ids = z.array(z.int());
const tokenized = z.object({ count: z.int(), tokens: ids });
const completed = z.object({ choices: z.array(z.object({ prompt_token_ids: ids })) });
const chatted = z.object({ prompt_token_ids: ids, usage: z.object({ prompt_tokens: z.int() }) });
const failed = z.object({ error: z.object({ message: z.string(), type: z.string(), code: z.int() }) });
const responded = z.object({
  usage: z.object({ input_tokens: z.int() }),
  input_messages: z.array(z.object({ tokens: ids })),
});
const messaged = z.object({
  usage: z.object({ input_tokens: z.int(), cache_read_input_tokens: z.int().optional() }),
});

function body<T>(schema: z.ZodType<T>, family: Family, name: string): T {
  return schema.parse(JSON.parse(recording(family, name).text));
}

describe('recordings of vLLM', () => {
  for (const { family, asked } of recordedServers) {
    it(`are there for all that ${family} is asked, and for nothing else`, () => {
      const files = readdirSync(new URL(`./recordings/${family}/`, import.meta.url));
      assert.deepEqual(
        files.map((file) => file.replace(/\.txt$/, '')).toSorted(),
        Object.keys(asked).toSorted(),
      );
    });
  }

  it('tell no path of the machine they were made on', () => {
    const { text } = recording('qwen3', 'models');
    assert.match(text, /"root":"\/models\/qwen3"/);
  });
});

describe('vLLM, as recorded', () => {
  for (const [family, bos] of [
    ['llama3.1', 128_000],
    ['gemma3', 2],
  ] as const) {
    it(`doubles BOS of ${family} on raw prompts and on /v1/responses, and nowhere else`, () => {
      const first = (prompt: readonly number[] | undefined): number =>
        prompt?.findIndex((id) => id !== bos) ?? -1;
      assert.equal(first(body(completed, family, 'completion-raw').choices[0]?.prompt_token_ids), 2);
      assert.equal(first(body(responded, family, 'responses-messages').input_messages[0]?.tokens), 2);
      assert.equal(first(body(chatted, family, 'chat-special').prompt_token_ids), 2);
      assert.equal(
        first(body(completed, family, 'completion-raw-no-special').choices[0]?.prompt_token_ids),
        1,
      );
      assert.equal(first(body(chatted, family, 'chat-ids').prompt_token_ids), 1);
      assert.equal(first(body(tokenized, family, 'tokenize-chat').tokens), 1);
      const { length } = body(chatted, family, 'chat-ids').prompt_token_ids;
      assert.equal(body(messaged, family, 'messages').usage.input_tokens, length);
      assert.equal(body(responded, family, 'responses-messages').usage.input_tokens, length + 1);
    });
  }

  it('renders the same ids for /tokenize, /render and the reply', () => {
    const reply = body(chatted, 'qwen3', 'chat-ids');
    const rendered = body(z.object({ token_ids: ids }), 'qwen3', 'render-chat').token_ids;
    assert.equal(reply.usage.prompt_tokens, 25);
    assert.deepEqual(rendered, reply.prompt_token_ids);
    assert.deepEqual(body(tokenized, 'qwen3', 'tokenize-chat').tokens, reply.prompt_token_ids);
  });

  it('leaves cached tokens out of the input tokens of /v1/messages, but for the first event of a stream', () => {
    const { usage } = body(messaged, 'qwen3', 'messages-cached');
    const whole = body(messaged, 'qwen3', 'messages-long').usage;
    assert.deepEqual([usage.input_tokens, usage.cache_read_input_tokens], [31, 64]);
    assert.deepEqual([whole.input_tokens, whole.cache_read_input_tokens], [31, 0]);
    const counts = [...recording('qwen3', 'messages-stream-cached').text.matchAll(/"input_tokens":(\d+)/g)];
    assert.deepEqual(
      counts.map((count) => count[1]),
      ['95', '31'],
    );
  });

  it('drops the attribution line at the head of a system prompt', () => {
    const attributed = body(messaged, 'qwen3', 'messages-attribution').usage.input_tokens;
    // "You are terse." in a system message of its own before the question.
    assert.equal(attributed, body(messaged, 'qwen3', 'messages').usage.input_tokens + 9);
    assert.equal(body(tokenized, 'qwen3', 'tokenize-chat-attribution').count, attributed);
  });

  it('answers with an error of its own kind for each way to be wrong', () => {
    const errors = [
      ['qwen3', 'chat-unknown-model', 404, 'NotFoundError'],
      ['qwen3', 'chat-invalid', 400, 'Bad Request'],
      ['qwen3', 'chat-continued-wrongly', 400, 'BadRequestError'],
      ['llama3.1', 'render-off', 403, 'PermissionDeniedError'],
    ] as const;
    for (const [family, name, status, type] of errors) {
      assert.equal(recording(family, name).status, status);
      assert.equal(body(failed, family, name).error.type, type);
    }
    assert.equal(recording('llama3.1', 'unauthorized').text, '{"error":"Unauthorized"}');
    assert.equal(recording('llama3.1', 'unauthorized-tokenize').status, 200);
    assert.equal(recording('llama3.1', 'tokenizer-info-off').text, '{"detail":"Not Found"}');
  });
});
