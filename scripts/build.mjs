// Compiles src to dist and copies the data files that the compiler leaves behind.
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, existsSync, chmodSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
if (existsSync('src/demo/tokenizer.json')) cpSync('src/demo/tokenizer.json', 'dist/demo/tokenizer.json');
chmodSync('dist/cli.js', 0o755);
