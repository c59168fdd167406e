// Ids that vLLM is asked for on the operator's behalf: which requests ask, and that nothing of it is left in the recorded
// replies. The same through the proxy and a real server is in test/vllm/request-ids.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { askingForIds, withoutIds } from '../../../src/engines/vllm/request-ids.ts';
import { createVllmReplyReader } from '../../../src/engines/vllm/reply.ts';
import { applyEdits } from '../../../src/exchange/edits.ts';
import { createReplyMender } from '../../../src/exchange/reply/reply-mender.ts';
import type { RequestKind } from '../../../src/exchange/request/request-reader.ts';
import { recording } from '../../vllm/recordings/recording.ts';
import { typed } from '../engine-under-test.ts';

const chat = '{"messages":[{"role":"user","content":"Hi"}],"seed":12345678901234567890 }';

function sent(kind: RequestKind, body: string): string | undefined {
  const request = typed(kind, body);
  const edits = askingForIds(request)?.edits;
  return edits && applyEdits(request.body, edits).toString();
}

describe('a request for ids', () => {
  it('adds one field to chats and texts, and changes no other byte', () => {
    assert.equal(sent('chat', chat), chat.replace(' }', ' ,"return_token_ids":true}'));
    assert.equal(sent('completion', '{"prompt":"Hi"}\n'), '{"prompt":"Hi","return_token_ids":true}\n');
  });

  for (const [name, kind, body] of [
    ['a client that asks itself', 'chat', chat.replace('}]', '}],"return_token_ids":true')],
    ['a client that wants none', 'completion', '{"prompt":"Hi","return_token_ids":false}'],
    [
      'an echo, whose text the engine would then make of the ids',
      'completion',
      '{"prompt":"Hi","echo":true}',
    ],
    ['a route without such a field', 'messages', '{"messages":[{"role":"user","content":"Hi"}]}'],
    ['another one', 'responses', '{"input":"Hi"}'],
  ] as const) {
    it(`is not made for ${name}`, () => {
      assert.equal(sent(kind, body), undefined);
    });
  }
});

/** What differs between two replies to the same request. */
const settled = (text: string): string =>
  text.replace(/"id":"[^"]*"/, '"id":""').replace(/"created":\d+/, '"created":0');

describe('a reply with ids', () => {
  for (const [asked, unasked] of [
    ['chat-ids', 'chat'],
    ['chat-tools', 'chat-tools'],
  ] as const) {
    it(`is what it would have been without: ${asked}`, () => {
      const mended = withoutIds(Buffer.from(recording('qwen3', asked).text))?.toString() ?? '';
      assert.doesNotMatch(mended, /token_ids":\[/);
      if (asked !== unasked) assert.equal(settled(mended), settled(recording('qwen3', unasked).text));
    });
  }

  for (const name of [
    ...['completion', 'completion-list', 'completion-n2', 'completion-stream', 'completion-n2-stream'],
    ...['chat-stream-usage', 'chat-n2-stream'],
  ]) {
    it(`has none left and all else as it was: ${name}`, () => {
      const { text, headers } = recording('qwen3', name);
      const mender = createReplyMender(headers['content-type'] ?? '', withoutIds);
      const mended = mender.push(Buffer.from(text)).toString() + mender.end().toString();
      assert.equal(mended, text.replaceAll(/("(?:prompt_)?token_ids":)\[[^\]]*\]/g, '$1null'));
      assert.notEqual(mended, text);
    });
  }

  it('is left alone where it has none', () => {
    const { text } = recording('qwen3', 'chat');
    assert.equal(withoutIds(Buffer.from(text))?.toString(), text);
  });

  it('loses the chunk that only brought ids, and no other', () => {
    const chunk = (choice: string): Buffer => Buffer.from(`{"choices":[{"index":0,${choice}}]}`);
    const end = '"logprobs":null,"finish_reason":null,"token_ids":[5]';
    assert.equal(withoutIds(chunk(`"delta":{},${end}`)), undefined);
    for (const kept of [
      `"delta":{"content":""},${end}`,
      `"delta":{},${end.replace('finish_reason":null', 'finish_reason":"stop"')}`,
      `"delta":{},${end.replace('[5]', 'null')}`,
    ]) {
      assert.ok(withoutIds(chunk(kept)) !== undefined, kept);
    }
  });

  it('is read: ids of the prompt, and those generated', () => {
    for (const name of ['chat-ids', 'chat-stream-usage', 'completion-stream', 'completion']) {
      const { text, status, headers, path } = recording('qwen3', name);
      const request = typed(path.endsWith('chat/completions') ? 'chat' : 'completion', recordedBody(name));
      const reader = createVllmReplyReader(request, { retainedBytes: 1 << 20 });
      reader.start(status, headers['content-type'] ?? '', '');
      reader.push(Buffer.from(text));
      const [choice] = reader.end(false).choices;
      assert.equal(choice?.promptIds?.length, choice?.promptTokens, name);
      assert.ok(choice?.promptIds !== undefined, name);
      assert.equal(choice.generatedIds?.length, 2, name);
    }
  });
});

function recordedBody(name: string): object {
  return recording('qwen3', name).sent ?? {};
}
