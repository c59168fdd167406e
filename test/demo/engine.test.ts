// What the demo engine says about itself, its tokenizer routes and its errors, over real sockets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chatTemplate } from '../../src/demo/chat-template.ts';
import { startDemoEngine } from '../../src/demo/engine.ts';
import { loadDemoTokenizer } from '../../src/demo/tokenizer.ts';
import { useDemoEngine, type JsonObject } from './running-engine.ts';

const tokenizer = loadDemoTokenizer();
const ids = (text: string): number[] => tokenizer.tokenize(text, { addSpecial: false, parseSpecial: true });

async function errorOf(response: Response): Promise<JsonObject> {
  const { error } = (await response.json()) as { error: JsonObject };
  assert.equal(error['code'], response.status);
  return error;
}

describe('the facts of the demo engine', () => {
  const engine = useDemoEngine();

  it('are labelled as a demo everywhere', async () => {
    const response = await engine.get('/props');
    const props = (await response.json()) as JsonObject;
    assert.equal(response.headers.get('server'), 'tokenweir-demo');
    assert.equal(props['model_alias'], 'tokenweir-demo');
    assert.match(String(props['build_info']), /^demo-/);
    const models = (await (await engine.get('/v1/models')).json()) as {
      data: JsonObject[];
      models: JsonObject[];
    };
    assert.equal(models.data[0]?.['id'], 'tokenweir-demo');
    assert.match(String(models.models[0]?.['description']), /runs no model/);
  });

  it('have what an adapter reads in /props', async () => {
    const props = (await (await engine.get('/props')).json()) as JsonObject;
    assert.equal(props['chat_template'], chatTemplate);
    assert.equal(props['bos_token'], '<bos>');
    assert.equal(props['eos_token'], '<eos>');
    assert.equal(props['is_sleeping'], false);
    assert.equal(props['total_slots'], 4);
    assert.equal((props['default_generation_settings'] as JsonObject)['n_ctx'], 8192);
    assert.match(String(props['media_marker']), /^<__media_[0-9a-f]+__>$/);
  });

  it('have a media marker per process start', async (context) => {
    const other = await startDemoEngine();
    context.after(() => other.close());
    const marker = async (response: Response): Promise<unknown> =>
      ((await response.json()) as JsonObject)['media_marker'];
    assert.notEqual(
      await marker(await fetch(`${other.url}/props`)),
      await marker(await engine.get('/props')),
    );
  });

  it('are the same at both health and both model paths', async () => {
    for (const path of ['/health', '/v1/health']) {
      assert.deepEqual(await (await engine.get(path)).json(), { status: 'ok' });
    }
    const models = await (await engine.get('/models')).text();
    assert.equal(await (await engine.get('/v1/models')).text(), models);
    const { data } = JSON.parse(models) as { data: { meta: JsonObject }[] };
    assert.equal(data[0]?.meta['vocab_type'], 2);
    assert.equal(data[0].meta['n_vocab'], tokenizer.vocabularySize);
  });
});

describe('the tokenizer routes of the demo engine', () => {
  const engine = useDemoEngine();

  it('tokenize text without BOS by default, and control tokens as such', async () => {
    const reply = await engine.ask('/tokenize', { content: '<bos>Hi<|end|>' });
    assert.deepEqual(reply, { tokens: ids('<bos>Hi<|end|>') });
    const hidden = await engine.ask('/tokenize', { content: '<bos>', parse_special: false });
    assert.deepEqual(hidden, {
      tokens: tokenizer.tokenize('<bos>', { addSpecial: false, parseSpecial: false }),
    });
    assert.deepEqual(await engine.ask('/tokenize', { content: '', add_special: true }), {
      tokens: [tokenizer.bos.id],
    });
    assert.deepEqual(await engine.ask('/tokenize', {}), { tokens: [] });
  });

  it('echo integers in a mixed array', async () => {
    const content = ['a', -1, '<|turn|>user', -1, 'b'];
    const reply = await engine.ask('/tokenize', { content, add_special: false, parse_special: true });
    assert.deepEqual(reply, { tokens: [...ids('a'), -1, ...ids('<|turn|>user'), -1, ...ids('b')] });
  });

  it('give pieces as text, and as bytes where they are part of a character', async () => {
    const { tokens } = await engine.ask('/tokenize', { content: 'Aé', with_pieces: true });
    assert.deepEqual(tokens, [
      { id: ids('A')[0], piece: 'A' },
      { id: ids('é')[0], piece: [0xc3] },
      { id: ids('é')[1], piece: [0xa9] },
    ]);
  });

  it('detokenize, control tokens as text', async () => {
    assert.deepEqual(await engine.ask('/detokenize', { tokens: ids('<bos>weir é') }), {
      content: '<bos>weir é',
    });
    assert.deepEqual(await engine.ask('/detokenize', {}), { content: '' });
  });

  it('render a chat body without its BOS text, and count its ids with BOS', async () => {
    const body = { model: 'any', messages: [{ role: 'user', content: 'Hi' }], temperature: 0, stream: true };
    const prompt = '<|turn|>user\nHi<|end|>\n<|turn|>assistant\n';
    assert.deepEqual(await engine.ask('/apply-template', body), { prompt });
    for (const prefix of ['', '/v1']) {
      assert.deepEqual(await engine.ask(`${prefix}/chat/completions/input_tokens`, body), {
        input_tokens: 1 + ids(prompt).length,
        object: 'response.input_tokens',
      });
    }
  });
});

