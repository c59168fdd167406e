// docs/errors.md and the code name the same errors with the same status, in both directions.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import ts from 'typescript';
import { exitCodes } from '../../src/commands/command.ts';
import { actionsFor } from '../../src/config/detector-actions.ts';
import { findingKinds } from '../../src/exchange/finding.ts';
import { unknownReasons } from '../../src/exchange/token-read.ts';
import { rejectFinding, rejectUnknown } from '../../src/policies/rejection.ts';
import { upstreamFailure } from '../../src/proxy/error-envelope.ts';
import { filesBelow, readSources } from './source-files.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');

/** The first cells of the table between the section's marks; with the status if the table has such a column. */
function listed(section: string): readonly string[] {
  const open = `<!-- codes: ${section} -->`;
  const from = page.indexOf(open);
  assert.notEqual(from, -1, `docs/errors.md lacks ${open}`);
  const table = page.slice(from, page.indexOf('<!-- /codes -->', from));
  return [...table.matchAll(/^\| `([^`]+)`\s*\|\s*(\d{3})?/gm)]
    .map(([, code = '', status]) => (status === undefined ? code : `${code} ${status}`))
    .toSorted();
}

/** Object literals with a numeric `status`, below a folder of src/, each with what `nameOf` calls it. */
function statusesIn(
  folder: string,
  nameOf: (literal: ts.ObjectLiteralExpression) => string | undefined,
): readonly string[] {
  const found = new Set<string>();
  for (const path of filesBelow(`src/${folder}`, '.ts')) {
    const text = readFileSync(join(root, 'src', folder, path), 'utf8');
    const visit = (node: ts.Node): void => {
      if (ts.isObjectLiteralExpression(node)) {
        const status = literalOf(node, 'status');
        const name = nameOf(node);
        if (status !== undefined && name !== undefined) found.add(`${name} ${status}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  }
  return [...found].toSorted();
}

function literalOf(literal: ts.ObjectLiteralExpression, name: string): string | undefined {
  for (const property of literal.properties) {
    if (!ts.isPropertyAssignment(property) || property.name.getText() !== name) continue;
    return ts.isLiteralExpression(property.initializer) ? property.initializer.text : undefined;
  }
  return undefined;
}

/** Texts and names in the code that look like codes of an area, e.g. `CONFIG_SYNTAX`. */
function codesOf(area: string, folder: string): readonly string[] {
  const words = readSources()
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .flatMap((source) => source.words)
    .filter((word) => new RegExp(`^${area}_[A-Z_]+$`).test(word));
  return [...new Set(words)].toSorted();
}

describe('docs/errors.md lists', () => {
  it('every rejection that a configuration can cause', () => {
    const finding = {
      severity: 'error',
      culprit: 'client',
      promptIndex: 0,
      message: 'Found.',
      advice: 'Mend it.',
    } as const;
    const rejections = findingKinds
      .filter((kind) => actionsFor(kind).includes('reject'))
      .map((kind) => rejectFinding({ ...finding, kind }, 'openai'));
    const unknown = rejectUnknown({ kind: 'double-bos', reason: 'oracle-timeout' }, 'openai');
    const codes = [...rejections, unknown].map(({ code, status }) => `${code} ${status}`);
    assert.deepEqual(listed('rejections'), codes.toSorted());
  });

  it('every failure of the transport', () => {
    assert.deepEqual(
      listed('transport'),
      statusesIn('proxy', (literal) => literalOf(literal, 'type')),
    );
  });

  it('what becomes of a refused, a broken and a silent connection', () => {
    const shown = ['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_CONNECT_TIMEOUT'].map((code) => {
      const { type, status } = upstreamFailure(Object.assign(new Error('connect 10.0.0.1:8080'), { code }));
      return `${type} ${status}`;
    });
    for (const failure of shown) assert.ok(listed('transport').includes(failure), failure);
  });

  it('every problem of the admin port', () => {
    const problems = statusesIn('admin', ({ parent }) => {
      return ts.isPropertyAssignment(parent) ? parent.name.getText() : undefined;
    });
    assert.deepEqual(listed('admin'), problems);
    assert.deepEqual(
      codesOf('ADMIN', 'admin'),
      problems.map((problem) => problem.split(' ')[0]),
    );
  });

  it('every mistake in a configuration', () => {
    assert.deepEqual(listed('config'), codesOf('CONFIG', 'config'));
  });

  it('every reason why something is not known', () => {
    assert.deepEqual(listed('unknown'), [...unknownReasons].toSorted());
  });

  it('every exit code', () => {
    const table = page.slice(page.indexOf('## Exit codes'));
    const codes = [...table.matchAll(/^\| (\d+)\s*\|/gm)].map(([, code]) => Number(code));
    // 70 is no verdict of a command's: src/cli.ts gives it where one has thrown.
    assert.deepEqual(codes, [...Object.values(exitCodes), 70]);
  });
});

describe('docs/errors.md leads', () => {
  it('to pages that exist', () => {
    for (const [, target = ''] of page.matchAll(/\]\(([^)#]+)\)/g)) {
      assert.ok(readFileSync(join(root, 'docs', target), 'utf8').length > 0, target);
    }
  });
});
