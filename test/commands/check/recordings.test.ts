// `tokenweir check` of recordings: with no engine, with the same one, and with one that renders otherwise since.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cleanRequest, doubledRequest, openCheckFolder } from '../../support/check-folder.ts';
import { getTime, getWeather, S } from '../../support/conversations.ts';
import { byteModelFile } from '../../support/gguf/byte-model.ts';
import { startLlamaServer } from '../../support/llama-server/server.ts';
import { realEngine } from '../../support/real-engine.ts';

const gemma3 = await realEngine('gemma3');
const qwen3 = await realEngine('qwen3');
const { skip } = gemma3;
const { folder, file, check, checkJson } = openCheckFolder();
const doubled = file('doubled.json', doubledRequest);
const clean = file('clean.json', cleanRequest);

describe('tokenweir check of recordings', { skip }, () => {
  it('judges them without any engine, as when they were recorded', async () => {
    const { url } = await gemma3.server();
    const live = await check([doubled, clean], { upstream: url, record: 'frozen.jsonl' });
    assert.equal(live.code, 1);
    assert.equal(live.stderr, 'frozen.jsonl: 2 recorded, prompts and ids included\n');
    assert.equal(statSync(join(folder, 'frozen.jsonl')).mode & 0o777, 0o600);
    const { code, stdout } = await check(['frozen.jsonl']);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^frozen\.jsonl:3, recorded 20\S+Z from build \S+\nwrong then:\nerror\[double-bos;literal\]/,
    );
    const pseudonyms = /‹[^›]+›/g;
    const block = (text: string): string | undefined =>
      /^error\[[^]*?\n\n/m.exec(text)?.[0].replaceAll(pseudonyms, '‹›');
    assert.equal(block(stdout), block(live.stdout));
    assert.match(stdout, /\n2 requests: 1 clean, 1 error, 0 warnings, 0 notes, 2 replies not recorded\n$/);
  });

  it('tells that nothing has moved, and what was wrong then and still is', async () => {
    const { url } = await gemma3.server();
    await check([doubled, clean], { upstream: url, record: 'still.jsonl' });
    const { code, stdout } = await check(['still.jsonl'], { upstream: url });
    assert.equal(code, 1);
    assert.match(stdout, /\nwrong then and today:\nerror\[double-bos/);
    assert.match(
      stdout,
      /\n2 requests: 1 clean, 1 error, 0 warnings, 0 notes, 0 moved since, 2 replies not recorded\n$/,
    );
  });

  it('takes exchanges of one conversation in order, each compared with the one before', async () => {
    const { url } = await qwen3.server();
    const turns = [
      { messages: S[0], tools: [getWeather, getTime] },
      { messages: S[1], tools: [getTime, getWeather] },
      { messages: S[2], tools: [getTime, getWeather] },
    ].map((body, index) => file(`turn-${index}.json`, body));
    const { code } = await check(turns, {
      upstream: url,
      session: 'mine',
      record: 'turns.jsonl',
      failOn: 'warning',
    });
    assert.equal(code, 1);
    const { results, summary } = await checkJson(['turns.jsonl']);
    assert.deepEqual(
      results.map(({ then }) => then?.findings.map(({ kind, cause, field }) => [kind, cause, field])),
      [[], [['prefix-break', 'tools-reordered', 'tools[0]']], []],
    );
    assert.deepEqual([summary.warnings, summary.clean], [1, 2]);
    // The same files without a common name are strangers to each other.
    assert.equal((await check(turns, { upstream: url, failOn: 'warning' })).code, 0);
  });

  it('says of a template that writes the date that the day is another', async () => {
    const chatTemplate = `{{ strftime_now("%Y-%m-%d") }}${templates.plain}`;
    const server = await startLlamaServer({ model: await model(chatTemplate) });
    try {
      await check([clean], { upstream: server.url, record: 'dated.jsonl' });
      const text = readFileSync(join(folder, 'dated.jsonl'), 'utf8');
      file('old.jsonl', text.replace(/"date":"[^"]*"/, '"date":"2020-02-29T12:00:00.000Z"'));
      const changed = async (name: string) =>
        (await checkJson([name], { upstream: server.url })).results[0]?.factsChanged;
      assert.deepEqual([await changed('dated.jsonl'), await changed('old.jsonl')], [[], ['date']]);
    } finally {
      await server.stop();
    }
  });

  const turn = '{{ "<|u|>" + m.content + "<|e|>" }}';
  const templates = {
    plain: `{% for m in messages %}${turn}{% endfor %}{% if add_generation_prompt %}<|a|>{% endif %}`,
    framed: `<|s|>{% for m in messages %}${turn}{% endfor %}{% if add_generation_prompt %}<|a|>{% endif %}`,
    shouting: `{% for m in messages %}${turn.replace('m.content', 'm.content|replace("weir", "WEIR")')}{% endfor %}{% if add_generation_prompt %}<|a|>{% endif %}`,
    silent: `{% for m in messages %}${turn}{% endfor %}`,
  };
  const model = (chatTemplate: string) =>
    byteModelFile({ name: 'moved', markers: ['<|u|>', '<|a|>', '<|e|>', '<|s|>'], chatTemplate });
  const plain = realEngine(() => model(templates.plain));

  const moves: readonly (readonly [
    name: keyof typeof templates,
    position: number,
    depth: string,
    says: RegExp,
  ])[] = [
    ['framed', 0, 'wire-format', /from the first token on: .* wire format/],
    // <|u|> A space w: the fourth character of the text is the first to change.
    ['shouting', 3, 'content', /the same for 3 tokens of \d+, so the wire format is/],
    [
      'silent',
      8,
      'generation-prompt',
      /^The recorded prompt goes on .* 1 token: exactly the generation prompt\.$/,
    ],
  ];
  for (const [name, position, depth, says] of moves) {
    it(`tells where the engine renders them differently today: ${depth}`, async () => {
      const request = file('weir.json', { messages: [{ role: 'user', content: 'A weir' }] });
      const record = `before-${name}.jsonl`;
      await check([request], { upstream: (await (await plain).server()).url, record });
      const today = await startLlamaServer({ model: await model(templates[name]) });
      try {
        const { results } = await checkJson([record], { upstream: today.url });
        const [moved] = results[0]?.moved ?? [];
        assert.deepEqual([moved?.position, moved?.depth], [position, depth]);
        assert.match(moved?.message ?? '', says);
        assert.deepEqual(results[0]?.factsChanged, ['template']);
        const human = await check([record], { upstream: today.url });
        assert.match(human.stdout, new RegExp(`^warning\\[moved since;${depth}\\] model moved$`, 'm'));
        assert.match(human.stdout, /^ += changed: template$/m);
        assert.match(human.stdout, /, 1 moved since, 1 reply not recorded\n$/);
        // Moved is no error by itself; who keeps recordings to be told asks for warnings. Text that became another is lost.
        assert.equal(human.code, depth === 'content' ? 1 : 0);
        assert.equal((await check([record], { upstream: today.url, failOn: 'warning' })).code, 1);
        assert.equal(
          (await check([record], { upstream: today.url, failOn: 'warning', frozen: true })).code,
          0,
        );
      } finally {
        await today.stop();
      }
    });
  }
});
