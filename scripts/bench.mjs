// Runs one bench by name, or lists them: `npm run bench -- chat-100-turns`.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/** Those that `tsconfig.bench.json` names. */
const compiled = new Set(['detectors']);

const [name, ...rest] = process.argv.slice(2);
const file = `bench/${name}.ts`;
if (name === undefined || !existsSync(file)) {
  const parts = new Set([
    'benched-engine.ts',
    'conversation.ts',
    'counting-relay.ts',
    'prompts.ts',
    'statistics.ts',
  ]);
  const names = readdirSync('bench').filter((entry) => entry.endsWith('.ts') && !parts.has(entry));
  console.log(
    `npm run bench -- NAME, where NAME is one of: ${names.map((entry) => entry.slice(0, -3)).join(', ')}`,
  );
  process.exitCode = name === undefined ? 0 : 2;
} else {
  const child = spawn(process.execPath, [...programOf(name), ...rest], { stdio: 'inherit' });
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

/**
 * What takes well under a microsecond a time is measured as it runs for users, compiled: tsx wraps each function that is made
 * while running, which is a sixth of that.
 */
function programOf(bench) {
  if (!compiled.has(bench)) return ['--import', 'tsx', `bench/${bench}.ts`];
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.bench.json'], {
    stdio: 'inherit',
  });
  return [`.cache/bench/bench/${bench}.js`];
}
