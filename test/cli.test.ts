// The command line as a process: exit codes, suggestions, help, and where output goes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { commandLoaders } from '../src/commands/index.ts';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

let cwd = '';
before(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tokenweir-cli-'));
});
after(() => {
  rmSync(cwd, { recursive: true });
});

async function tokenweir(...argv: readonly string[]) {
  return tokenweirReading('', ...argv);
}

/** @param input what is written to its standard input */
async function tokenweirReading(input: string, ...argv: readonly string[]) {
  const loader = pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href;
  const child = spawn(process.execPath, ['--import', loader, join(root, 'src/cli.ts'), ...argv], {
    cwd,
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

describe('the command line', () => {
  it('prints the version', async () => {
    assert.deepEqual(await tokenweir('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
    assert.deepEqual(JSON.parse((await tokenweir('version', '--json')).stdout), {
      tokenweir: version,
      node: process.versions.node,
    });
  });

  it('lists every command in its help', async () => {
    const { code, stdout } = await tokenweir('--help');
    assert.equal(code, 0);
    for (const name of commandLoaders.keys()) assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
  });

  it('prints the options of a command', async () => {
    const { code, stdout } = await tokenweir('help', 'config');
    assert.equal(code, 0);
    assert.match(stdout, /^Usage: tokenweir config/);
    assert.match(stdout, /--log-level <level>/);
  });

  const wrongUsage = [
    { argv: [], stderr: /^Usage: tokenweir/ },
    { argv: ['confg'], stderr: /unknown command 'confg'\n\(Did you mean config\?\)/ },
    { argv: ['config', '--moed', 'strict'], stderr: /unknown option '--moed'\n\(Did you mean --mode\?\)/ },
    { argv: ['config', '--mode'], stderr: /'--mode <mode>' argument missing/ },
    { argv: ['check'], stderr: /missing required argument 'files'/ },
    { argv: ['version', 'extra'], stderr: /too many arguments/ },
    {
      argv: ['config', '--mode', 'strikt'],
      stderr: /^flag --mode: mode is "strikt"; .*Did you mean "strict"\?\n/,
    },
  ];
  for (const { argv, stderr } of wrongUsage) {
    it(`exits 2 and says why: tokenweir ${argv.join(' ')}`, async () => {
      const result = await tokenweir(...argv);
      assert.equal(result.code, 2);
      assert.equal(result.stdout, '');
      assert.match(result.stderr, stderr);
    });
  }

  it('hands flags to the command', async () => {
    const { code, stdout } = await tokenweir(
      'config',
      '--json',
      '--log-level',
      'warn',
      '--upstream',
      'http://a:1',
    );
    assert.equal(code, 0);
    const settings = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual(settings['log.level'], { value: 'warn', origin: 'flag --log-level' });
    assert.deepEqual(settings['upstream.url'], { value: 'http://a:1', origin: 'flag --upstream' });
  });

  it('hands operands and standard input to the command', async () => {
    const { code, stderr } = await tokenweirReading('{"prompt" 1}', 'check', 'none.json', '-');
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^none\.json: the file does not exist; .*\n-:1:11: not valid JSON: "1" stands here; allowed: ":"\n$/,
    );
  });
});
