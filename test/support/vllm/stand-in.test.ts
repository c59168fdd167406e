// The stand-in's word is worth what the recordings say: it must answer each recorded question as the real one did.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { recordedServers } from '../../vllm/recordings/cases.ts';
import { recording } from '../../vllm/recordings/recording.ts';
import { standIn, type StandIn } from './stand-in.ts';

/** What it is asked by an adapter; of a chat's fields it knows those that probes and tests send. */
const answered = /^(tokenize-(?!image|list)|tokenize$|detokenize$|version$|metrics$|tokenizer-info$)/;

for (const { family, asked } of recordedServers) {
  describe(`the stand-in for a vLLM with ${family}`, () => {
    let server: StandIn;
    before(async () => {
      server = await standIn(family);
    });
    after(() => server.close());
    for (const [name, { path, body }] of Object.entries(asked)) {
      if (!answered.test(name)) continue;
      it(`answers as recorded: ${name}`, async () => {
        const real = recording(family, name);
        const reply = await fetch(server.url + path, {
          ...(body && {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
        });
        assert.equal(reply.status, real.status);
        const text = await reply.text();
        if (path === '/metrics') assert.equal(text, real.text);
        else assert.deepEqual(JSON.parse(text), JSON.parse(real.text));
      });
    }
  });
}
