/** `upstream.injectApiKey`: the one header that may be added, and only where the client sent no credentials. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { answerOk } from '../support/fake-upstream.ts';
import { valuesOf } from '../support/http-message.ts';
import { watchLeaks } from '../support/leak-check.ts';
import { exchangeBytes, get, post } from '../support/raw-client.ts';
import { startRig } from '../support/transport-rig.ts';

const assertNoLeaks = watchLeaks();
const rig = await startRig(answerOk, { upstreamOptions: { injectedKey: 'operator' } });
after(async () => {
  await rig.close();
  await assertNoLeaks();
});

async function authorizationSent(bytes: string | Buffer): Promise<readonly string[]> {
  const index = rig.upstream.exchanges.length;
  await exchangeBytes(rig.port, bytes);
  return valuesOf((await rig.upstream.exchange(index)).request, 'authorization');
}

describe('an injected key', () => {
  for (const [route, send] of [
    ['an inspected route', (headers: string) => post('/v1/chat/completions', '{}', headers)],
    ['a pass-through GET', (headers: string) => get('/props', headers)],
  ] as const) {
    it(`is sent on ${route} where the client sent none`, async () => {
      assert.deepEqual(await authorizationSent(send('')), ['Bearer operator']);
    });

    it(`never takes the place of the client's own on ${route}`, async () => {
      assert.deepEqual(await authorizationSent(send('Authorization: Bearer mine\r\n')), ['Bearer mine']);
      assert.deepEqual(await authorizationSent(send('X-Api-Key: mine\r\n')), []);
    });
  }
});
