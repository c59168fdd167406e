// What inspection adds to the time to the first byte of a streamed chat, cold and warm, beside what one whole render and
// tokenization of the same prompt costs. Direct and proxied requests alternate; each has a conversation of its own, so
// that both find the engine's cache in the same state; each conversation has one cold turn and several warm ones.
// Run: npm run bench -- time-to-first-byte [rounds] [llama-server|vllm] [sizes that begin so]
import { proxy } from '../test/support/proxied-engine.ts';
import { benchedEngines, isBenched } from './benched-engine.ts';
import { chat, type Message } from './conversation.ts';
import { printTable, quantile } from './statistics.ts';

const [, , roundsAsked = '5', engineName = 'llama-server', wanted = ''] = process.argv;
const rounds = Number(roundsAsked);
if (!isBenched(engineName)) throw new Error(`no engine ${engineName}: llama-server or vllm`);
const warmTurns = 8;
/** The engine renders by the message, so a prompt of many short ones costs more than one of few long ones. */
const sizes = [
  { name: '1k, 16 messages', turns: 8, wordsPerTurn: 45 },
  { name: '8k, 80 messages', turns: 40, wordsPerTurn: 78 },
  { name: '30k, 40 messages', turns: 20, wordsPerTurn: 620 },
  { name: '30k, 200 messages', turns: 100, wordsPerTurn: 125 },
].filter(({ name }) => name.startsWith(wanted));

const engine = await benchedEngines[engineName]();
const { server } = engine;
const subjects = {
  before: await proxy(server.url, { INSPECTION_TIMING: 'before', INSPECTION_BUDGET_MS: '5000' }),
  alongside: await proxy(server.url, { INSPECTION_TIMING: 'alongside' }),
};

async function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Milliseconds from sending to the first byte of the streamed reply. */
async function firstByte(url: string, messages: readonly Message[]): Promise<number> {
  const started = performance.now();
  const reply = await post(`${url}/v1/chat/completions`, { messages, max_tokens: 1, stream: true });
  const reader = reply.body?.getReader();
  await reader?.read();
  const milliseconds = performance.now() - started;
  while ((await reader?.read())?.done === false);
  return milliseconds;
}

/** Milliseconds of what an inspection without memory would ask. */
async function whole(messages: readonly Message[]): Promise<number> {
  const started = performance.now();
  await engine.whole(messages);
  return performance.now() - started;
}

let seed = 1;
for (const subject of Object.values(subjects)) await firstByte(subject.url, chat(2, 10, (seed += 1)));

const rows: string[][] = [];
for (const { name, turns, wordsPerTurn } of sizes) {
  const samples = new Map<string, number[]>();
  const note = (key: string, milliseconds: number): void => {
    samples.set(key, [...(samples.get(key) ?? []), milliseconds]);
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const [way, url] of [
      ['direct', server.url],
      ['before', subjects.before.url],
      ['alongside', subjects.alongside.url],
    ] as const) {
      const messages = chat(turns + warmTurns, wordsPerTurn, (seed += 1));
      note(`${way} cold`, await firstByte(url, messages.slice(0, turns * 2)));
      for (let turn = turns + 1; turn <= turns + warmTurns; turn += 1) {
        note(`${way} warm`, await firstByte(url, messages.slice(0, turn * 2)));
      }
    }
    for (let turn = turns + 1; turn <= turns + warmTurns; turn += 1) {
      note('whole', await whole(chat(turn, wordsPerTurn, (seed += 1))));
    }
  }
  const of = (key: string, share: number): number => quantile(samples.get(key) ?? [], share);
  for (const state of ['cold', 'warm']) {
    for (const timing of ['before', 'alongside']) {
      const added = [0.5, 0.99].map(
        (share) => of(`${timing} ${state}`, share) - of(`direct ${state}`, share),
      );
      rows.push([
        `${name} ${state} ${timing}`,
        of(`direct ${state}`, 0.5).toFixed(1),
        ...added.map((milliseconds) => milliseconds.toFixed(1)),
        of('whole', 0.5).toFixed(1),
        ((added[0] ?? 0) / of('whole', 0.5)).toFixed(2),
      ]);
    }
  }
}
printTable(
  ['prompt, state, timing', 'direct p50 ms', 'added p50 ms', 'added p99 ms', 'whole p50 ms', 'added/whole'],
  rows,
);

for (const subject of Object.values(subjects)) await subject.close();
await server.stop();
