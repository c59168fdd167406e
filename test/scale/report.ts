// The scored run: clean conversations and their faulty twins over all families, with seeds that nobody has seen.
// Run: npm run scale [-- CONVERSATIONS [SEED [llama-server|vllm]]]
import { randomInt } from 'node:crypto';
import { findingKinds } from '../../src/exchange/finding.ts';
import { engines } from './engines.ts';
import { runClean, runFaulty, type Judged } from './run.ts';
import { alarms, isFound } from './score.ts';

const conversations = Number(process.argv[2] ?? 2000);
const seed = Number(process.argv[3] ?? randomInt(1_000_000, 2_000_000_000));
const named = process.argv[4] ?? 'llama-server';
if (named !== 'llama-server' && named !== 'vllm') throw new Error(`no engine ${named}: llama-server or vllm`);
const engine = engines[named];
const { families } = engine;
const perFamily = Math.ceil(conversations / families.length);
const kinds = new Set<string>(findingKinds);

console.log(
  `seed ${seed}, ${named}: ${perFamily} conversations and as many faulty twins for each of ${families.length} families`,
);
const clean: Judged[] = [];
const faulty: Judged[] = [];
for (const [index, family] of families.entries()) {
  const first = seed + index * perFamily;
  const seeds = Array.from({ length: perFamily }, (_, at) => first + at);
  clean.push(...(await runClean(family, seeds, engine)));
  faulty.push(...(await runFaulty(family, seeds, kinds, engine)));
  console.log(`${family.name} done`);
}

const wrong = clean.flatMap(alarms);
console.log(`\nclean: ${clean.length} conversations, ${wrong.length} false alarms`);
for (const one of wrong) console.log(`  ${one}`);

const missed = faulty.filter((one) => !isFound(one));
console.log(`\nfaulty: ${faulty.length} conversations, ${missed.length} missed`);
const titleOf = ({ name, cause }: Judged): string => (cause === undefined ? name : `${name};${cause}`);
for (const kind of [...new Set(faulty.map(titleOf))].toSorted()) {
  const all = faulty.filter((one) => titleOf(one) === kind);
  const found = all.filter(isFound).length;
  console.log(
    `  ${kind.padEnd(40)} ${found} of ${all.length} (${((100 * found) / all.length).toFixed(1)} %)`,
  );
}
for (const one of missed) {
  const found = one.findings.map(({ kind, cause }) => `${kind};${cause ?? ''}`).join(', ');
  console.log(`  missed ${titleOf(one)}, ${one.family}, seed ${one.seed}: ${found}`);
}
process.exitCode = wrong.length > 0 || missed.length > faulty.length / 100 ? 1 : 0;
