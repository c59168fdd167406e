// Templates that write texts in ways of their own, on the real server: what they do is learnt, is no loss where it is none, and
// is told where it is one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { SeenForm, TextPlace } from '../../src/exchange/seen-form.ts';
import { formatPath } from '../../src/exchange/json/json-path.ts';
import { lostParts, type LostParts } from '../../src/exchange/written/lost-parts.ts';
import type { ModelFacts } from '../../src/exchange/model-facts.ts';
import { send } from '../support/exchanges.ts';
import { byteModelFile } from '../support/gguf/byte-model.ts';
import { realEngine } from '../support/real-engine.ts';
import { context, openAdapter, typed } from './engine-under-test.ts';

const turnMarkers = ['<|tools|>', '<|system|>', '<|user|>', '<|assistant|>', '<|tool|>', '<|end|>'];

interface Ways {
  /** An expression for a message's text, `m.content`. */
  readonly text?: string;
  /** An expression for a tool's description, `t.function.description`. */
  readonly description?: string;
  /** An expression for the arguments of a call, `c.function.arguments`. */
  readonly given?: string;
}

function template({
  text = 'm.content',
  description = 't.function',
  given = 'c.function.arguments',
}: Ways): string {
  return (
    `{% if tools %}{{ "<|tools|>" }}{% for t in tools %}{{ t.function.name + ": " }}{{ (${description})|string }}{{ "\n" }}{% endfor %}{{ "<|end|>\n" }}{% endif %}` +
    `{% for m in messages %}{{ "<|" + m.role + "|>\n" }}{% if m.content %}{{ ${text} }}{% endif %}` +
    `{% for c in m.tool_calls or [] %}{{ c.function.name + "(" }}{{ (${given})|string }}{{ ")" }}{% endfor %}{{ "<|end|>\n" }}{% endfor %}` +
    '{% if add_generation_prompt %}{{ "<|assistant|>\n" }}{% endif %}'
  );
}

/** Each line is short, and so is what stands between two signs: nothing is there by its pieces. */
const poem = `It's "so" & so:\na <weir>,\na  lock,\n\n\nl'été à Żnin\tand\n 水の流れ 😀 <br>\nends *here*.`;
const messages = [
  { role: 'system', content: `Be "brief";\nsay <no> more.\nIt's all.` },
  { role: 'user', content: poem },
  {
    role: 'assistant',
    content: '',
    tool_calls: [called({ place: `l'eau & "<été>"\n水`, deep: { er: "it's\\so" } })],
  },
  { role: 'tool', tool_call_id: 'callWeir1', content: `It's\n  <5>  "metres" & more\n` },
  { role: 'user', content: `Is it?\nIs it "<so>"?\nIt's & was?` },
];
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_level',
      description: `It's the "level" & <flow>\n  of l'été's  rivers`,
      parameters: {
        type: 'object',
        properties: { place: { type: 'string', description: `Where it's "<at>" & l'été` } },
      },
    },
  },
];

function called(given: object): object {
  return {
    id: 'callWeir1',
    type: 'function',
    function: { name: 'get_level', arguments: JSON.stringify(given) },
  };
}

interface Case {
  readonly ways: Ways;
  readonly place: TextPlace;
  readonly form: Partial<SeenForm>;
  /** What was said of it when all templates were thought to write in the same few ways; absent if nothing was. */
  readonly accusedBefore?: readonly string[];
  /** What it leaves out for real. */
  readonly thinned?: string;
}

const texts = ['messages[0].content', 'messages[1].content', 'messages[3].content', 'messages[4].content'];

