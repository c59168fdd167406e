// The README promises nothing that is not there: its links lead to files, its table is the list of detectors.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { detectors } from '../../src/detectors/index.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

describe('the README', () => {
  it('links to files that exist', () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => path);
    assert.ok(links.length > 10);
    assert.deepEqual(
      links.filter((path) => !existsSync(join(root, path))),
      [],
    );
  });

  it('lists every detector with its own words', () => {
    const rows = [...readme.matchAll(/^\| \[`([a-z-]+)`\]\((.+?)\) *\| (.+?) *\|$/gm)].map((row) =>
      row.slice(1),
    );
    assert.deepEqual(
      rows,
      detectors.map(({ kind, summary }) => [kind, `docs/detectors/${kind}.md`, summary]),
    );
  });

  it('names commands that the package has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    for (const [, name = ''] of readme.matchAll(/\bnpm (?:run )?(?!ci\b)([a-z]+)/g)) {
      assert.ok(Object.hasOwn(scripts, name), `npm ${name}`);
    }
    for (const [, path = ''] of readme.matchAll(/--config (\S+)/g))
      assert.ok(existsSync(join(root, path)), path);
  });
});
