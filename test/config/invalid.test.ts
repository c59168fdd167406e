// One file per mistake in invalid/, with the exact messages in its `# expect:` lines, in their order.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load.ts';

const folder = join(import.meta.dirname, 'invalid');

/** Every secret in the files is spelled so. */
const secrets = /hunter2|31337/;

describe('invalid files', () => {
  for (const file of readdirSync(folder)) {
    it(`explains ${file.replace('.yaml', '').replaceAll('-', ' ')}`, () => {
      const lines = readFileSync(join(folder, file), 'utf8').split('\n');
      const expected = lines.filter((line) => line.startsWith('# expect: ')).map((line) => line.slice(10));
      assert.ok(expected.length > 0, 'the file says what is expected');
      const result = loadConfig({ flags: { config: file }, env: {}, cwd: folder });
      assert.equal(result.kind, 'invalid');
      assert.deepEqual(result.errors.map(formatConfigError), expected);
      assert.doesNotMatch(JSON.stringify(result.errors), secrets);
    });
  }
});
