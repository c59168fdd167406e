// Bodies of `/v1/messages` and `/v1/responses` as no client should send them, through the proxy in front of a real engine:
// the engine's own answer comes back, and what is said of the prompt is right, or unknown for a reason.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { send, settled } from '../support/exchanges.ts';
import { oddMessages, oddResponses } from '../support/odd-dialect-bodies.ts';
import { proxy, type ProxiedEngine } from '../support/proxied-engine.ts';
import { realEngine } from '../support/real-engine.ts';

const qwen3 = await realEngine('qwen3');
const { skip } = qwen3;

const routes = [
  { path: '/v1/messages', limit: { max_tokens: 1 }, bodies: oddMessages },
  { path: '/v1/responses', limit: { max_output_tokens: 1 }, bodies: oddResponses },
];

for (const { path, limit, bodies } of routes) {
  describe(`${path}, whatever is sent`, { skip }, () => {
    let opened: ProxiedEngine | undefined;
    after(() => opened?.close());
    let exchanges = 0;
    let known = 0;

    for (const [inspection, cases] of Object.entries(bodies)) {
      for (const [name, body] of Object.entries(cases)) {
        it(`${name}: ${inspection}`, async () => {
          const { url } = await qwen3.server();
          opened ??= await proxy(url);
          const answer = await send(opened.url + path, { ...limit, ...body });
          const direct = await send(url + path, { ...limit, ...body });
          assert.equal(answer.status, direct.status, answer.text);
          if (direct.status >= 400) assert.equal(answer.text, direct.text);
          assert.equal(answer.said.action, 'pass');
          assert.equal(answer.said.inspection, inspection);
          exchanges += 1;
          known += inspection === 'ok' && answer.status === 200 ? 1 : 0;
          await settled(opened, exchanges);
          // What was said to be known, the engine has counted too.
          assert.equal(await opened.metric('tokenweir_count_checks_total', { result: 'match' }), known);
          assert.equal(await opened.metric('tokenweir_count_checks_total', { result: 'mismatch' }), 0);
        });
      }
    }
  });
}