describe('the errors of the demo engine', () => {
  const engine = useDemoEngine();

  it('are 404 in the envelope for unknown paths and methods', async () => {
    const message = { code: 404, message: 'File Not Found', type: 'not_found_error' };
    assert.deepEqual(await errorOf(await engine.get('/nowhere')), message);
    assert.deepEqual(await errorOf(await engine.get('/tokenize')), message);
  });

  it('are 501 for routes that it does not serve', async () => {
    for (const path of ['/v1/messages', '/v1/responses', '/infill', '/v1/embeddings']) {
      assert.equal((await errorOf(await engine.post(path, {})))['type'], 'not_supported_error');
    }
    assert.equal((await engine.get('/metrics')).status, 501);
  });

  it('are 400 for bodies that are no JSON object in UTF-8', async () => {
    const deep = `{"content":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    for (const body of ['{"content":', '[]', '"x"', '', '{"content":"\\ud800"}', deep]) {
      const error = await errorOf(await engine.post('/tokenize', body));
      assert.equal(error['type'], 'invalid_request_error', body.slice(0, 20));
    }
    const latin1 = Buffer.from('{"content":"\xe9"}', 'latin1');
    assert.equal((await engine.post('/tokenize', '', { body: latin1 })).status, 400);
  });

  it('spare a byte order mark', async () => {
    assert.deepEqual(await engine.ask('/tokenize', '\ufeff{"content":"a"}'), { tokens: ids('a') });
  });

  it('are 400 for wrong types and 500 for unknown ids on the tokenizer routes', async () => {
    const error = await errorOf(await engine.post('/tokenize', { content: 5 }));
    assert.equal(error['message'], '[json.exception.type_error.302] type must be string, but is number');
    assert.equal((await engine.post('/tokenize', { content: ['a', {}] })).status, 400);
    assert.equal((await engine.post('/detokenize', { tokens: 'a' })).status, 400);
    assert.equal((await engine.post('/detokenize', { tokens: ['a'] })).status, 400);
    const unknown = await errorOf(await engine.post('/detokenize', { tokens: [99999] }));
    assert.match(String(unknown['message']), /token id 99999 is not in the vocabulary; ids are 0 to \d+/);
    assert.equal((await engine.post('/tokenize', { content: [-1], with_pieces: true })).status, 500);
  });

  it('have no envelope for compressed bodies', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const response = await engine.post('/tokenize', '', { body: gzipSync('{"content":"a"}'), headers });
    assert.equal(response.status, 415);
    assert.equal(await response.text(), '');
  });
});

describe('the HTTP side of the demo engine', () => {
  const engine = useDemoEngine();

  it('answers OPTIONS and reflects the origin', async () => {
    const init = { method: 'OPTIONS', headers: { origin: 'http://page.example' } };
    const response = await engine.post('/v1/chat/completions', undefined, init);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('access-control-allow-origin'), 'http://page.example');
    assert.equal(response.headers.get('access-control-allow-headers'), '*');
    assert.equal(await response.text(), '');
  });

  it('answers HEAD with the headers of GET', async () => {
    const response = await engine.post('/props', undefined, { method: 'HEAD' });
    const length = (await (await engine.get('/props')).text()).length;
    assert.equal(response.headers.get('content-length'), String(length));
    assert.equal(await response.text(), '');
  });

  it('frees its port and drops open connections when it is closed', async () => {
    const other = await startDemoEngine();
    const { hostname, port } = new URL(other.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const dropped = once(socket, 'close');
    await other.close();
    await dropped;
    await assert.rejects(fetch(`${other.url}/health`));
  });

  it('fails to start on a port that is taken', async (context) => {
    const other = await startDemoEngine();
    context.after(() => other.close());
    await assert.rejects(startDemoEngine({ port: Number(new URL(other.url).port) }), { code: 'EADDRINUSE' });
  });
});
