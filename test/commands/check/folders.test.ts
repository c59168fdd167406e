// What a folder stands for: the files in it, each once, and what of it can't be read.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readFiles } from '../../../src/commands/check-files.ts';
import { cleanRequest, openCheckFolder } from '../../support/check-folder.ts';

const { folder, file } = openCheckFolder();
const read = (...names: readonly string[]) => readFiles(names, { cwd: folder }, undefined);
const sourcesIn = async (name: string) => (await read(name)).inputs.map(({ source }) => source);

/** As somebody whom rights hold: they hold nobody who is root. */
async function withoutRights<Result>(ask: () => Promise<Result>): Promise<Result> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await ask();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe('a folder', () => {
  it('stands for its files in alphabetical order, those behind links too', async () => {
    for (const name of ['all/b.json', 'all/a/2.ndjson', 'all/a/1.jsonl', 'other/c.json'])
      file(name, cleanRequest);
    file('all/notes.txt', 'none');
    symlinkSync('../other', join(folder, 'all/linked'));
    symlinkSync('../other/c.json', join(folder, 'all/link.json'));
    assert.deepEqual(await sourcesIn('all'), [
      ...['all/a/1.jsonl', 'all/a/2.ndjson', 'all/b.json', 'all/link.json', 'all/linked/c.json'],
    ]);
  });

  it('is read once, where links in it lead back to it or round', async () => {
    file('round/a/1.json', cleanRequest);
    for (const [name, to] of [
      ['back', '..'],
      ['self', '.'],
      ['nowhere', 'nowhere'],
    ] as const) {
      symlinkSync(to, join(folder, 'round/a', name));
    }
    assert.deepEqual(await sourcesIn('round'), ['round/a/1.json']);
  });

  it('that may not be read is named, with what is in the others', async () => {
    file('some/open/1.json', cleanRequest);
    mkdirSync(join(folder, 'some/closed'), { mode: 0o000 });
    chmodSync(folder, 0o755);
    const { inputs, mistakes } = await withoutRights(() => read('some'));
    assert.equal(inputs.length, 1);
    assert.deepEqual(mistakes, [
      {
        where: 'some/closed',
        message: 'the folder may not be read; name the files to check, or another',
      },
    ]);
  });
});
