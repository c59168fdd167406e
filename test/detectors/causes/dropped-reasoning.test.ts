// Reasoning that Qwen3's template writes within a loop of tools and leaves out once the user asks again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '../../../src/exchange/finding.ts';
import type { TemplateReading } from '../../../src/exchange/model-facts.ts';
import type { JsonObject } from '../../../src/exchange/request/request.ts';
import {
  assistant,
  Conversations,
  getTime,
  getWeather,
  render,
  system,
  tokenize,
  user,
} from '../../support/qwen3-sessions.ts';

const tools = [getTime];
const thought = 'The user wants the time in Oslo, so the clock must be asked.';
const later = 'The clock was asked, and what it says is all that is needed.';
const asks = (city: string, reasoning: JsonObject): JsonObject => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ type: 'function', function: { name: 'get_time', arguments: { city } } }],
  ...reasoning,
});
const result = { role: 'tool', content: '10:00' };
const question = user('What time is it in Oslo?');
const next = user('And in Rome?');
const answer = { ...assistant('Ten.'), reasoning_content: later };
const loop = [system, question, asks('Oslo', { reasoning_content: thought }), result];

async function found(...bodies: readonly JsonObject[]): Promise<readonly Finding[]> {
  const conversations = new Conversations();
  let findings: readonly Finding[] = [];
  for (const body of bodies) ({ findings } = await conversations.chat(body));
  return findings;
}

const named = (findings: readonly Finding[]): unknown[] =>
  findings.map(({ cause, severity, culprit, field }) => [cause, severity, culprit, field]);

describe('reasoning that the template leaves out at the next question', () => {
  it('is told as such, where it stood, and accuses nobody', async () => {
    const findings = await found({ messages: loop, tools }, { messages: [...loop, answer, next], tools });
    assert.deepEqual(named(findings), [
      ['reasoning-dropped', 'info', 'template', 'messages[2].reasoning_content'],
    ]);
    const before = await tokenize(render({ messages: loop, tools }));
    const { tokens, lostTokens } = findings[0]!;
    assert.equal(tokens!.start + lostTokens!, before.ids.length);
    assert.match(
      String(
        before.text?.slice(
          0,
          before.segments!.find(({ tokenStart }) => tokenStart >= tokens!.start)!.textStart,
        ),
      ),
      /<\|im_start\|>assistant\n$/,
    );
  });

  it('is told of reasoning inside the content', async () => {
    const inside = [
      system,
      question,
      { ...asks('Oslo', {}), content: `<think>\n${thought}\n</think>\n\nI ask the clock.` },
      result,
    ];
    assert.deepEqual(
      named(await found({ messages: inside, tools }, { messages: [...inside, answer, next], tools })),
      [['reasoning-dropped', 'info', 'template', 'messages[2].content']],
    );
  });

  it('is told of the first of several in a loop', async () => {
    const twice = [...loop, asks('Rome', { reasoning_content: later }), result];
    assert.deepEqual(
      named(
        await found(
          { messages: loop, tools },
          { messages: twice, tools },
          { messages: [...twice, answer, next], tools },
        ),
      ),
      [['reasoning-dropped', 'info', 'template', 'messages[2].reasoning_content']],
    );
  });

  it('is a warning within a loop, where each step pays for it', async () => {
    const conversations = new Conversations();
    const messages = [...loop, asks('Rome', { reasoning_content: later }), result];
    (
      await conversations.begin(
        'chat',
        { messages: loop, tools },
        await tokenize(render({ messages: loop, tools })),
      )
    ).remember();
    const without = render({ messages, tools }).replace(thought, '');
    const { findings } = await conversations.begin('chat', { messages, tools }, await tokenize(without));
    assert.deepEqual(named(findings), [
      ['reasoning-dropped', 'warning', 'template', 'messages[2].reasoning_content'],
    ]);
  });
});

describe('a think block without reasoning in a loop', () => {
  const reading: TemplateReading = {
    dropped: ['reasoning'],
    droppedFields: [],
    mergesInstructions: false,
    developerAsSystem: false,
    reasoningMembers: ['reasoning_content'],
  };
  const silent = [system, question, asks('Oslo', {}), result];
  const more = [...silent, asks('Rome', {}), result];
  const again = [...silent, assistant('Ten.'), next];
  /** As Qwen3.5 writes the loop that goes on. */
  const withBlocks = (messages: readonly JsonObject[]): string =>
    render({ messages, tools }).replaceAll(
      '<|im_start|>assistant\n<tool_call>',
      '<|im_start|>assistant\n<think>\n\n</think>\n\n<tool_call>',
    );

  async function foundIn(
    ...turns: readonly { readonly messages: readonly JsonObject[]; readonly text: string }[]
  ): Promise<readonly Finding[]> {
    const conversations = new Conversations({}, reading);
    let findings: readonly Finding[] = [];
    for (const { messages, text } of turns) {
      const visit = await conversations.begin('chat', { messages, tools }, await tokenize(text));
      visit.remember();
      ({ findings } = visit);
    }
    return findings;
  }
  const begun = { messages: silent, text: withBlocks(silent) };

  it('that is left out once the user asks again accuses nobody', async () => {
    const findings = await foundIn(begun, { messages: again, text: render({ messages: again, tools }) });
    assert.deepEqual(named(findings), [['reasoning-dropped', 'info', 'template', undefined]]);
    assert.match(findings[0]!.message, /empty think block/);
  });

  it('is a warning where it is left out within the loop', async () => {
    const findings = await foundIn(begun, { messages: more, text: render({ messages: more, tools }) });
    assert.deepEqual(named(findings), [['unknown', 'warning', 'template', undefined]]);
  });

  it('does not explain a break elsewhere', async () => {
    const changed = render({ messages: again, tools }).replace('10:00', 'ten');
    const findings = await foundIn(
      { messages: silent, text: render({ messages: silent, tools }) },
      { messages: again, text: changed },
    );
    assert.deepEqual(named(findings), [['unknown', 'warning', 'template', undefined]]);
  });
});