const cases: Readonly<Record<string, Case>> = {
  'as they are': { ways: {}, place: 'question', form: { characters: [], trims: 'nothing' } },
  trimmed: { ways: { text: 'm.content|trim' }, place: 'question', form: { trims: 'both' } },
  'as JSON': {
    ways: { text: 'm.content|tojson' },
    place: 'tool-result',
    form: { controls: 'json' },
  },
  'as JSON in ASCII': {
    ways: { text: 'm.content|tojson(ensure_ascii=true)' },
    place: 'answer',
    form: { beyondAscii: 'json', controls: 'json' },
  },
  'in capitals': {
    ways: { text: 'm.content|upper' },
    place: 'question',
    form: { letters: 'upper-ascii' },
    accusedBefore: texts,
  },
  'with entities of XML': {
    ways: {
      text: `m.content|replace("&","&amp;")|replace("<","&lt;")|replace(">","&gt;")|replace("'","&apos;")|replace('"',"&quot;")`,
    },
    place: 'instructions',
    form: {
      characters: [
        { given: '"', written: '&quot;' },
        { given: "'", written: '&apos;' },
        { given: '>', written: '&gt;' },
        { given: '&', written: '&amp;' },
        { given: '<', written: '&lt;' },
      ],
    },
    accusedBefore: ['messages[3].content', 'messages[4].content'],
  },
  'on one line': {
    ways: { text: String.raw`m.content|replace("\n"," ")|replace("  "," ")` },
    place: 'question',
    form: { changesSpace: true },
    accusedBefore: texts,
  },
  'as comments': {
    ways: { text: String.raw`m.content|replace("\n","\n;; ")` },
    place: 'question',
    form: { characters: [{ given: '\n', written: '\n;; ' }] },
    accusedBefore: ['messages[0].content', 'messages[1].content', 'messages[4].content'],
  },
  'without angle brackets': {
    ways: { text: `m.content|replace("<","")|replace(">","")` },
    place: 'question',
    form: {
      characters: [
        { given: '>', written: '' },
        { given: '<', written: '' },
      ],
    },
    accusedBefore: ['messages[0].content', 'messages[3].content', 'messages[4].content'],
    thinned: '<',
  },
  'without stars': {
    ways: { text: `m.content|replace("*","")` },
    place: 'question',
    form: { characters: [{ given: '*', written: '' }] },
    thinned: '*',
  },
  'descriptions with entities': {
    ways: { description: `t.function.description|replace("'","&apos;")|replace("\\n"," ")` },
    place: 'tool-description',
    form: { changesSpace: true, characters: [{ given: "'", written: '&apos;' }] },
    accusedBefore: ['tools[0].function.description'],
  },
};

const engines = new Map(
  await Promise.all(
    Object.entries(cases).map(
      async ([name, { ways }]) =>
        [
          name,
          await realEngine(() =>
            byteModelFile({
              name: `forms-${name.toLowerCase().replaceAll(' ', '-')}`,
              markers: turnMarkers,
              chatTemplate: template(ways),
            }),
          ),
        ] as const,
    ),
  ),
);

interface Told {
  /** Of messages and the tool's description; what else a tool says is left out by some of these templates. */
  readonly texts: readonly string[];
  readonly calls: number;
  readonly thinned: readonly string[];
}

function told({ texts: lost, calls, tools: gone, toolParts, thinned }: LostParts): Told {
  const descriptions = toolParts.filter(({ what }) => what === 'tool-description');
  return {
    texts: [...lost, ...gone, ...descriptions].map(({ path }) => formatPath(path)),
    calls: calls.length,
    thinned: [...new Set(thinned.map(({ leftOut }) => leftOut))],
  };
}

describe('a template that writes texts', { skip: [...engines.values()][0]!.skip }, () => {
  for (const [name, one] of Object.entries(cases)) {
    it(name, async () => {
      const { url } = await engines.get(name)!.server();
      const { engine } = openAdapter(url);
      const read = await engine.facts(undefined, context);
      await engine.close();
      assert.ok(read.known, read.known ? '' : read.reason);
      await check(one, url, read.facts);
    });
  }
});

async function check(
  { place, form: expected, accusedBefore = [], thinned }: Case,
  url: string,
  { reading }: ModelFacts,
): Promise<void> {
  const form = reading?.forms?.find(({ places }) => places.includes(place));
  assert.deepEqual({ ...form, ...expected }, form, JSON.stringify(reading));
  const rendered = async (body: object): Promise<string> =>
    String((await send(`${url}/apply-template`, body)).json['prompt']);
  const lostIn = (body: object, prompt: string, seen = reading): Told => {
    const request = typed('chat', body);
    assert.ok(request.kind === 'chat');
    return told(lostParts(request, prompt, seen));
  };
  const whole = { messages, tools };
  const prompt = await rendered(whole);
  const nothing = { texts: [], calls: 0, thinned: thinned === undefined ? [] : [thinned] };
  assert.deepEqual(lostIn(whole, prompt), nothing);
  assert.deepEqual(lostIn(whole, prompt, { ...reading!, forms: [] }).texts, accusedBefore);
  // What is gone is found in the same prompt, whatever form it would have had.
  const without = await rendered({ messages: messages.slice(0, -1), tools });
  assert.deepEqual(lostIn(whole, without).texts, ['messages[4].content']);
}
