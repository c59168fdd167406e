// The `openai` package's Responses through the proxy: its answers, and the histories that it keeps as items.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import type { FunctionTool, ResponseInput } from 'openai/resources/responses/responses';
import { clean, saidIn } from '../../support/exchanges.ts';
import { all, bothWays } from './both-ways.ts';
import { answeringEngine, calling, callingEngine, repeatable, roomForCall } from './calling.ts';

const qwen3 = await answeringEngine();
const caller = await callingEngine();
const { skip } = qwen3;

const short = { model: 'qwen3', instructions: 'You are terse.', max_output_tokens: 6, ...repeatable };
const input = 'What is 2 + 2?';

function client(baseURL: string): OpenAI {
  return new OpenAI({ baseURL, apiKey: 'none' });
}

describe('openai: responses', { skip }, () => {
  const ways = bothWays(qwen3);

  it('gets the same answers as from the engine, whole and in pieces', async () => {
    const whole = await ways.same((url) => client(url).responses.create({ ...short, input }));
    assert.equal(whole.usage?.input_tokens, 25);
    const events = await ways.samePieces(async (url) =>
      all(await client(url).responses.create({ ...short, input, stream: true })),
    );
    const text = events
      .map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''))
      .join('');
    assert.equal(text, whole.output_text);
    assert.equal(events.at(-1)?.type, 'response.completed');
    await ways.assertClean(2);
  });

  it('has the proxy\u2019s headers in reach with withResponse()', async () => {
    const { response } = await client(ways.baseUrl())
      .responses.create({ ...short, input })
      .withResponse();
    assert.deepEqual(saidIn(response.headers), clean);
    await ways.assertClean(3);
  });
});

describe('openai: responses that go on', { skip }, () => {
  const ways = bothWays(qwen3);

  it('are no break with the output appended as it came', async () => {
    await ways.same(async (url) => {
      const { responses } = client(url);
      const history: ResponseInput = [{ role: 'user', content: input }];
      for (const next of ['And times 3?', 'Minus 5?']) {
        const { output } = await responses.create({ ...short, input: history });
        history.push(...(output as ResponseInput), { role: 'user', content: next });
      }
      return responses.create({ ...short, input: history });
    });
    await ways.assertClean(3);
  });
});

const getWeather: FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'About a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', enum: ['Oslo', 'Rome'] } },
    required: ['city'],
  },
  strict: true,
};

describe('openai: responses with tools', { skip }, () => {
  const ways = bothWays(caller);

  it('gets the same call in pieces as whole, and its result is no break', async () => {
    const asking = {
      ...short,
      ...calling.preferences,
      max_output_tokens: roomForCall,
      tools: [getWeather],
      tool_choice: calling.choice,
    };
    const history = await ways.same(async (url) => {
      const { responses } = client(url);
      const history: ResponseInput = [{ role: 'user', content: input }];
      const streamed = async (): Promise<OpenAI.Responses.Response> => {
        const events = await all(await responses.create({ ...asking, input: history, stream: true }));
        const last = events.at(-1);
        assert.ok(last?.type === 'response.completed');
        return last.response;
      };
      for (const ask of [() => responses.create({ ...asking, input: history }), streamed]) {
        const { output } = await ask();
        const call = output.find((item) => item.type === 'function_call');
        assert.equal(call?.name, 'get_weather');
        assert.deepEqual(JSON.parse(call.arguments), { city: 'Oslo' });
        history.push(...(output as ResponseInput), {
          type: 'function_call_output',
          call_id: call.call_id,
          output: 'Rain.',
        });
      }
      await responses.create({ ...short, tools: [getWeather], input: history });
      return history;
    });
    assert.ok(history.length >= 5);
    await ways.assertClean(3);
  });
});
