// Notes among the messages that do not stay where they stood, as role-play clients and agents send them: whose doing the
// break is, and what it is not taken for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '../../../src/exchange/finding.ts';
import type { JsonObject } from '../../../src/exchange/request/request.ts';
import { assistant, Conversations, user } from '../../support/qwen3-sessions.ts';

const system = (content: string): JsonObject => ({ role: 'system', content });
const rules = Array.from({ length: 12 }, (_, rule) => `Rule ${rule} of the tale is that nobody wins.`);
const head = system(`Write the next reply of the guardian.\n${rules.join('\n')}`);
const note = system('Keep it dark and rainy.');
const turns = [
  user('Where am I, and who are you?'),
  assistant('In the glade; I am its guardian.'),
  user('How long have I slept here?'),
  assistant('Three nights and a day.'),
  user('Then show me the way out.'),
];
const [asked, answered, askedAgain] = turns;

async function foundIn(
  ...bodies: readonly (readonly (JsonObject | undefined)[])[]
): Promise<readonly Finding[]> {
  const conversations = new Conversations();
  let findings: readonly Finding[] = [];
  for (const messages of bodies) {
    ({ findings } = await conversations.chat({ messages: messages.filter((one) => one !== undefined) }));
  }
  return findings;
}

const named = (findings: readonly Finding[]): unknown[] =>
  findings.map(({ cause, severity, culprit, field }) => [cause, severity, culprit, field]);

describe('instructions that stand among the messages', () => {
  it("are the client's doing where they move with every turn", async () => {
    const findings = await foundIn(
      [head, asked, note, answered, askedAgain],
      [head, ...turns.slice(0, 3), note, ...turns.slice(3)],
    );
    assert.deepEqual(named(findings), [['history-edited', 'warning', 'client', 'messages[4]']]);
    assert.match(findings[0]!.message, /instructions that stood among the messages stand elsewhere/);
    assert.match(findings[0]!.advice, /a fixed distance from the end/);
  });

  it('are named where they stood in front of the first question, and the template is not blamed', async () => {
    const findings = await foundIn(
      [head, note, asked],
      [head, ...turns.slice(0, 3), note, ...turns.slice(3)],
    );
    assert.deepEqual(named(findings), [['history-edited', 'warning', 'client', 'messages[4]']]);
    assert.match(findings[0]!.advice, /a fixed distance from the end/);
  });

  it('are named where they have gone: the message that stands in their place', async () => {
    const findings = await foundIn([head, asked, note, answered, askedAgain], [head, ...turns]);
    assert.deepEqual(named(findings), [['history-edited', 'warning', 'client', 'messages[2]']]);
  });

  it('cost nothing but themselves where they are always the last', async () => {
    const findings = await foundIn([head, asked, note], [head, asked, answered, askedAgain, note]);
    assert.deepEqual(named(findings), [['history-edited', 'info', 'client', 'messages[4]']]);
  });

  it('are not taken for a clock at the head, which breaks first', async () => {
    const clock = (time: string): JsonObject => system(`It is ${time}.\n${rules.join('\n')}`);
    const findings = await foundIn(
      [clock('10:00:01'), asked, note, answered, askedAgain],
      [clock('10:00:09'), ...turns.slice(0, 3), note, ...turns.slice(3)],
    );
    assert.deepEqual(named(findings), [['volatile-time', 'warning', 'client', 'messages[0].content']]);
  });

  const clean: readonly [string, ...(readonly (JsonObject | undefined)[])[]][] = [
    ['that stay', [head, asked, note, answered, askedAgain], [head, asked, note, ...turns.slice(1)]],
    ['that come new at the end', [head, asked], [head, asked, answered, note, askedAgain]],
    [
      'that come again',
      [head, asked, answered, note, askedAgain],
      [head, asked, answered, note, ...turns.slice(2, 4), note, turns[4]],
    ],
  ];
  for (const [name, before, after] of clean) {
    it(`are no matter ${name}`, async () => {
      assert.deepEqual(await foundIn(before!, after!), []);
    });
  }
});

describe('reasoning that the client left out of a loop', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":"weir"}' } };
  const step = (thought: object): JsonObject => ({
    role: 'assistant',
    content: '',
    ...thought,
    tool_calls: [call],
  });
  const result: JsonObject = { role: 'tool', tool_call_id: 'c1', content: 'A low dam across a river.' };
  const thought = { reasoning_content: 'I should look it up first.' };
  const next: JsonObject = { role: 'tool', tool_call_id: 'c1', content: 'It measures the flow.' };
  const loop = (first: object): JsonObject[] => [head, user('What is a weir?'), step(first), result];

  it('is named, beside the message that it was in', async () => {
    const findings = await foundIn(loop(thought), [...loop({}), step({}), next]);
    assert.deepEqual(named(findings), [['history-edited', 'warning', 'client', 'messages[2]']]);
    assert.match(findings[0]!.message, /came back without its reasoning/);
    assert.match(findings[0]!.advice, /send the reasoning back/);
  });

  it('is not what is said of reasoning that came back changed', async () => {
    const other = { reasoning_content: 'No need to look.' };
    const [finding] = await foundIn(loop(thought), [...loop(other), step({}), next]);
    assert.match(finding!.message, /a message that was sent before came back changed/);
  });
});