describe('reasoning that is left out', () => {
  const on = { messages: [...loop, answer, next], tools };

  it('does not explain a break before it', async () => {
    const clock = (time: string): readonly JsonObject[] => [
      { role: 'system', content: `You are terse. It is ${time}.` },
      ...loop.slice(1),
    ];
    const early = await found(
      { messages: clock('10:00:01'), tools },
      { messages: [...clock('10:00:19'), answer, next], tools },
    );
    assert.deepEqual(
      early.map(({ cause }) => cause),
      ['volatile-time'],
    );
    const moreTools = await found({ messages: loop, tools }, { ...on, tools: [getTime, getWeather] });
    assert.deepEqual(
      moreTools.map(({ cause }) => cause),
      ['tools-changed'],
    );
  });

  it('does not explain what the template changed elsewhere', async () => {
    const conversations = new Conversations();
    const dated = (day: string, body: JsonObject) => tokenize(`${day}${render(body)}`);
    (
      await conversations.begin(
        'chat',
        { messages: loop, tools },
        await dated('Monday', { messages: loop, tools }),
      )
    ).remember();
    const { findings } = await conversations.begin('chat', on, await dated('Tuesday', on));
    assert.deepEqual(named(findings), [['unknown', 'warning', 'template', undefined]]);
  });

  it('does not explain a break where it had been left out before', async () => {
    const plain = [system, question, { ...assistant('Ten.'), reasoning_content: later }, next];
    const conversations = new Conversations();
    const first = render({ messages: plain });
    assert.ok(!first.includes(later));
    (await conversations.begin('chat', { messages: plain }, await tokenize(first))).remember();
    const messages = [...plain, assistant('Eleven.'), user('And in Bern?')];
    const changed = render({ messages }).replace('assistant\nTen.', 'assistant\n\nTen.');
    const { findings } = await conversations.begin('chat', { messages }, await tokenize(changed));
    assert.deepEqual(named(findings), [['unknown', 'warning', 'template', undefined]]);
  });

  it('is the doing of the client that changed the template arguments', async () => {
    const findings = await found(
      { messages: loop, tools },
      { ...on, chat_template_kwargs: { preserve_thinking: false } },
    );
    assert.deepEqual(
      findings.map(({ cause, culprit }) => [cause, culprit]),
      [['unknown', 'client']],
    );
  });

  it('is the doing of the client that took it out of a message, or changed it', async () => {
    for (const changed of [{}, { reasoning_content: later }]) {
      const messages = [system, question, asks('Oslo', changed), result, assistant('Ten.'), next];
      assert.deepEqual(named(await found({ messages: loop, tools }, { messages, tools })), [
        ['history-edited', 'warning', 'client', 'messages[2]'],
      ]);
    }
  });

  it('is not known where the engine shows no text', async () => {
    const conversations = new Conversations();
    const ids = async (body: JsonObject) => {
      const { known, ids: all, source } = await tokenize(render(body));
      return { known, ids: all, source };
    };
    (
      await conversations.begin('chat', { messages: loop, tools }, await ids({ messages: loop, tools }))
    ).remember();
    const { findings } = await conversations.begin('chat', on, await ids(on));
    assert.deepEqual(named(findings), [['unknown', 'warning', 'template', undefined]]);
  });
});

describe('reasoning that the client takes out itself', () => {
  const reading = {
    dropped: ['reasoning'],
    droppedFields: [],
    mergesInstructions: false,
    developerAsSystem: false,
    reasoningMembers: ['reasoning_content'],
  };
  const without = [system, question, asks('Oslo', {}), result, assistant('Ten.'), next];

  async function foundAfter(messages: readonly JsonObject[], dropped: readonly string[]): Promise<unknown[]> {
    const conversations = new Conversations({}, { ...reading, dropped });
    await conversations.chat({ messages: loop, tools });
    return named((await conversations.chat({ messages, tools })).findings);
  }

  it('is no edit where the template leaves it out as well', async () => {
    assert.deepEqual(await foundAfter(without, ['reasoning']), [
      ['reasoning-dropped', 'info', 'template', 'messages[2]'],
    ]);
  });

  it('is one where the template would have kept it', async () => {
    assert.deepEqual(await foundAfter(without, []), [['history-edited', 'warning', 'client', 'messages[2]']]);
  });

  it('is one where the message was changed, too, or nothing was asked since', async () => {
    const changed = without.with(2, asks('Bern', {}));
    const within = [
      system,
      question,
      asks('Oslo', {}),
      result,
      asks('Rome', {}),
      { role: 'tool', content: '11:00' },
    ];
    for (const messages of [changed, within]) {
      assert.deepEqual(await foundAfter(messages, ['reasoning']), [
        ['history-edited', 'warning', 'client', 'messages[2]'],
      ]);
    }
  });
});
