// A stream with a conversation's id goes on in the engine after its client has left, and can be taken up again: the engine's
// own doing, which is the same with and without the proxy.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { withBos } from '../support/byte-models.ts';
import { openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const engine = await realEngine(withBos.file);
const { skip } = engine;

async function begin(url: string, conversation: string, signal: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-conversation-id': conversation },
    body: JSON.stringify({
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 200,
      stream: true,
      temperature: 0,
      seed: 1,
      ignore_eos: true,
    }),
    signal,
  });
}

/** The texts of a stream's events, without what time makes of them. */
async function said(reply: Response): Promise<readonly unknown[]> {
  assert.equal(reply.status, 200);
  const events = (await reply.text()).split('\n').filter((line) => line.startsWith('data: {'));
  return events.map((line) => {
    const event = JSON.parse(line.slice('data: '.length)) as {
      choices: readonly { delta: object; finish_reason: string | null }[];
    };
    return event.choices.map(({ delta, finish_reason }) => ({ delta, finish_reason }));
  });
}

async function resumed(t: TestContext, url: string, conversation: string): Promise<readonly unknown[]> {
  const leaving = new AbortController();
  const reply = await begin(url, conversation, leaving.signal);
  assert.equal(reply.headers.get('content-type'), 'text/event-stream');
  leaving.abort();
  const again = await fetch(`${url}/v1/stream?conv_id=${conversation}&from=0`);
  const events = await said(again);
  const ended = await fetch(`${url}/v1/stream?conv_id=${conversation}`, { method: 'DELETE' });
  t.diagnostic(`${events.length} events`);
  assert.equal(ended.status, 204);
  return events;
}

describe('a stream with a conversation id', { skip }, () => {
  it('is whole when it is taken up again, though its client has left', async (t) => {
    const { url } = await engine.server();
    const proxied = await openProxy(t, url);
    const whole = await said(await begin(url, 'whole', new AbortController().signal));
    const direct = await resumed(t, url, 'direct');
    const through = await resumed(t, proxied.url, 'through');
    assert.ok(whole.length > 100);
    assert.deepEqual(direct, whole);
    assert.deepEqual(through, whole);
  });
});
