// `tokenweir check` of requests on a real engine: files, folders, standard input, severities, what is not known.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cleanRequest, doubledRequest, openCheckFolder, rendered } from '../../support/check-folder.ts';
import { realEngine } from '../../support/real-engine.ts';

const gemma3 = await realEngine('gemma3');
const { skip } = gemma3;
const { folder, file, check } = openCheckFolder();
const doubled = file('doubled.json', doubledRequest);
const clean = file('clean.json', cleanRequest);

describe('tokenweir check of requests', { skip }, () => {
  it('exits 1 for a doubled BOS, with its place, who did it and what to change', async () => {
    const { code, stdout, stderr } = await check([doubled], { upstream: (await gemma3.server()).url });
    assert.deepEqual([code, stderr], [1, '']);
    assert.match(stdout, /^doubled\.json\nerror\[double-bos;literal\] model gemma3, route completion\n/);
    assert.match(stdout, /^ +--> prompt, tokens 0–1$/m);
    assert.match(stdout, /^ 0 \| <bos> <bos> <start_of_turn> ‹.*\n {3}\| \^{11}$/m);
    assert.match(stdout, /^ {3}= culprit: client$/m);
    assert.match(stdout, /\n1 request: 0 clean, 1 error, 0 warnings, 0 notes\n$/);
  });

  it('exits 0 for a clean one, and says no more than that', async () => {
    const { code, stdout } = await check([clean], { upstream: (await gemma3.server()).url });
    assert.deepEqual([code, stdout], [0, '1 request: 1 clean, 0 errors, 0 warnings, 0 notes\n']);
  });

  it('reads standard input', async () => {
    const stdin = () => Promise.resolve(readFileSync(join(folder, doubled)));
    const { code, stdout } = await check(['-'], { upstream: (await gemma3.server()).url }, { stdin });
    assert.equal(code, 1);
    assert.match(stdout, /^-\nerror\[double-bos;literal\]/);
  });

  it('takes a folder whole, in alphabetical order, and ends with one line', async () => {
    file('fixtures/b/doubled.json', readFileSync(join(folder, doubled), 'utf8'));
    file('fixtures/a.jsonl', `{"prompt": ${JSON.stringify(rendered)}}\n{"prompt": "Hi there"}\n`);
    file('fixtures/README.md', 'not a fixture');
    const { code, stdout } = await check(['fixtures'], { upstream: (await gemma3.server()).url });
    assert.equal(code, 1);
    assert.deepEqual(
      [...stdout.matchAll(/^(\S+)\n\w+\[([^\]]+)\]/gm)].map(([, source, name]) => [source, name]),
      [
        ['fixtures/a.jsonl:2', 'raw-prompt;plain-text'],
        [join('fixtures', 'b', 'doubled.json'), 'double-bos;literal'],
      ],
    );
    assert.match(stdout, /\n3 requests: 1 clean, 1 error, 1 warning, 0 notes\n$/);
  });

  it('fails at the severity that --fail-on names', async () => {
    const { url } = await gemma3.server();
    const plain = file('plain.json', { prompt: 'Hi there' });
    assert.equal((await check([plain], { upstream: url })).code, 0);
    assert.equal((await check([plain], { upstream: url, failOn: 'warning' })).code, 1);
    assert.equal((await check([clean], { upstream: url, failOn: 'info' })).code, 0);
  });

  it('holds no text back where the operator asks to see it, and all of it where not', async () => {
    const { url } = await gemma3.server();
    const secret = file('secret.json', { prompt: '<bos><start_of_turn>user\nXylophone' });
    for (const flags of [{}, { json: true }]) {
      assert.doesNotMatch((await check([secret], { upstream: url, ...flags })).stdout, /ophone/);
    }
    assert.match((await check([secret], { upstream: url, showText: true })).stdout, /"\\n" "X/);
  });

  it('follows the configuration, as the proxy does', async () => {
    const { url } = await gemma3.server();
    const config = file('proxy-off.yaml', `upstream:\n  url: ${url}\nmodels:\n  gemma3:\n    kind: base\n`);
    const plain = file('plain.json', { prompt: 'Hi there' });
    assert.equal((await check([plain], { config, failOn: 'info' })).code, 0);
    const exempt = file('exempt.yaml', 'inspection:\n  exempt:\n    - route: completion\n');
    const { code, stdout } = await check([doubled], { config: exempt, upstream: url });
    assert.deepEqual(
      [code, stdout.split('\n').at(-2)],
      [0, '1 request: 0 clean, 0 errors, 0 warnings, 0 notes, 1 not known'],
    );
  });

  it('reads no more of a body than the proxy would', async () => {
    const env = { TOKENWEIR_LIMITS_REQUEST_BYTES: '1KiB' };
    const large = file('large.json', { prompt: `<bos>${'weir '.repeat(300)}` });
    const { code, stdout } = await check([large], { upstream: (await gemma3.server()).url }, { env });
    assert.equal(code, 3);
    assert.match(stdout, /^large\.json\nnot known: body-too-large /);
  });

  it('does not call clean what is not known', async () => {
    const { url } = await gemma3.server();
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const media = file('media.json', { messages: [{ role: 'user', content: [image] }] });
    const { code, stdout } = await check([media], { upstream: url });
    assert.equal(code, 3);
    assert.match(
      stdout,
      /^media\.json\nnot known: \S+ \(docs\/errors\.md\)\n {2}the engine says: image input is not supported\b[^]*\n\n1 request: 0 clean, .*, 1 not known\n$/,
    );
    assert.equal((await check([media], { upstream: url, allowUnknown: true })).code, 0);
  });
});
