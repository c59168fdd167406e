// An upstream that no adapter knows, or that the operator names: traffic passes, and it is said what can't be known.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withBos } from '../support/byte-models.ts';
import { chat, complete, eventually } from '../support/exchanges.ts';
import { answerOk, startUpstream } from '../support/fake-upstream.ts';
import { openGated, openProxy } from '../support/open-proxy.ts';
import { realEngine } from '../support/real-engine.ts';

const engine = await realEngine(withBos.file);
const { skip } = engine;
const hi = { messages: [{ role: 'user', content: 'Hi' }] };

describe('an engine that nobody knows', { skip }, () => {
  it('is passed through, with the reason', async (t) => {
    const foreign = await startUpstream((exchange) =>
      exchange.target === '/props' ? exchange.reply('404 Not Found', '', '{}') : answerOk(exchange),
    );
    t.after(() => foreign.close());
    const proxied = await openProxy(t, foreign.url);
    const answer = await chat(proxied, hi);
    assert.equal(answer.text, '{"ok":true}');
    assert.equal(answer.said.inspection, 'unknown;engine-cannot');
    assert.equal(await proxied.metric('tokenweir_inspection_unknown_total', { reason: 'engine-cannot' }), 1);
    // It is told, not asked for every request.
    await chat(proxied, hi);
    assert.equal(foreign.exchanges.filter(({ target }) => target === '/props').length, 1);
  });

  it('is not asked with every request, where it answers with more than is read', async (t) => {
    const much = '['.repeat(33 * 1024 * 1024);
    const helpers = ['/props', '/tokenize'];
    const foreign = await startUpstream((exchange) =>
      helpers.includes(exchange.target) ? exchange.reply('200 OK', '', much) : answerOk(exchange),
    );
    t.after(() => foreign.close());
    const proxied = await openProxy(t, foreign.url);
    for (let turn = 0; turn < 2; turn += 1)
      assert.equal((await chat(proxied, hi)).said.inspection, 'unknown;answer-too-large');
    assert.equal(foreign.exchanges.filter(({ target }) => target === '/props').length, 1);
  });

  it('is taken for what the operator says it is', async (t) => {
    const settings = { ENGINE_KIND: 'llama-server' };
    const proxied = await openProxy(t, (await engine.server()).url, settings);
    assert.equal((await complete(proxied, { prompt: 'Hi' })).said.inspection, 'ok');
    const foreign = await startUpstream(answerOk);
    t.after(() => foreign.close());
    const mistaken = await openProxy(t, foreign.url, settings);
    const answer = await chat(mistaken, hi);
    assert.equal(answer.text, '{"ok":true}');
    assert.equal(answer.said.inspection, 'unknown;engine-cannot');
  });
});

describe('an engine that a gateway says is away', { skip }, () => {
  it('is known as soon as it is back', async (t) => {
    const { gated, proxied } = await openGated(t, (await engine.server()).url, {}, (opening) => {
      opening.answerOnceAfter(0, { status: 502, text: '<html>Bad Gateway</html>' });
    });
    await eventually(() => gated.count('/props') === 1, 'it is asked what it is');
    await eventually(async () => (await chat(proxied, hi)).said.inspection === 'ok', 'it is known');
  });
});
