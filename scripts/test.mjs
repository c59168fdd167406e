// Runs every test file with node's own runner through tsx. `npm test -- test/tokens` narrows it to a folder or file.
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const roots = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'));

function testFiles(path) {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => {
      const child = join(path, name);
      if (statSync(child).isDirectory()) return testFiles(child);
      return name.endsWith('.test.ts') ? [child] : [];
    });
}

const files = (roots.length > 0 ? roots : ['test']).flatMap(testFiles);
const defaults = ['--test-timeout=180000', '--test-reporter=spec'].filter((flag) => {
  const [name] = flag.split('=');
  return !flags.some((given) => given.startsWith(name));
});
const child = spawn(process.execPath, ['--import', 'tsx', '--test', ...defaults, ...flags, ...files], {
  stdio: 'inherit',
});
child.on('exit', (code, signal) => {
  process.exitCode = signal ? 1 : (code ?? 1);
});
