// What is said of lost calls costs no more for each of them in a long conversation than in a short one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentLost } from '../../../src/detectors/content-lost.ts';
import type { JsonObject } from '../../../src/exchange/request/request.ts';
import { buildExchange, factsOf } from '../../support/exchange-builder.ts';

const reading = {
  dropped: ['reasoning'],
  droppedFields: [],
  mergesInstructions: false,
  developerAsSystem: false,
  reasoningMembers: [],
};

function call(id: string, name: string, given: JsonObject): JsonObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(given) } };
}

describe('lost calls of a long conversation', () => {
  it('are told in time that grows with their number', () => {
    const messages: JsonObject[] = [];
    const turns: string[] = [];
    for (let index = 0; index < 16_000; index += 1) {
      const question = `Question number ${index} of very many?`;
      const city = `Lisbon, house ${index}`;
      const calls = [
        call('a', 'get_weather', { city }),
        call('b', 'get_time', { zone: `Europe at ${index}` }),
      ];
      messages.push(
        { role: 'user', content: question },
        { role: 'assistant', content: '', tool_calls: calls },
      );
      turns.push(
        `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n` +
          `{"name": "get_weather", "arguments": {"city": "${city}"}}<|im_end|>\n`,
      );
    }
    const text = `${turns.join('')}<|im_start|>assistant\n`;
    const facts = { ...factsOf.qwen3, reading };
    const exchange = buildExchange({ route: 'chat', body: { messages }, facts, text });
    const start = process.cpuUsage();
    const [finding] = contentLost.detect(exchange);
    const { user } = process.cpuUsage(start);
    assert.equal(finding?.cause, 'later-call');
    assert.ok(user < 2_000_000, `${user} µs`);
  });
});
