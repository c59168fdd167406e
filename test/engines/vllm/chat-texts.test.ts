// The text of a chat's ids, of an engine that tells no rendered text: what the template rendered, whatever is in it.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { KnownTokens } from '../../../src/exchange/token-read.ts';
import { VllmEngine } from '../../../src/engines/vllm.ts';
import type { Family } from '../../support/gguf/families.ts';
import { eventually } from '../../support/exchanges.ts';
import { standIn, type StandIn, type StandInOptions } from '../../support/vllm/stand-in.ts';
import { context, openAdapter, typed } from '../engine-under-test.ts';

const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

const families: readonly Family[] = ['gemma3', 'qwen3', 'llama3.1'];

interface Opened {
  /** Texts of the model's markers, as far as they are known by now. */
  readonly markers: () => Promise<readonly string[]>;
  readonly server: StandIn;
  readonly read: (body: object) => Promise<KnownTokens>;
}

async function open(family: Family, options: StandInOptions = {}): Promise<Opened> {
  const server = await standIn(family, options);
  const { engine } = openAdapter(server.url, { adapter: VllmEngine, timeoutMs: 60_000 });
  closers.push(async () => {
    await engine.close();
    await server.close();
  });
  const facts = await engine.facts(undefined, context);
  assert.ok(facts.known);
  return {
    server,
    markers: async () => {
      const now = await engine.facts(undefined, context);
      return now.known ? now.facts.markers.map(({ text }) => text) : [];
    },
    read: async (body) => {
      const [read] = await engine.read(typed('chat', body), facts.facts, context).prompts();
      assert.ok(read?.known);
      return read;
    },
  };
}

const texts = [
  'Plain words.',
  ' two  spaces, \ttabs\n\n\nand lines ',
  "don't . ! ? 's - 1234567 + 3.14",
  'naïve é 漢字かな 한국어 Привет עברית 👩‍👩‍👧‍👦🙂',
  '<b>&amp;</b> {"a": [1, "\\n"]} ```ts\nconst a = 1;\n```',
  '<0x0A> and Ġ and Ċ',
];

for (const family of families) {
  describe(`the text of ${family}'s chats`, () => {
    it('is what the ids say, cut where markers begin', async () => {
      const { read } = await open(family);
      for (const content of texts) {
        const { text = '', segments = [], ids } = await read({ messages: [{ role: 'user', content }] });
        assert.ok(text.includes(content.trim()), JSON.stringify(text));
        assert.ok(segments.length > 2);
        for (const { tokenStart, textStart } of segments.slice(1)) {
          assert.match(text.slice(textStart), /^<[^<>]+>/);
          assert.ok(tokenStart > 0 && tokenStart < ids.length);
        }
      }
    });

    it('leaves out what the engine puts in front of it', async () => {
      const { read } = await open(family);
      const messages = [{ role: 'user', content: 'Hi' }];
      const [plain, added] = [await read({ messages }), await read({ messages, add_special_tokens: true })];
      assert.equal(added.text, plain.text);
      assert.equal(added.segments?.[0]?.tokenStart, added.ids.length - plain.ids.length);
    });
  });
}

describe('the text of a chat whose characters the tokenizer composes', () => {
  it('is what the model reads', async () => {
    const { read } = await open('qwen3');
    const { text = '' } = await read({ messages: [{ role: 'user', content: 'cafe\u0301' }] });
    assert.ok(text.includes('caf\u00E9'));
  });
});

describe('the text of a chat is not known, and its ids are', () => {
  const entries: Record<string, NonNullable<StandInOptions['entries']>> = {
    'where the server names no entries': () => null,
    'where the entries are written in another way': (all) => all.map((entry) => entry.toUpperCase()),
    'where an id has no entry': (all) => all.map((entry) => (entry === 'Hi' ? null : entry)),
    'where an entry is a part of a character': (all) =>
      all.map((entry) => (entry === 'Hi' ? '\uFFFD' : entry)),
  };
  for (const [name, told] of Object.entries(entries)) {
    it(name, async () => {
      const { read } = await open('gemma3', { entries: told });
      const { ids, text, segments } = await read({ messages: [{ role: 'user', content: 'Hi' }] });
      assert.ok(ids.length > 5);
      assert.deepEqual([text, segments], [undefined, undefined]);
    });
  }

  it('and what can not be learnt is asked for once', async () => {
    const { server, read } = await open('gemma3', {
      entries: (all) => all.map((entry) => (entry === 'Hi' ? null : entry)),
    });
    const body = { messages: [{ role: 'user', content: 'Hi' }] };
    await read(body);
    const before = server.asked.length;
    assert.equal((await read(body)).text, undefined);
    assert.deepEqual(server.asked.slice(before), ['POST /tokenize']);
  });
});

describe('the text of ids that came without entries', () => {
  it('is learnt from the text that the engine makes of them, and of new ids only', async () => {
    const idsOfBody = new Map<string, number[]>();
    const { server, read } = await open('qwen3', {
      intercept: (path, body) => {
        if (!path.endsWith('/render')) return undefined;
        const ids = idsOfBody.get(body);
        // A refusal: learning the facts asks for bodies of its own.
        if (ids === undefined) return { status: 400, text: '{"error":{"message":"no"}}' };
        return { status: 200, text: JSON.stringify({ token_ids: ids }) };
      },
    });
    /** Told by the route's own render endpoint; what else was asked for it. */
    const rendered = async (body: object) => {
      const asked = JSON.stringify(body);
      const reply = await fetch(`${server.url}/tokenize`, { method: 'POST', body: asked });
      idsOfBody.set(asked, ((await reply.json()) as { tokens: number[] }).tokens);
      const before = server.asked.length;
      const { text } = await read(body);
      return { text, asked: server.asked.slice(before) };
    };
    const first = [{ role: 'user', content: 'What is a weir?' }];
    const { text } = await rendered({ messages: first });
    assert.ok(text?.includes('What is a weir?'));
    assert.deepEqual(await rendered({ messages: first }), {
      text,
      asked: ['POST /v1/chat/completions/render'],
    });
    const grown = [
      ...first,
      { role: 'assistant', content: 'A dam, 漢字.' },
      { role: 'user', content: 'Why?' },
    ];
    const more = await rendered({ messages: grown });
    assert.ok(more.text?.includes('A dam, 漢字.'));
    assert.equal(more.asked.length, 3);
  });
});

describe('markers that only chats have shown', () => {
  it('are proven beside them, and what is written alike and is no token is not', async () => {
    const { read, markers } = await open('qwen3', { without: ['/tokenizer_info'] });
    assert.ok(!(await markers()).includes('<|vision_start|>'));
    const content = 'What are <|vision_start|>, <|weir_start|> and <T>?';
    await read({ messages: [{ role: 'user', content }] });
    await eventually(async () => (await markers()).includes('<|vision_start|>'), 'it is a marker');
    assert.deepEqual(
      (await markers()).filter((text) => ['<|weir_start|>', '<T>'].includes(text)),
      [],
    );
    const { text = '', segments = [] } = await read({ messages: [{ role: 'user', content }] });
    assert.ok(segments.some(({ textStart }) => textStart === text.indexOf('<|vision_start|>')));
  });
});
