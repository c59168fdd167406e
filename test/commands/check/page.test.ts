// docs/check.md shows what is printed, and names every option.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { command } from '../../../src/commands/check.ts';
import { doubledRequest, openCheckFolder, rendered } from '../../support/check-folder.ts';
import { realEngine } from '../../support/real-engine.ts';

const gemma3 = await realEngine('gemma3');
const { skip } = gemma3;
const { file, check } = openCheckFolder();
const doubled = file('doubled.json', doubledRequest);

describe('docs/check.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/check.md'), 'utf8');
  const [report = '', movement = ''] = [...page.matchAll(/^```text\n([^]*?)^```$/gm)].map(
    ([, block]) => block,
  );
  /** Pseudonyms differ from run to run. */
  const general = (text: string): string => text.replaceAll(/‹[^›]+›/g, '‹›');

  it('shows what is printed', { skip }, async () => {
    const upstream = (await gemma3.server()).url;
    assert.equal(general((await check([doubled], { upstream })).stdout), general(report));
    const trace = file('trace.json', {
      messages: [{ role: 'user', content: 'Hi' }],
      rendered_request: `<bos><bos>${rendered}`,
    });
    const { stdout } = await check([trace], { upstream });
    assert.ok(movement !== '' && general(stdout).includes(general(movement)), general(stdout));
  });

  it('lists every option, and every depth', () => {
    const rows = [...page.matchAll(/^\| (`--.*?) +\|/gm)].map(([, cell = '']) => cell).join(' ');
    for (const { flags } of command.options) assert.ok(rows.includes(flags.split(' ')[0] ?? flags), flags);
    for (const depth of ['wire-format', 'content', 'generation-prompt']) {
      assert.match(page, new RegExp(`^\\| \`${depth}\` +\\|`, 'm'));
    }
  });
});
