// A scripted step against an engine's answer that the test writes: what counts as shown, and what does not.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { FindingInbox } from '../../src/demo/finding-inbox.ts';
import { readCountChecks, sendStep } from '../../src/demo/first-look.ts';
import type { DemoStep } from '../../src/demo/script.ts';
import type { FindingRecord } from '../../src/exchange/finding-record.ts';
import { findingRecord } from '../log/finding-under-test.ts';

const clean: DemoStep = { scene: 'clean-chat', title: 'A step', path: '/completion', body: { prompt: 'x' } };
const breaking: DemoStep = { ...clean, expects: { kind: 'prefix-break', cause: 'tools-reordered' } };
const { signal } = new AbortController();

describe('a scripted step', () => {
  let server: Server;
  let url = '';
  let scrapes = 0;
  before(async () => {
    server = createServer((request, response) => {
      if (request.url === '/metrics') {
        scrapes += 1;
        response.end(
          `tokenweir_count_checks_total{model_name="a}b",result="match"} ${scrapes}\n` +
            `tokenweir_count_checks_total{model_name="c",result="match"} 1\n` +
            `tokenweir_count_checks_total{model_name="c",result="mismatch"} 0\n`,
        );
        return;
      }
      request.resume();
      response.setHeader('tokenweir-action', 'pass');
      response.end(JSON.stringify({ timings: { cache_n: 5, prompt_n: 3, prompt_per_second: 100 } }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const shown = async (step: DemoStep, ...records: FindingRecord[]): Promise<boolean> => {
    const inbox = new FindingInbox();
    for (const record of records) inbox.add(record);
    return (await sendStep(step, 'r-1', url, inbox, signal)).asExpected;
  };

  it('is as expected with the finding that it is there to show, or without any where none is', async () => {
    assert.equal(await shown(breaking, findingRecord()), true);
    assert.equal(await shown(clean), true);
    assert.equal(await shown(clean, findingRecord({ requestId: 'another' })), true);
  });

  it('is not with another kind, another cause, or a finding where there must be none', async () => {
    assert.equal(await shown(breaking, findingRecord({ kind: 'double-bos' })), false);
    assert.equal(await shown(breaking, findingRecord({ cause: 'unknown' })), false);
    assert.equal(await shown(clean, findingRecord()), false);
  });

  it('waits for a finding that comes after the reply', async () => {
    const inbox = new FindingInbox();
    const result = sendStep(breaking, 'r-1', url, inbox, signal);
    await once(server, 'request');
    inbox.add(findingRecord({ requestId: 'another' }));
    inbox.add(findingRecord());
    assert.deepEqual((await result).findings, [findingRecord()]);
    assert.deepEqual((await result).counts, {
      promptTokens: 8,
      cachedTokens: 5,
      prefillTokensPerSecond: 100,
    });
    assert.deepEqual((await result).verdict, { 'tokenweir-action': 'pass' });

    const live: FindingRecord[] = [];
    inbox.goLive((record) => live.push(record));
    inbox.add(findingRecord({ requestId: 'later' }));
    assert.deepEqual(
      live.map(({ requestId }) => requestId),
      ['another', 'later'],
    );
  });

  it('has the count checks of all models, once there are as many as replies', async () => {
    assert.deepEqual(await readCountChecks(url, 4, signal), { match: 4, mismatch: 0 });
    assert.equal(scrapes, 3);
  });
});
