// What a warm turn's questions to the engine cost beside one whole rendering and tokenization of the same prompt: the ratio
// is of times measured in turns, so that a busy machine slows both. Nothing is generated.
// Run: npm run bench -- warm-inspection [rounds] [llama-server|vllm]
import { LlamaServerEngine } from '../src/engines/llama-server.ts';
import { VllmEngine } from '../src/engines/vllm.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, openAdapter, typed } from '../test/engines/engine-under-test.ts';
import { benchedEngines, isBenched } from './benched-engine.ts';
import { chat, type Message } from './conversation.ts';
import { printTable, quantile } from './statistics.ts';

const [, , roundsAsked = '3', engineName = 'llama-server'] = process.argv;
const rounds = Number(roundsAsked);
if (!isBenched(engineName)) throw new Error(`no engine ${engineName}: llama-server or vllm`);

const sizes = [
  { name: '8k, 80 messages', turns: 40, wordsPerTurn: 78 },
  { name: '30k, 40 messages', turns: 20, wordsPerTurn: 620 },
  { name: '30k, 200 messages', turns: 100, wordsPerTurn: 125 },
];
/** The first turns of a conversation are not warm yet: its texts are asked for one turn, and known the next. */
const coldTurns = 2;
const warmTurns = 8;

const { server, whole } = await benchedEngines[engineName]();
const adapter = engineName === 'vllm' ? VllmEngine : LlamaServerEngine;
const { engine, answers } = openAdapter(server.url, { adapter, timeoutMs: 60_000 });

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** A turn's ids as the pipeline has them read, without what only a test does to compare them. */
async function inspect(messages: readonly Message[]): Promise<void> {
  const read = await ask(engine, typed('chat', { messages }));
  if ('reason' in read || read.prompts[0]?.known !== true) throw new Error('ids are not known');
}

/** What is asked beside a request comes after it: it must not slow what is measured next. */
async function untilQuiet(): Promise<void> {
  engine.noteReply(200);
  for (let before = -1; before < answers.length;) {
    before = answers.length;
    await sleep(100);
  }
}

let seed = 1;
const rows: string[][] = [];
for (const { name, turns, wordsPerTurn } of sizes) {
  const read: number[] = [];
  const wholly: number[] = [];
  let questions = 0;
  let beside = 0;
  for (let round = 0; round < rounds; round += 1) {
    seed += 1;
    const all = chat(turns + coldTurns + warmTurns, wordsPerTurn, seed);
    for (let turn = turns; turn < turns + coldTurns + warmTurns; turn += 1) {
      const messages = all.slice(0, turn * 2);
      const before = answers.length;
      const milliseconds = await timed(() => inspect(messages));
      const asked = answers.length - before;
      await untilQuiet();
      const compared = await timed(() => whole(messages));
      if (turn < turns + coldTurns) continue;
      read.push(milliseconds);
      wholly.push(compared);
      questions += asked;
      beside += answers.length - before - asked;
    }
  }
  const [ours, theirs] = [quantile(read, 0.5), quantile(wholly, 0.5)];
  rows.push([
    name,
    ours.toFixed(1),
    theirs.toFixed(1),
    (ours / theirs).toFixed(2),
    (questions / read.length).toFixed(1),
    (beside / read.length).toFixed(1),
  ]);
}
printTable(['prompt', 'warm p50 ms', 'whole p50 ms', 'warm/whole', 'questions a turn', 'beside it'], rows);

await engine.close();
await server.stop();
