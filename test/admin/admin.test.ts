// The admin port over real sockets: what is open, what is protected, and in which form it answers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { FindingsRing } from '../../src/admin/findings-ring.ts';
import { findingRecord } from '../log/finding-under-test.ts';

import { listening } from './admin-under-test.ts';

const everywhere = { listenHost: '0.0.0.0', token: 'open-sesame' };
const protectedPaths = ['/', '/config', '/api/findings', '/api/sessions'];
const openPaths = ['/metrics', '/healthz', '/readyz', '/version'];

describe('open paths', () => {
  it('need no token on any listener', async (t) => {
    const ask = await listening(t, { access: everywhere });
    for (const path of openPaths) assert.equal((await ask(path)).status, 200, path);
  });

  it('serve plain metrics by default and OpenMetrics where Accept names it', async (t) => {
    const ask = await listening(t);
    const plain = await ask('/metrics');
    assert.equal(plain.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.match(plain.text, /^# TYPE tokenweir_requests_total counter$/m);
    assert.equal(plain.text.includes('# EOF'), false);
    const open = await ask('/metrics', {
      accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5',
    });
    assert.equal(open.headers['content-type'], 'application/openmetrics-text; version=1.0.0; charset=utf-8');
    assert.match(open.text, /^# TYPE tokenweir_requests counter$/m);
    assert.ok(open.text.endsWith('# EOF\n'));
    assert.equal(open.headers.vary, 'accept');
  });

  it('say that the process is alive although it is not ready', async (t) => {
    let draining = false;
    const ready = (): { ready: boolean; reason: string } =>
      draining ? { ready: false, reason: 'draining' } : { ready: true, reason: 'the engine answers' };
    const ask = await listening(t, { ready });
    assert.equal((await ask('/readyz')).status, 200);
    draining = true;
    const answer = await ask('/readyz');
    assert.equal(answer.status, 503);
    assert.deepEqual(answer.json(), { ready: false, reason: 'draining' });
    assert.equal((await ask('/healthz')).status, 200);
  });

  it('give the version', async (t) => {
    const ask = await listening(t);
    assert.deepEqual((await ask('/version')).json(), { version: '0.1.0' });
  });
});

describe('protected paths', () => {
  it('are open on a loopback listener without a token', async (t) => {
    const ask = await listening(t);
    for (const path of protectedPaths) {
      const answer = await ask(path);
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers['cache-control'], 'no-store');
    }
  });

  it('are closed off loopback when no token is configured, and say what to set', async (t) => {
    const ask = await listening(t, { access: { listenHost: '0.0.0.0' } });
    for (const path of protectedPaths) {
      const answer = await ask(path, { authorization: 'Bearer undefined' });
      assert.equal(answer.status, 403, path);
      assert.equal(answer.json()['code'], 'ADMIN_TOKEN_UNSET');
      assert.match(String(answer.json()['detail']), /admin\.token/);
    }
  });

  it('ask for a configured token, also on loopback', async (t) => {
    for (const access of [everywhere, { ...everywhere, listenHost: '127.0.0.1' }]) {
      const ask = await listening(t, { access });
      for (const path of protectedPaths) {
        const answer = await ask(path);
        assert.equal(answer.status, 401, path);
        assert.equal(answer.headers['content-type'], 'application/problem+json');
        assert.equal(answer.json()['code'], 'ADMIN_TOKEN_MISSING');
        assert.match(String(answer.headers['www-authenticate']), /Bearer.*Basic/);
      }
    }
  });

  it('open for the token, as bearer or as the password that a browser asks for', async (t) => {
    const ask = await listening(t, { access: everywhere });
    const basic = Buffer.from('anyone:open-sesame').toString('base64');
    for (const authorization of ['Bearer open-sesame', 'bearer open-sesame', `Basic ${basic}`]) {
      for (const path of protectedPaths) assert.equal((await ask(path, { authorization })).status, 200);
    }
  });

  it('stay closed for every other token, and never repeat it', async (t) => {
    const ask = await listening(t, { access: everywhere });
    const wrong = Buffer.from('open-sesame:wrong').toString('base64');
    for (const authorization of [
      'Bearer open-sesam',
      'Bearer open-sesame2',
      `Basic ${wrong}`,
      'open-sesame',
    ]) {
      const answer = await ask('/config', { authorization });
      assert.equal(answer.status, 401, authorization);
      assert.equal(answer.text.includes('sesam'), false);
    }
  });
});

describe('the findings API', () => {
  const ring = new FindingsRing(() => 10);
  ring.add(findingRecord({ requestId: 'r-1' }));
  ring.add(findingRecord({ requestId: 'r-2', kind: 'double-bos', severity: 'error', model: 'gemma' }));
  ring.add(findingRecord({ requestId: 'r-3' }));

  for (const [query, expected] of [
    ['', ['r-3', 'r-2', 'r-1']],
    ['?limit=1', ['r-3']],
    ['?kind=double-bos', ['r-2']],
    ['?severity=warning', ['r-3', 'r-1']],
    ['?model=gemma', ['r-2']],
    ['?model=gemma&severity=warning', []],
  ] as const) {
    it(`answers ${query || 'no query'} newest first`, async (t) => {
      const ask = await listening(t, { findings: ring });
      const { seen, findings } = (await ask(`/api/findings${query}`)).json();
      assert.equal(seen, 3);
      assert.deepEqual(
        (findings as { requestId: string }[]).map(({ requestId }) => requestId),
        expected,
      );
    });
  }

  for (const query of [
    'kind=doubled-bos',
    'severity=fatal',
    'limit=0',
    'limit=many',
    'limit=1001',
    'knd=double-bos',
  ]) {
    it(`refuses ${query} and says what is allowed`, async (t) => {
      const ask = await listening(t, { findings: ring });
      const answer = await ask(`/api/findings?${query}`);
      assert.equal(answer.status, 400);
      assert.match(String(answer.json()['detail']), new RegExp(`${query.split('=')[0]!}.*allowed: kind=`));
    });
  }

  it('gives control-token texts and classes, and no text of ordinary tokens', async (t) => {
    const ask = await listening(t, { findings: ring });
    const [newest] = (await ask('/api/findings')).json()['findings'] as ReturnType<typeof findingRecord>[];
    assert.deepEqual(newest?.window?.pieces[0], {
      position: 55,
      class: 'control',
      text: '<|im_start|>',
      id: 'a1',
    });
    assert.deepEqual(newest.window.pieces[1], { position: 56, class: 'text', id: 'b2' });
  });
});

describe('the sessions API', () => {
  const session = {
    session: 's-1',
    client: 'c-1',
    model: 'qwen3',
    keySource: 'ancestor',
    heads: 1,
    turns: 3,
    tokens: 234,
    bytes: 2000,
    ageMs: 1500,
  } as const;

  it('answers with what the store lists, and asks it for no more than the limit', async (t) => {
    const limits: number[] = [];
    const sessions = (limit: number): Promise<(typeof session)[]> => {
      limits.push(limit);
      return Promise.resolve([session]);
    };
    const ask = await listening(t, { sessions });
    assert.deepEqual((await ask('/api/sessions')).json(), { sessions: [session] });
    await ask('/api/sessions?limit=7');
    assert.deepEqual(limits, [100, 7]);
  });

  it('refuses a query that it does not know', async (t) => {
    const ask = await listening(t);
    const answer = await ask('/api/sessions?client=c-1');
    assert.equal(answer.status, 400);
    assert.match(String(answer.json()['detail']), /client; allowed: limit=/);
  });
});

describe('everything else', () => {
  it('is 404 and names what there is', async (t) => {
    const ask = await listening(t);
    for (const [path, method] of [
      ['/v1/models', 'GET'],
      ['/metrics', 'POST'],
    ] as const) {
      const answer = await ask(path, {}, method);
      assert.equal(answer.status, 404);
      assert.match(String(answer.json()['detail']), /\/api\/findings/);
    }
  });

  it('that goes wrong inside is told to the log and not to the client', async (t) => {
    const told: unknown[] = [];
    const failure = new Error('the secret place is /var/lib');
    const ask = await listening(t, {
      config: () => {
        throw failure;
      },
      onError: (error) => told.push(error),
    });
    const answer = await ask('/config');
    assert.equal(answer.status, 500);
    assert.equal(answer.text.includes('/var/lib'), false);
    assert.deepEqual(told, [failure]);
  });
});
