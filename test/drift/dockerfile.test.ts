// What the Dockerfile claims, as far as it can be read and tried without a container engine. scripts/check-image.mjs
// installs and starts what the image holds.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseListenAddress } from '../../src/config/addresses.ts';
import { findKey } from '../../src/config/keys.ts';
import { createAdmin } from '../../src/admin/admin.ts';
import { partsWith } from '../admin/admin-under-test.ts';

interface Instruction {
  readonly name: string;
  /** Continued lines joined. */
  readonly text: string;
}

interface Stage {
  readonly name: string | undefined;
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const packageJson = JSON.parse(read('package.json')) as { version: string; bin: { tokenweir: string } };
const { args, stages } = readDockerfile(read('Dockerfile'));
const last = stages.at(-1)!;

function readDockerfile(text: string): { args: ReadonlyMap<string, string>; stages: readonly Stage[] } {
  const instructions = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      assert.notEqual(name, '', `not an instruction: ${line}`);
      return { name, text: rest };
    });
  const args = new Map<string, string>();
  const stages: { name: string | undefined; image: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructions) {
    if (instruction.name === 'FROM') {
      const [image = '', , name] = instruction.text.split(/\s+/);
      stages.push({ name, image, instructions: [] });
    } else if (stages.length > 0) stages.at(-1)!.instructions.push(instruction);
    else if (instruction.name === 'ARG') args.set(...pair(instruction.text));
  }
  return { args, stages };
}

function pair(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

function textsOf(stage: Stage, name: string): readonly string[] {
  return stage.instructions.filter((instruction) => instruction.name === name).map(({ text }) => text);
}

const environment = new Map(
  textsOf(last, 'ENV')
    .flatMap((text) => text.split(/\s+/))
    .map(pair),
);

describe('the image', () => {
  it('is built and run on one current long-term Node', () => {
    assert.deepEqual(new Set(stages.map(({ image }) => image)), new Set(['${NODE_IMAGE}']));
    const [, major] = /^node:(\d+)-bookworm-slim$/.exec(args.get('NODE_IMAGE') ?? '') ?? [];
    assert.ok(Number(major) >= 24 && Number(major) % 2 === 0, args.get('NODE_IMAGE'));
  });

  it('holds packages that were installed without dev and optional ones', () => {
    const [from] = textsOf(last, 'COPY').flatMap((text) => {
      return /^--from=(\S+) \/app\/node_modules node_modules$/.exec(text)?.[1] ?? [];
    });
    const stage = stages.find(({ name }) => name === from);
    assert.deepEqual(textsOf(stage!, 'RUN'), ['npm ci --omit=dev --omit=optional --no-audit --no-fund']);
    assert.deepEqual(textsOf(last, 'RUN'), [], 'the last stage only copies');
  });

  it('runs as a user that is not root, told by number, after the last copy', () => {
    const names = last.instructions.map(({ name }) => name);
    assert.deepEqual(textsOf(last, 'USER'), ['1000:1000']);
    assert.ok(names.indexOf('USER') > names.lastIndexOf('COPY'));
  });

  it('starts the program that package.json names, with serve as the default command', () => {
    assert.deepEqual(textsOf(last, 'ENTRYPOINT').map(parsed), [['node', packageJson.bin.tokenweir]]);
    assert.deepEqual(textsOf(last, 'CMD').map(parsed), [['serve']]);
    assert.deepEqual(textsOf(last, 'STOPSIGNAL'), ['SIGTERM']);
  });

  it('listens on all interfaces, on the default ports, by variables that the configuration has', () => {
    for (const name of ['listen', 'admin.listen']) {
      const key = findKey(name)!;
      const given = parseListenAddress(environment.get(key.environmentName) ?? '');
      assert.deepEqual(given, { host: '0.0.0.0', port: defaultPort(name) }, key.environmentName);
    }
    const ports = ['listen', 'admin.listen'].map((name) => String(defaultPort(name)));
    assert.deepEqual(textsOf(last, 'EXPOSE'), [ports.join(' ')]);
  });

  it('copies only what exists and what .dockerignore lets through', () => {
    const [everything, ...allowed] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    assert.equal(everything, '*');
    const copied = stages
      .flatMap((stage) => textsOf(stage, 'COPY'))
      .filter((text) => !text.startsWith('--from='))
      .flatMap((text) => text.split(' ').slice(0, -1));
    for (const path of copied) assert.ok(existsSync(join(root, path)), path);
    assert.deepEqual(new Set(allowed), new Set(copied.map((path) => `!${path}`)));
  });

  it('is named by the version of the package', () => {
    assert.ok(read('Dockerfile').includes(`tokenweir:${packageJson.version}`));
  });
});

describe('the health check', () => {
  const [, command = ''] = /CMD (\[.*\])$/.exec(textsOf(last, 'HEALTHCHECK')[0] ?? '') ?? [];

  async function exitCode(adminListen: string): Promise<unknown> {
    const [program = '', ...rest] = parsed(command);
    const child = spawn(program === 'node' ? process.execPath : program, rest, {
      env: { TOKENWEIR_ADMIN_LISTEN: adminListen },
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as unknown[];
    return code;
  }

  it('passes while the admin port answers, wherever the environment says it is, and fails once it does not', async (t) => {
    const admin = createAdmin(partsWith());
    t.after(() => admin.close());
    await admin.listen({ host: '127.0.0.1', port: 0 });
    const listen = `0.0.0.0:${(admin.server.address() as AddressInfo).port}`;
    assert.equal(await exitCode(listen), 0);
    await admin.close();
    assert.equal(await exitCode(listen), 1);
  });
});

function parsed(json: string): readonly string[] {
  return JSON.parse(json) as string[];
}

function defaultPort(key: string): number | undefined {
  return parseListenAddress(String(findKey(key)?.defaultValue))?.port;
}
