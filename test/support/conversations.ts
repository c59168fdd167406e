// The conversations of the numbers that a test through the proxy must show; shared by all tests that need them.
import type { JsonObject } from '../../src/exchange/request/request.ts';

export const Q = [
  { role: 'system', content: 'You are terse.' },
  { role: 'user', content: 'What is 2 + 2?' },
];

/** Three turns: what each request of the conversation sends. */
export const S = [
  Q,
  [...Q, { role: 'assistant', content: '4.' }, { role: 'user', content: 'And times 3?' }],
  [
    ...Q,
    { role: 'assistant', content: '4.' },
    { role: 'user', content: 'And times 3?' },
    { role: 'assistant', content: '12.' },
    { role: 'user', content: 'Minus 5?' },
  ],
];

// An alias, for an interface would not pass as JSON: it has no index signature.
// eslint-disable-next-line @typescript-eslint/consistent-type-definitions
type CityTool = {
  type: 'function';
  function: { name: string; description: string; parameters: JsonObject };
};

function cityTool(name: string, description: string): CityTool {
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: {
        type: 'object',
        properties: { city: { type: 'string', description: 'The city name.' } },
        required: ['city'],
      },
    },
  };
}

export const getWeather = cityTool('get_weather', 'Get the current weather for a city.');
export const getTime = cityTool('get_time', 'Get the local time in a city.');
