// Template truth over many families: every published template on a real server, the product in front of it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, it } from 'node:test';
import { findLlamaServer } from '../support/llama-server/binary.ts';
import { publishedTemplates, type PublishedTemplate } from '../support/templates/published.ts';
import { threeTurns } from './conversations.ts';
import { faultNames, faults } from './faults.ts';
import { idOf, judge, type Judgement } from './judge.ts';
import { pageOf, pagePath } from './page.ts';

const templates = await available();

/** Some are served at the same time: most of a template's time is a server's start. */
const atOnce = 2;
const judgements = new Map<string, Promise<Judgement>>();
const waiting = [...templates];
const running = new Set<Promise<unknown>>();
after(async () => {
  waiting.length = 0;
  await Promise.allSettled(running);
});

async function available(): Promise<readonly PublishedTemplate[]> {
  const [found, server] = await Promise.all([publishedTemplates(), findLlamaServer()]);
  if (!('missing' in found) && !('missing' in server)) return found;
  const missing =
    'missing' in found ? `no templates: ${found.missing}` : 'missing' in server ? server.missing : '';
  if (process.env['CI'] === 'true') throw new Error(missing);
  console.error(`Skipped, ${missing}`);
  return [];
}

/** Keeps the next templates going while one is looked at. */
function judged(template: PublishedTemplate): Promise<Judgement> {
  while (waiting.length > 0 && (running.size < atOnce || !judgements.has(template.name))) {
    const next = waiting.shift()!;
    const judgement = judge(next);
    judgements.set(next.name, judgement);
    running.add(judgement);
    judgement.catch(() => undefined).finally(() => running.delete(judgement));
  }
  return judgements.get(template.name)!;
}

const messages = threeTurns.at(-1)!.messages as readonly {
  readonly role: string;
  readonly content: string;
}[];

function checkBos({ model, facts, bosTokens, rendered }: Judgement): void {
  const bos = model.bos ?? '';
  const isWritten = rendered.startsWith(bos);
  assert.equal(bosTokens.chat, model.addBos === true || isWritten ? 1 : 0, 'one BOS at the head of a chat');
  assert.equal(bosTokens.text, model.addBos === true ? 1 : 0);
  assert.equal(facts.bos?.text, bosTokens.chat === 1 ? bos : undefined);
  const added = model.addBos === true ? [idOf(model, bos)] : [];
  assert.deepEqual(facts.addedPrefix, { chat: added, completion: added });
}

/** They may stand in a question's turn, in front of the question. */
function withoutInstructions(text: string): string {
  return text.replace(`${messages[0]!.content}\n`, '');
}

function checkRoleMarkers({ facts, rendered }: Judgement): void {
  const openings = new Map(facts.roleMarkers.map(({ role, opening }) => [role, opening]));
  assert.ok(openings.has('user') && openings.has('assistant'), 'user and assistant have openings');
  for (const { role, content } of messages) {
    const opening = openings.get(role);
    if (opening === undefined) continue;
    const at = rendered.indexOf(content);
    const head = withoutInstructions(rendered.slice(0, at)).trimEnd();
    // A template may put a text of its own between the opening of a system turn and the client's instructions.
    const isThere = role === 'system' ? head.includes(opening.trim()) : head.endsWith(opening.trim());
    assert.ok(isThere, `${role} opens a turn`);
  }
}

function checkTurnEnds({ facts: { turnEnds = [], userTurnEnd, roleMarkers }, rendered }: Judgement): void {
  for (const [index, { role, content }] of messages.entries()) {
    const next = messages[index + 1];
    if (role === 'system' || next === undefined) continue;
    const gap = withoutInstructions(
      rendered.slice(rendered.indexOf(content) + content.length, rendered.indexOf(next.content)),
    ).trim();
    const opening = roleMarkers.find((marker) => marker.role === next.role)?.opening ?? '';
    assert.ok(gap.endsWith(opening.trim()), 'a turn opens');
    const end = gap.slice(0, gap.length - opening.trim().length).trim();
    if (role === 'user' && userTurnEnd !== undefined)
      assert.equal(end, userTurnEnd, 'what ends each question');
    assert.ok(
      end === '' || turnEnds.some((one) => end.startsWith(one)),
      `${JSON.stringify(end)} ends a turn`,
    );
  }
}

function checkGenerationPrompt({ facts: { generationPrompt }, rendered, ids }: Judgement): void {
  assert.ok(generationPrompt, 'there is one');
  assert.ok(rendered.endsWith(generationPrompt.text));
  assert.deepEqual(ids.slice(-generationPrompt.ids.length), generationPrompt.ids);
}

function checkMarkers({ model, facts, ids, rendered, renderedWithTools = '' }: Judgement): void {
  const proven = new Map(facts.markers.map(({ text, id }) => [text, id]));
  for (const [text, id] of proven) assert.equal(idOf(model, text), id);
  for (const marker of model.markers) {
    if (`${rendered}${renderedWithTools}`.includes(marker))
      assert.ok(proven.has(marker), `${marker} is a marker`);
  }
  assert.ok(
    ids.every((id) => id < 263 || [...proven.values()].includes(id)),
    'no id above text is unknown',
  );
}

describe('a published template', { skip: templates.length === 0 }, () => {
  for (const template of templates) {
    it(`${template.name}: facts, clean conversations, faults`, async () => {
      const judgement = await judged(template);
      checkBos(judgement);
      checkRoleMarkers(judgement);
      checkTurnEnds(judgement);
      checkGenerationPrompt(judgement);
      checkMarkers(judgement);
      assert.doesNotMatch(JSON.stringify(judgement.facts), /Weir|weir_probe/);
      const { chat, tools, raw } = judgement;
      assert.deepEqual(
        { chat: chat.found, tools: tools.found, raw: raw.found },
        { chat: chat.expected, tools: tools.expected, raw: raw.expected },
      );
      for (const name of faultNames) {
        assert.match(judgement.faults[name], /^(?:found|not-applicable)$/, faults[name].title);
      }
    });
  }

  it(`is in ${pagePath} with what was found: npm run families writes it`, async () => {
    const all = await Promise.all(templates.map(judged));
    assert.equal(await readFile(pagePath, 'utf8'), await pageOf(all));
  });
});
