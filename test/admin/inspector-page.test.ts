// The inspector page: it is served with a policy that lets nothing but its own script run, and it asks only real paths.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Script } from 'node:vm';

import { inspectorPage } from '../../src/admin/inspector-page.ts';
import { inspectorScript } from '../../src/admin/inspector-script.ts';

import { listening } from './admin-under-test.ts';

function inlineOf(page: string, tag: string): string {
  const found = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page)?.[1];
  assert.ok(found !== undefined, `the page has an inline ${tag}`);
  return found;
}

describe('the inspector page', () => {
  it('is served with a policy that admits exactly its inline script and style', async (t) => {
    const ask = await listening(t);
    const answer = await ask('/');
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
    const policy = String(answer.headers['content-security-policy']);
    for (const tag of ['script', 'style']) {
      const hash = createHash('sha256').update(inlineOf(answer.text, tag)).digest('base64');
      assert.ok(policy.includes(`${tag}-src 'sha256-${hash}'`), `${policy} admits the ${tag}`);
    }
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/);
    assert.equal(/unsafe|https?:|\*/.test(policy), false);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  });

  it('loads nothing from elsewhere', () => {
    assert.equal(/https?:\/\/|src=|<link|@import|url\(/.test(inspectorPage), false);
  });

  it('has a script that compiles and never makes markup out of data', () => {
    assert.doesNotThrow(() => new Script(inspectorScript));
    assert.equal(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(/.test(inspectorScript), false);
  });

  it('looks up only elements that it has', () => {
    const used = [...inspectorScript.matchAll(/(?:byId|replaceIfChanged)\('([\w-]+)'/g)].map(
      (match) => match[1]!,
    );
    assert.ok(used.length > 3);
    for (const id of used) assert.ok(inspectorPage.includes(`id="${id}"`), id);
  });

  it('asks only paths that answer', async (t) => {
    const ask = await listening(t);
    const asked = [...inspectorScript.matchAll(/ask\('([^'?]+)/g)].map((match) => match[1]!);
    const linked = [...inspectorPage.matchAll(/href="([^"]+)"/g)].map((match) => match[1]!);
    assert.ok(asked.length >= 3);
    for (const path of [...asked, ...linked]) assert.equal((await ask(path)).status, 200, path);
  });
});
