import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { compileMarkers, cutAtMarkers } from '../../src/tokens/markers.ts';
import { SegmentForecast, type NewText } from '../../src/tokens/segment-forecast.ts';

const markers = compileMarkers([
  { text: '<m>', id: 1 },
  { text: '</m>', id: 2 },
]);

interface Message {
  readonly role: string;
  readonly text: string;
}

const rendered = (messages: readonly Message[]): string =>
  `${messages.map(({ role, text }) => `<m>${role}\n${text}</m>\n`).join('')}<m>assistant\n`;

const newestOf = (messages: readonly Message[]): NewText[] => messages.slice(-4).toReversed();

function segmentsOf(text: string) {
  return cutAtMarkers(text, markers).map(({ start }) => ({ textStart: start }));
}

function taught(chats: readonly (readonly Message[])[], render = rendered): SegmentForecast {
  const forecast = new SegmentForecast();
  for (const messages of chats) {
    const text = render(messages);
    forecast.learn('model', newestOf(messages), text, segmentsOf(text));
  }
  return forecast;
}

const chat = (turns: number): Message[] =>
  Array.from({ length: 2 * turns - 1 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    text: `Text ${index}, of a message.`,
  }));

describe('SegmentForecast', () => {
  it('says the segments of a next turn that are framed as those of two turns before it', () => {
    const forecast = taught([chat(3), chat(4)]);
    const next = chat(5);
    const cut = new Set(cutAtMarkers(rendered(next), markers).map(({ text }) => text));
    const said = forecast.segments('model', newestOf(next));
    assert.deepEqual(said.slice(0, 2), [
      '<m>user\nText 8, of a message.',
      '<m>assistant\nText 7, of a message.',
    ]);
    for (const segment of said) assert.ok(cut.has(segment), segment);
  });

  it('says nothing of what it has seen once, or in another model', () => {
    assert.deepEqual(taught([chat(3)]).segments('model', newestOf(chat(4))), []);
    assert.deepEqual(taught([chat(3), chat(4)]).segments('other', newestOf(chat(5))), []);
  });

  it('says nothing where the frame differs from turn to turn', () => {
    let turn = 0;
    const dated = (messages: readonly Message[]): string => {
      turn += 1;
      return rendered(messages).replaceAll('user\n', `user, ${turn}\n`);
    };
    const forecast = taught([chat(3), chat(4), chat(5)], dated);
    const said = forecast.segments('model', newestOf(chat(6)));
    assert.ok(said.every((text) => !text.includes('user')));
  });

  it('learns nothing of texts that hold a marker, that are not there, or that a template may trim', () => {
    for (const text of ['a </m> in it', ' with space around it ', '']) {
      const messages = [...chat(2), { role: 'assistant', text }, { role: 'user', text }];
      const forecast = taught([messages, messages]);
      assert.ok(forecast.segments('model', newestOf(messages)).every((said) => !said.includes(text || '\0')));
    }
    const silent = taught([chat(3), chat(3)], () => '<m>assistant\n');
    assert.deepEqual(silent.segments('model', newestOf(chat(3))), []);
  });

  it('keeps no frame that may hold another message', () => {
    const plain = (messages: readonly Message[]): string =>
      messages
        .map(({ text }) => text)
        .join('\n')
        .repeat(3);
    assert.deepEqual(taught([chat(6), chat(6)], plain).segments('model', newestOf(chat(6))), []);
  });
});
