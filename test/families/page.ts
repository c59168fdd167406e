// Writes docs/templates.md from what was found with each template.
import { format, resolveConfig } from 'prettier';
import { templateSource } from '../support/templates/published.ts';
import { faultNames, faults } from './faults.ts';
import type { CleanResult, FaultResult, Judgement } from './judge.ts';

export const pagePath = 'docs/templates.md';

export async function pageOf(judgements: readonly Judgement[]): Promise<string> {
  const text = [
    introduction(judgements),
    '## What was learnt',
    learnt(judgements),
    '## What was found',
    foundText,
    found(judgements),
  ].join('\n\n');
  return format(text, { ...(await resolveConfig(pagePath)), parser: 'markdown' });
}

function introduction(judgements: readonly Judgement[]): string {
  return `# Templates

<!-- Written by \`npm run families\`; a test compares it with what the engine says. -->

Every chat template that llama.cpp keeps for its own tests (${judgements.length} of them, from npm's \`${templateSource}\`), each
served by a real llama-server: a model with random weights whose vocabulary is the 256 bytes and that template's markers.
Nothing in Tokenweir knows these names. What is in the first table was learnt by asking the engine, as it is for any model.

\`[INST]…[/INST]\` and its like have no generation prompt of their own: what ends the question is what the answer follows.
BOS is counted at the head of a chat and of a raw text. An empty cell: the template has no such thing.`;
}

function learnt(judgements: readonly Judgement[]): string {
  const head = [
    'template',
    'BOS',
    'chat',
    'text',
    'system',
    'user',
    'assistant',
    'tool',
    'turn end',
    'generation prompt',
    'think tail',
    'date',
  ];
  const rows = judgements.map(({ name, facts, bosTokens }) => {
    const opening = (role: string): string =>
      code(facts.roleMarkers.find((marker) => marker.role === role)?.opening);
    return [
      name,
      code(facts.bos?.text),
      String(bosTokens.chat),
      String(bosTokens.text),
      opening('system'),
      opening('user'),
      opening('assistant'),
      opening('tool'),
      (facts.turnEnds ?? []).map(code).join(' '),
      code(facts.generationPrompt?.text),
      code(facts.thinkTail?.text),
      facts.templateWritesDate ? 'yes' : '',
    ];
  });
  return table(head, rows);
}

const foundText = `**Chat** and **tools** are three turns of a conversation without anything wrong, sent one after the other; **raw** is the
same conversation, rendered by the client, with its instructions and without. What is above info is listed; \`prefix-break\`
means that the template itself writes earlier turns anew when the conversation goes on, which the engine's renderings show,
too; that it leaves out what was thought is no more than an info. \`tools-dropped\` and
\`content-lost\`: another tool, call, result or text in their place leaves the rendering as it is. The other columns are faults put
into a request: found, with the right cause, culprit and place and nothing else beside it; – where it is no fault to this
model (two of a token that it does not know as BOS; calls that it writes all of, none of, or refuses), and nothing was said.`;

function found(judgements: readonly Judgement[]): string {
  const head = ['template', 'chat', 'tools', 'raw', ...faultNames.map((name) => faults[name].title)];
  const rows = judgements.map(({ name, chat, tools, raw, faults: results }) => [
    name,
    clean(chat),
    clean(tools),
    clean(raw),
    ...faultNames.map((fault) => words[results[fault]]),
  ]);
  return table(head, rows);
}

const words: Readonly<Record<FaultResult, string>> = {
  found: 'found',
  missed: '**missed**',
  accused: '**more than that**',
  'not-applicable': '–',
};

function clean({ refused, found }: CleanResult): string {
  if (refused) return 'refused by the template';
  return found.length === 0 ? 'clean' : found.map((kind) => `\`${kind}\``).join(', ');
}

/** A bar in a code span of a table must be escaped; a line break is shown as it is written in JSON. */
function code(text: string | undefined): string {
  if (text === undefined || text === '') return '';
  const shown = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll('|', '\\|');
  const space = /^ | $/.test(text) ? ' ' : '';
  return `\`${space}${shown}${space}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
