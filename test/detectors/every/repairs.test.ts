// Each repair, made, removes what it was for and makes nothing else. The repaired body is read, rendered and tokenized
// again, and every detector is asked again: those that are on the list today, and those to come.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import { detectors } from '../../../src/detectors/index.ts';
import { runDetectors } from '../../../src/detectors/run.ts';
import { addedTo } from '../../../src/engines/vllm/added-ids.ts';
import type { Exchange } from '../../../src/exchange/exchange.ts';
import type { Finding, FindingKind } from '../../../src/exchange/finding.ts';
import type { ModelFacts } from '../../../src/exchange/model-facts.ts';
import type { ChatRequest, GenerationRequest, JsonObject } from '../../../src/exchange/request/request.ts';
import { contentText } from '../../../src/exchange/request/system-text.ts';
import { rewriteBody } from '../../../src/policies/rewrite.ts';
import { buildExchange, buildRequest, factsOf } from '../../support/exchange-builder.ts';
import { tokenizedText } from '../../support/tokenized-text.ts';

interface Sent {
  readonly route: 'chat' | 'completion';
  readonly facts: ModelFacts;
  readonly engine?: 'vllm';
  readonly body: JsonObject;
}

/** As templates do: each message between its markers; a last answer is left open, else one is opened. */
function rendered({ messages }: ChatRequest, facts: ModelFacts): string {
  const { roleMarkers, turnEnds = [], bos, generationPrompt } = facts;
  const turns = messages.map(({ role, value }, index) => {
    const opening = roleMarkers.find((marker) => marker.role === role)?.opening ?? '';
    const isOpen = role === 'assistant' && index === messages.length - 1;
    return opening + contentText(value['content']).trim() + (isOpen ? '' : `${turnEnds[0] ?? ''}\n`);
  });
  const opened = messages.at(-1)?.role === 'assistant' ? '' : (generationPrompt?.text ?? '');
  return `${bos?.text ?? ''}${turns.join('')}${opened}`;
}

function promptIds(request: GenerationRequest, { facts, engine }: Sent): number[][] | undefined {
  if (request.kind === 'chat') return undefined;
  const added = engine === 'vllm' ? addedTo(request, facts).ids : facts.addedPrefix.completion;
  return request.prompts.map((prompt) => {
    if (prompt.form !== 'text') throw new Error('texts alone are sent');
    return [...added, ...tokenizedText(prompt.text, facts).ids];
  });
}

function read(sent: Sent, body: JsonObject | string): Exchange {
  const request = buildRequest(sent.route, body);
  const ids = promptIds(request, sent);
  const text = request.kind === 'chat' ? rendered(request, sent.facts) : undefined;
  const { route, facts, engine } = sent;
  return buildExchange({
    route,
    facts,
    body,
    ...(ids !== undefined && { ids }),
    ...(text !== undefined && { text }),
    ...(engine !== undefined && { engine }),
  });
}

function findingsIn(exchange: Exchange): readonly Finding[] {
  return runDetectors(exchange, { detectors, stage: 'request' }).findings;
}

const nameOf = ({ kind, cause, promptIndex, field }: Finding): string =>
  JSON.stringify([kind, cause, promptIndex, field]);

/** The kinds whose repairs were made. */
function checkRepairs(sent: Sent): FindingKind[] {
  const exchange = read(sent, sent.body);
  const before = findingsIn(exchange);
  const repairable = before.filter(({ repair }) => repair !== undefined);
  for (const finding of repairable) {
    const repaired = rewriteBody(exchange.request!.body, [finding]);
    assert.ok(repaired !== undefined);
    const after = findingsIn(read(sent, repaired.body.toString())).map(nameOf);
    assert.ok(!after.includes(nameOf(finding)), `${nameOf(finding)} is still there`);
    const allowed = before.map(nameOf);
    const made = after.filter((name) => !allowed.includes(name));
    assert.deepEqual(made, [], `made by the repair of ${nameOf(finding)}: ${repaired.body.toString()}`);
  }
  return repairable.map(({ kind }) => kind);
}

const { gemma3, qwen3, bare, mistral }: Readonly<Record<string, ModelFacts>> = factsOf;
const pieces = [
  ...[
    'hi',
    ' ',
    '\n',
    '"',
    '\\',
    '漢😀',
    'user\n',
    'system\n',
    '<|im_start|>',
    '<|im_end|>',
    '<start_of_turn>',
  ],
  ...['<end_of_turn>', '<bos>', '<s>', '</s>', '[INST]', '<think>'],
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((all) => all.join(''));
const turn = fc.record({
  role: fc.constantFrom('system', 'user', 'assistant'),
  content: fc.oneof(text, fc.constant('')),
});

const chats: Arbitrary<Sent> = fc.record({
  route: fc.constant('chat' as const),
  facts: fc.constantFrom(gemma3, qwen3, bare, mistral),
  body: fc.record({ messages: fc.array(turn, { minLength: 1, maxLength: 5 }) }),
});
const bosText = fc.tuple(fc.nat(3), text).map(([copies, rest]) => '<bos>'.repeat(copies) + rest);
const raws: Arbitrary<Sent> = fc.record(
  {
    route: fc.constant('completion' as const),
    facts: fc.constant(gemma3),
    engine: fc.constant('vllm' as const),
    body: fc.record(
      {
        prompt: fc.oneof(bosText, fc.array(bosText, { minLength: 1, maxLength: 3 })),
        add_special_tokens: fc.boolean(),
      },
      { requiredKeys: ['prompt'] },
    ),
  },
  { requiredKeys: ['route', 'facts', 'body'] },
);

describe('each repair, made, removes its finding and makes no other', () => {
  for (const [name, sent, kinds] of [
    ['in chats', chats, ['control-token-in-content', 'trailing-assistant']],
    ['in raw prompts', raws, ['double-bos']],
  ] as const) {
    it(name, () => {
      const repaired = new Set<FindingKind>();
      fc.assert(
        fc.property(sent, (one) => {
          for (const kind of checkRepairs(one)) repaired.add(kind);
        }),
        { numRuns: 500 },
      );
      for (const kind of kinds) assert.ok(repaired.has(kind), `no ${kind} was repaired`);
    });
  }

  it("in a chat whose empty answer stood behind another family's conversation", () => {
    const messages = [
      { role: 'system', content: '<start_of_turn>user\n<end_of_turn>' },
      { role: 'assistant', content: '' },
    ];
    assert.deepEqual(checkRepairs({ route: 'chat', facts: mistral, body: { messages } }), [
      'trailing-assistant',
    ]);
  });
});
