import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutLargeMedia } from '../../src/engines/large-media.ts';
import { readRequest } from '../../src/exchange/request/request-reader.ts';
import type { ChatRequest } from '../../src/exchange/request/request.ts';

function chatOf(body: string): ChatRequest {
  const reading = readRequest(Buffer.from(body), 'chat');
  assert.ok(reading.readable && reading.request.kind === 'chat');
  return reading.request;
}

const image = (size: number, letter = 'A') => `data:image/png;base64,iVBOR${letter.repeat(size)}`;
const part = (url: string) => ({ type: 'image_url', image_url: { url } });
const body = (...urls: string[]) =>
  JSON.stringify({ messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, ...urls.map(part)] }] });

describe('withoutLargeMedia', () => {
  it('puts a tiny medium in the place of each large one and leaves the rest alone', () => {
    const small = image(100);
    const request = chatOf(body(image(100_000), small, image(80_000, 'B')));
    assert.deepEqual(
      JSON.parse(withoutLargeMedia(request).toString()),
      JSON.parse(body('data:image/png;base64,AA==', small, 'data:image/png;base64,AA==')),
    );
  });

  it("cuts the sources of Anthropic's images, in results of tools too", () => {
    const picture = (data: string): object => ({ type: 'image', source: { type: 'base64', data } });
    const messages = (data: string): string =>
      JSON.stringify({
        messages: [
          { role: 'user', content: [picture(data), { type: 'tool_result', content: [picture(data)] }] },
        ],
      });
    const reading = readRequest(Buffer.from(messages('A'.repeat(100_000))), 'messages');
    assert.ok(reading.readable && reading.request.kind === 'chat');
    assert.equal(withoutLargeMedia(reading.request).toString(), messages('AA=='));
  });

  it('takes the same image twice as two', () => {
    const request = chatOf(body(image(100_000), image(100_000)));
    assert.ok(withoutLargeMedia(request).length < 400);
  });

  it('leaves a body without large media as it is', () => {
    const request = chatOf(body(image(100)));
    assert.equal(withoutLargeMedia(request), request.body);
  });

  it('leaves alone what is written with escapes: its place in the bytes is not certain', () => {
    const request = chatOf(body(image(100_000)).replace('image/png', 'image\\/png'));
    assert.equal(withoutLargeMedia(request), request.body);
  });

  it('leaves a long text that only speaks of an image alone', () => {
    const request = chatOf(
      JSON.stringify({
        messages: [
          { role: 'user', content: [{ type: 'text', text: `see ${image(100_000)}` }, part(image(10))] },
        ],
      }),
    );
    assert.equal(withoutLargeMedia(request), request.body);
  });
});
