// Runs every generator of committed files. `--check` fails if one of the files was not what its generator writes, and
// leaves the new text in place: commit it. Needs no git, so that uncommitted work does not count as drift.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Each generator with the files that it writes. */
const generators = {
  'scripts/build-demo-tokenizer.ts': ['src/demo/tokenizer.json'],
  'scripts/generate-config.ts': ['config/tokenweir.schema.json', 'docs/configuration.md'],
  'scripts/generate-metrics-docs.ts': ['docs/metrics.md'],
};

let drifted = 0;
for (const [script, files] of Object.entries(generators)) {
  const before = files.map((file) => readFileSync(file, 'utf8'));
  execFileSync(process.execPath, ['--import', 'tsx', script], { stdio: 'inherit' });
  for (const [index, file] of files.entries()) {
    const changed = readFileSync(file, 'utf8') !== before[index];
    if (changed) drifted += 1;
    console.log(`${changed ? 'written  ' : 'unchanged'} ${file} (${script})`);
  }
}
if (drifted > 0 && process.argv.includes('--check')) {
  console.error(
    `${drifted} generated file(s) had drifted; \`npm run generate\` has brought them up to date: commit them.`,
  );
  process.exitCode = 1;
}
