// `tokenweir config` through its context: what it prints where, and with which exit code.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { command } from '../../src/commands/config.ts';
import type { CommandContext } from '../../src/commands/command.ts';

const invalidFolder = join(import.meta.dirname, '../config/invalid');

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(flags: CommandContext['flags'], env: CommandContext['env'] = {}, cwd = '/'): Promise<Run> {
  let stdout = '';
  let stderr = '';
  const code = await command.run({
    flags,
    env,
    cwd,
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    signal: new AbortController().signal,
    onHangup: () => assert.fail('config does not listen for SIGHUP'),
    onUnhandledRejection: () => assert.fail('config leaves rejections to Node'),
  });
  return { code, stdout, stderr };
}

/** The cells of a key's row. */
function row(table: string, key: string): readonly string[] {
  const line = table.split('\n').find((candidate) => candidate.startsWith(`${key} `)) ?? '';
  return line.split(/ {2,}/);
}

const secretEnv = {
  TOKENWEIR_UPSTREAM_API_KEY: 'hunter2',
  TOKENWEIR_ADMIN_TOKEN: 'hunter2',
  TOKENWEIR_CLIENTS: JSON.stringify({
    a: { header: { name: 'x-key', value: 'hunter2' }, keyHash: '0'.repeat(64) },
  }),
};

describe('tokenweir config', () => {
  it('prints every key with value and origin in columns that line up', async () => {
    const { code, stdout } = await run({ mode: 'strict' }, { TOKENWEIR_LIMITS_REQUEST_BYTES: '2048' });
    assert.equal(code, 0);
    assert.deepEqual(row(stdout, 'KEY'), ['KEY', 'VALUE', 'ORIGIN']);
    assert.deepEqual(row(stdout, 'mode'), ['mode', 'strict', 'flag --mode']);
    assert.deepEqual(row(stdout, 'limits.requestBytes').slice(1), [
      '2KiB',
      'env TOKENWEIR_LIMITS_REQUEST_BYTES',
    ]);
    assert.deepEqual(row(stdout, 'upstream.url').slice(1), ['(unset)', 'default']);
    const lines = stdout.trimEnd().split('\n');
    const originColumn = lines[0]?.indexOf('ORIGIN') ?? -1;
    for (const line of lines) assert.match(line.slice(originColumn - 2), /^ {2}\S/, line);
  });

  it('shows the action that the mode brings where none is configured', async () => {
    const strict = await run({ mode: 'strict' });
    assert.deepEqual(row(strict.stdout, 'detectors.double-bos.action').slice(1), [
      'reject',
      'default of mode strict',
    ]);
    const observe = await run({});
    assert.deepEqual(row(observe.stdout, 'detectors.double-bos.action').slice(1), [
      'pass',
      'default of mode observe',
    ]);
  });

  for (const flags of [{}, { json: true }]) {
    it(`hides secrets ${'json' in flags ? 'in JSON' : 'in the table'}`, async () => {
      const { code, stdout, stderr } = await run(flags, secretEnv);
      assert.equal(code, 0);
      assert.doesNotMatch(stdout + stderr, /hunter2|0{64}/);
      assert.match(stdout, /\(hidden\)/);
      assert.match(stdout, /x-key/);
    });
  }

  it('prints JSON of values and origins', async () => {
    const { stdout } = await run({ json: true, upstream: 'unix:/run/a.sock' });
    const settings = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual(settings['upstream.url'], { value: 'unix:/run/a.sock', origin: 'flag --upstream' });
    assert.deepEqual(settings['upstream.ca'], { value: null, origin: 'default' });
    assert.deepEqual(settings['limits.workerBytes'], { value: 1_048_576, origin: 'default' });
  });

  it('warns about variables that no key has, apart from the output', async () => {
    const { code, stdout, stderr } = await run({}, { TOKENWEIR_MODES: 'x' });
    assert.equal(code, 0);
    assert.match(stderr, /^env TOKENWEIR_MODES: .* Did you mean TOKENWEIR_MODE\?\n$/);
    assert.doesNotMatch(stdout, /MODES/);
  });

  it('--check prints every mistake of the file and exits 2, whatever the environment says', async () => {
    const result = await run({ check: 'several-mistakes.yaml' }, { TOKENWEIR_MODE: 'wrong' }, invalidFolder);
    assert.equal(result.code, 2);
    assert.equal(result.stdout, '');
    assert.match(
      result.stderr,
      /^(several-mistakes\.yaml:\d+:\d+: .+\n){4}4 mistakes in the configuration\n$/,
    );
  });

  it('--check --json prints the mistakes as values', async () => {
    const { code, stdout } = await run({ check: 'misspelled-choice.yaml', json: true }, {}, invalidFolder);
    assert.equal(code, 2);
    assert.deepEqual(JSON.parse(stdout), {
      valid: false,
      errors: [
        {
          code: 'CONFIG_INVALID_VALUE',
          where: 'misspelled-choice.yaml:2:7',
          key: 'mode',
          message: 'mode is "strikt"; allowed: "observe" or "strict". Did you mean "strict"?',
        },
      ],
    });
  });

  it('--check of a valid file says so', async () => {
    const root = join(import.meta.dirname, '../..');
    assert.deepEqual(await run({ check: 'proxy.yaml' }, {}, root), {
      code: 0,
      stdout: 'proxy.yaml: valid\n',
      stderr: '',
    });
  });

  it('--schema prints the JSON Schema', async () => {
    const { stdout } = await run({ schema: true });
    assert.equal((JSON.parse(stdout) as { title: string }).title, 'tokenweir configuration');
  });
});
