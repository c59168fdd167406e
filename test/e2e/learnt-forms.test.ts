// A template that writes everything in a way of its own, on a real engine and through the proxy: what it was seen to do with
// awkward texts is no loss, and what it leaves out all the same is.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatPath } from '../../src/exchange/json/json-path.ts';
import { lostParts } from '../../src/exchange/written/lost-parts.ts';
import { context, openAdapter, typed } from '../engines/engine-under-test.ts';
import { assertHas, chat, clean, requestFindings } from '../support/exchanges.ts';
import { openProxy } from '../support/open-proxy.ts';
import { adapterUnderTest, testedByteModel } from '../support/tested-engine.ts';

/** Trims and lowers all text, writes JSON anew over several lines, and leaves out what stands behind a line of dashes. */
const engine = await testedByteModel({
  name: 'lowering',
  markers: ['<|tools|>', '<|system|>', '<|user|>', '<|assistant|>', '<|tool|>', '<|end|>'],
  chatTemplate:
    '{% if tools %}{{ "<|tools|>\n" }}{% for t in tools %}{{ t|tojson(indent=2) }}{{ "\n" }}{% endfor %}{{ "<|end|>\n" }}{% endif %}' +
    '{% for m in messages %}{{ "<|" + m.role + "|>\n" }}' +
    String.raw`{% if m.content %}{{ m.content.split("\n---\n")[0]|trim|lower }}{% endif %}` +
    '{% for c in m.tool_calls or [] %}{{ c.function.name + "(" }}{{ c.function.arguments|tojson(indent=2) }}{{ ")" }}{% endfor %}' +
    '{{ "<|end|>\n" }}{% endfor %}{% if add_generation_prompt %}{{ "<|assistant|>\n" }}{% endif %}',
});

/** Short lines in which hardly a word is as it was: nothing is there by its pieces. */
const question = '  ÉTÉ IN ŻNIN:\nIS IT "SO" & SO?\n\nLE WEIR, THE LOCK  \n';
const messages = [
  { role: 'system', content: '\nBE BRIEF.\nSAY NO MORE.\n' },
  { role: 'user', content: question },
  {
    role: 'assistant',
    content: '',
    tool_calls: [
      {
        id: 'callWeir1',
        type: 'function',
        function: { name: 'get_level', arguments: '{"Place":"ŻNIN, \\"OLD\\"","deep":{"At":[1,2.5,null]}}' },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'callWeir1', content: '{"Level":5,"UNIT":"METRES",\n"Was":{"LOW":"ÉTÉ"}}' },
  { role: 'user', content: 'IS IT OVER?\nAND WHEN WAS IT?' },
];
const parameters = {
  type: 'object',
  properties: { Place: { type: 'string', description: 'Where "IT" is, in ÉTÉ' }, deep: { type: 'object' } },
};
const tools = [
  {
    type: 'function',
    function: { name: 'get_level', description: 'Tells the LEVEL.\nIn METRES.', parameters },
  },
];
const whole = { messages, tools };

describe('a template that trims and lowers texts and writes JSON anew', { skip: engine.skip }, () => {
  it('has lost nothing, though without what was learnt of it texts would be missed', async (t) => {
    const { url } = await engine.server();
    const { engine: adapter } = openAdapter(url, { adapter: adapterUnderTest });
    t.after(() => adapter.close());
    const request = typed('chat', { ...whole, max_tokens: 2 });
    const read = await adapter.facts(undefined, context);
    assert.ok(read.known && request.kind === 'chat');
    const { reading } = read.facts;
    const form = reading?.forms?.find(({ places }) => places.includes('question'));
    assert.match(form?.letters ?? '', /^lower/);
    assert.equal(form?.trims, 'both');
    const [prompt] = await adapter.read(request, read.facts, context).prompts();
    assert.ok(prompt?.known === true && prompt.text !== undefined);
    const missed = (seen: typeof reading): string[] =>
      lostParts(request, prompt.text ?? '', seen).texts.map(({ path }) => formatPath(path));
    assert.deepEqual(missed(reading), []);
    assert.deepEqual(
      missed({ ...reading!, forms: [] }),
      [0, 1, 3, 4].map((index) => `messages[${index}].content`),
    );
    const proxied = await openProxy(t, url);
    assert.deepEqual((await chat(proxied, whole)).said, clean);
    assert.deepEqual((await chat(proxied, { messages: messages.slice(0, 2) })).said, clean);
  });

  it('is told where it leaves something out all the same', async (t) => {
    const proxied = await openProxy(t, (await engine.server()).url);
    const cut = { role: 'user', content: 'IS IT OVER?\n---\nIF IT IS NOT, WHEN WAS IT?' };
    const { said } = await chat(proxied, { messages: [...messages.slice(0, -1), cut], tools });
    assert.deepEqual(said, { ...clean, findings: 'content-lost;text' });
    assertHas((await requestFindings(proxied))[0], {
      severity: 'error',
      culprit: 'template',
      field: 'messages[4].content',
    });
  });
});
