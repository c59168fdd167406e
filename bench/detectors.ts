// What the detectors cost: milliseconds per MB of prompt, by kind and in all, on texts that give them the most work, and
// that twice the prompt costs twice as much. They are asked in their order about an exchange that no one has looked at, so
// what several of them share is paid by the first. Processor time, so that other work on the machine does not count.
// And how long they hold the event loop at a time: all of them in one turn, and in the turns in which a request has them asked.
// Run: npm run bench -- detectors [rounds]
import { detectors } from '../src/detectors/index.ts';
import { runDetectors, runDetectorsInTurns } from '../src/detectors/run.ts';
import type { Exchange } from '../src/exchange/exchange.ts';
import type { SessionMatch } from '../src/exchange/session-match.ts';
import { EventLoopShare } from '../src/pipeline/event-loop-share.ts';
import { RequestDigester } from '../src/sessions/digest.ts';
import { buildExchange, buildReply } from '../test/support/exchange-builder.ts';
import { promptShapes, type PromptShape } from './prompts.ts';
import { median, printTable } from './statistics.ts';

const MB = 1_000_000;
const sizes = [1, 4, 8];
/** So many MB are read until the compiler has seen all paths; a proxy that has run for a minute has. */
const warmUp = 100;
const rounds = Number(process.argv[2] ?? 7);
const digester = new RequestDigester(Buffer.from('bench'));

/** The exchange of a turn whose system text is not that of the turn before it: then there is a break to be named. */
function exchangeOf(shape: PromptShape, size: number): Exchange {
  const built = buildExchange(shape.make(size));
  const [read] = built.prompts;
  if (read?.known !== true) throw new Error(`${shape.name}: no ids`);
  // As the engine's answer gives it: one flat string.
  const text = JSON.parse(JSON.stringify(read.text)) as string;
  const session = built.request?.kind === 'chat' ? { session: brokenSession(built, text, read.ids) } : {};
  const reply = buildReply({ choices: [{ promptTokens: read.ids.length, completionTokens: 9 }] });
  return { ...built, prompts: [{ ...read, text }], ...session, reply };
}

function brokenSession({ request }: Exchange, text: string, ids: Uint32Array): SessionMatch {
  if (request?.kind !== 'chat') throw new Error('only a chat has a digest');
  const digest = digester.chat(request, { rendered: text });
  const messages = request.messages.map((message, index) =>
    index > 0 ? message : { ...message, value: { ...message.value, content: 'It is 12:30.' } },
  );
  const earlier = digester.chat({ ...request, messages });
  return {
    session: 's',
    keySource: 'ancestor',
    sequence: 1,
    ancestor: {
      ids,
      generated: new Uint32Array(),
      digest: earlier,
      tail: { generationPrompt: 3, think: 0 },
      sequence: 0,
    },
    commonMessages: Math.max(1, digest.messages.length - 1),
    commonTokens: 12,
    digest,
    branches: false,
  };
}

/** The same exchange, of which nothing is remembered. */
function unseen(exchange: Exchange): Exchange {
  const { request, prompts } = exchange;
  return {
    ...exchange,
    ...(request !== undefined && { request: { ...request } }),
    prompts: prompts.map((read) => ({ ...read })),
  };
}

type Costs = ReadonlyMap<string, number>;

/** Milliseconds of each kind, the median of the rounds, and of all together. */
function measure(
  exchange: Exchange,
  size: number,
): {
  readonly kinds: Costs;
  readonly sum: number;
  readonly found: string[];
} {
  const samples = new Map<string, number[]>(detectors.map(({ kind }) => [kind, []]));
  const sums: number[] = [];
  const found = new Set<string>();
  for (let round = -Math.ceil(warmUp / size); round < rounds; round += 1) {
    const fresh = unseen(exchange);
    let sum = 0;
    for (const detector of detectors) {
      const { kind, stage } = detector;
      const start = process.cpuUsage();
      const { findings, skipped } = runDetectors(fresh, {
        detectors: [detector],
        stage,
        onFailure: (_kind, error) => {
          throw error;
        },
      });
      const { user, system } = process.cpuUsage(start);
      const elapsed = (user + system) / 1000;
      if (findings.length > 0) found.add(kind);
      if (skipped.length > 0 && kind !== 'prefix-break') throw new Error(`${kind} was not asked`);
      sum += elapsed;
      if (round >= 0) samples.get(kind)?.push(elapsed);
    }
    if (round >= 0) sums.push(sum);
  }
  return {
    kinds: new Map([...samples].map(([kind, all]) => [kind, median(all)])),
    sum: median(sums),
    found: [...found],
  };
}

/** Milliseconds of the longest turn of the event loop, the median of the rounds; those of requests, which are what may be long. */
async function longestTurn(exchange: Exchange): Promise<number> {
  const longest: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    let most = 0;
    let start = process.cpuUsage();
    const noteTurn = (): void => {
      const { user, system } = process.cpuUsage(start);
      most = Math.max(most, (user + system) / 1000);
    };
    const share = new EventLoopShare(() => performance.now());
    await runDetectorsInTurns(unseen(exchange), { detectors, stage: 'request' }, async () => {
      const others = share.pause();
      if (others === undefined) return;
      noteTurn();
      await others;
      start = process.cpuUsage();
    });
    noteTurn();
    longest.push(most);
  }
  return median(longest);
}

const perMB = (milliseconds: number, exchange: Exchange): number => {
  const [read] = exchange.prompts;
  return (milliseconds * MB) / (read?.known === true ? Buffer.byteLength(read.text ?? '') : Number.NaN);
};

const byKind = new Map<string, string[]>(detectors.map(({ kind }) => [kind, []]));
const bySize: string[][] = [];
const turns: string[][] = [];
let worst = 0;
for (const shape of promptShapes) {
  const row: number[] = [];
  let found: string[] = [];
  for (const size of sizes) {
    const exchange = exchangeOf(shape, size * MB);
    const measured = measure(exchange, size);
    row.push(perMB(measured.sum, exchange));
    found = measured.found;
    if (size === sizes.at(-1)) {
      const shared = await longestTurn(exchange);
      turns.push([shape.name, measured.sum.toFixed(0), shared.toFixed(0)]);
    }
    if (size !== 4) continue;
    for (const [kind, cost] of measured.kinds) byKind.get(kind)?.push(perMB(cost, exchange).toFixed(2));
  }
  worst = Math.max(worst, ...row);
  bySize.push([shape.name, ...row.map((sum) => sum.toFixed(2)), found.join(', ')]);
}
console.log('milliseconds per MB of prompt, 4 MB\n');
printTable(
  ['kind', ...promptShapes.map(({ name }) => name)],
  [...byKind].map(([kind, cells]) => [kind, ...cells]),
);
console.log('\nall kinds together\n');
printTable(['prompt', ...sizes.map((size) => `${size} MB`), 'found in it'], bySize);
console.log(`\nthe longest turn of the event loop, ${sizes.at(-1)} MB, milliseconds\n`);
printTable(['prompt', 'all in one turn', 'as asked'], turns);
console.log(`\nthe largest sum: ${worst.toFixed(2)} ms per MB`);
