// Conversations that say the same more than once ("continue", "ok"): an edit far back stays an edit, a branch a branch.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/exchange/request/request.ts';
import { assistant, Conversations, getWeather, system, user } from '../support/qwen3-sessions.ts';

const call = (city: string): JsonObject => ({
  role: 'assistant',
  content: '',
  tool_calls: [
    {
      id: `call-${city}`,
      type: 'function',
      function: { name: 'get_weather', arguments: JSON.stringify({ city }) },
    },
  ],
});
const result = (content: string): JsonObject => ({ role: 'tool', content });
const ask = user('Water the plants in every city.');
const more = user('continue');

interface Pair {
  readonly name: string;
  readonly before: readonly JsonObject[];
  readonly after: readonly JsonObject[];
}

const edits: readonly Pair[] = [
  {
    name: 'an early call that changed, among results that are equal',
    before: [ask, call('Dresden'), result('ok'), call('Bonn'), result('ok')],
    after: [ask, call('Pirna'), result('ok'), call('Bonn'), result('ok'), call('Ulm'), result('ok')],
  },
  {
    name: 'the first of equal results, which changed',
    before: [ask, call('Dresden'), result('ok'), call('Bonn'), result('ok')],
    after: [ask, call('Dresden'), result('cut'), call('Bonn'), result('ok'), call('Ulm'), result('ok')],
  },
  {
    name: 'two results that changed, behind them a call that did not',
    before: [ask, call('Dresden'), result('21'), call('Bonn'), result('18'), call('Jena'), result('ok')],
    after: [
      ...[ask, call('Dresden'), result('cut'), call('Bonn'), result('cut'), call('Jena'), result('ok')],
      ...[call('Ulm'), result('ok')],
    ],
  },
  {
    name: 'an answer that changed, in front of the first of equal questions',
    before: [ask, assistant('One'), more],
    after: [ask, assistant('One.'), more, assistant('Two'), more],
  },
  {
    name: 'an answer that changed, among equal questions',
    before: [ask, assistant('One'), more, assistant('Two'), more],
    after: [ask, assistant('One.'), more, assistant('Two'), more, assistant('Three'), more],
  },
  {
    name: 'a message that was taken out, among equal questions',
    before: [ask, assistant('One'), more, assistant('Two'), more, assistant('Three'), more],
    after: [
      ...[ask, more, assistant('Two'), more, assistant('Three'), more, assistant('Four'), more],
      ...[assistant('Five'), more],
    ],
  },
];

const branches: readonly Pair[] = [
  {
    name: 'as long as before, with one question changed among answers that are equal',
    before: [ask, assistant('ok'), user('Dresden first.'), assistant('ok'), more, assistant('ok'), more],
    after: [ask, assistant('ok'), user('Pirna first.'), assistant('ok'), more, assistant('ok'), more],
  },
  {
    name: 'other calls with equal results',
    before: [ask, call('Dresden'), result('ok'), call('Bonn'), result('ok')],
    after: [ask, call('Pirna'), result('ok'), call('Jena'), result('ok'), call('Ulm'), result('ok')],
  },
  {
    name: 'other answers to equal questions',
    before: [ask, assistant('One'), more, assistant('Two'), more],
    after: [ask, assistant('A'), more, assistant('B'), more, assistant('C'), more],
  },
  {
    name: 'other answers to fewer of the equal questions',
    before: [ask, assistant('One'), more, assistant('Two'), more],
    after: [ask, assistant('A'), more, assistant('B'), user('And now?'), assistant('C'), user('Stop.')],
  },
  {
    name: 'another way after the first answer, with the newest question at the end again',
    before: [ask, assistant('One'), user('Why?'), assistant('Because.'), more],
    after: [ask, assistant('One'), user('How?'), assistant('So.'), user('When?'), assistant('Now.'), more],
  },
];

async function causesOf({ before, after }: Pair, key?: string): Promise<readonly (string | undefined)[]> {
  const conversations = new Conversations();
  const options = key === undefined ? {} : { key };
  await conversations.chat({ messages: [system, ...before], tools: [getWeather] }, options);
  const visit = await conversations.chat({ messages: [system, ...after], tools: [getWeather] }, options);
  assert.equal(visit.exchange.session!.ancestor === undefined, false, 'there is an ancestor');
  return visit.findings.filter(({ severity }) => severity !== 'info').map(({ cause }) => cause);
}

describe('messages that are said more than once', () => {
  for (const key of [undefined, 'one']) {
    const where = key === undefined ? '' : ', in a session that the client named';
    for (const pair of edits) {
      it(`hide no edit: ${pair.name}${where}`, async () => {
        assert.equal((await causesOf(pair, key)).length, 1);
      });
    }
    for (const pair of branches) {
      it(`make no edit of a branch: ${pair.name}${where}`, async () => {
        assert.deepEqual(await causesOf(pair, key), []);
      });
    }
  }

  it('are looked for in time that grows with the conversation', async () => {
    const turns = (count: number, changed: string): JsonObject[] =>
      Array.from({ length: count }, (_, index) => (index === 0 ? assistant(changed) : more));
    const time = async (count: number): Promise<number> => {
      const conversations = new Conversations();
      await conversations.chat({ messages: [ask, ...turns(count, 'One')] });
      const visit = await conversations.chat({ messages: [ask, ...turns(count + 2, 'Two')] });
      const start = process.cpuUsage();
      for (let repeat = 0; repeat < 20; repeat += 1) conversations.store.lookup(visit.query);
      return process.cpuUsage(start).user;
    };
    await time(200);
    const [short, long] = [await time(200), await time(1600)];
    assert.ok(long < short * 8 * 4, `${short} µs for 200 equal messages, ${long} µs for 1600`);
  });
});
