// Runs the corpus of real reports and prints recall and false alarms by kind; exit code 1 if anything is not as it should be.
import { corpusCases, type CorpusCase } from '../test/corpus/case.ts';
import { CorpusEngines, runCase, type CaseResult } from '../test/corpus/run-case.ts';
import { summaryOf, tableOf } from '../test/corpus/summary.ts';

const cases = corpusCases();
const engines = new CorpusEngines();
const results = new Map<CorpusCase, CaseResult>();
for (const one of cases) results.set(one, await runCase(one, engines));
await engines.stop();

console.log(tableOf(results));
for (const [{ id }, { missed, falseAlarms }] of results) {
  for (const { kind, cause } of missed) console.log(`${id}: missed ${kind} (${cause})`);
  for (const { kind, message } of falseAlarms) console.log(`${id}: false alarm ${kind}: ${message}`);
}
const clean = [...results.values()].every(
  ({ missed, falseAlarms }) => missed.length === 0 && falseAlarms.length === 0,
);
if (clean) console.log(`\n${summaryOf(cases)}.`);
else process.exitCode = 1;
