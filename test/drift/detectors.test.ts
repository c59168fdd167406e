// One kind, one name: the list, files, tests, pages, kinds and label sets agree, severities are pinned, and the examples
// of each page do what the page says.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { actionsFor } from '../../src/config/detector-actions.ts';
import type { Detector } from '../../src/detectors/detector.ts';
import { detectors } from '../../src/detectors/index.ts';
import { breakCauses, culprits, findingKinds, severities, type Finding } from '../../src/exchange/finding.ts';
import { referenceMakers } from '../../src/exchange/reference.ts';
import { cutParts, unknownReasons } from '../../src/exchange/token-read.ts';
import { causeCulprits, kindSeverities } from '../../src/metrics/label-sets.ts';
import { buildExchange, factsOf, type Family } from '../support/exchange-builder.ts';
import { Conversations } from '../support/qwen3-sessions.ts';

/** Part of the public contract: a changed line here is a breaking change. */
const pinnedSeverities = {
  'content-lost': 'error',
  'context-overflow': 'error',
  'control-token-in-content': 'error',
  'count-mismatch': 'warning',
  'double-bos': 'error',
  'foreign-template': 'error',
  'missing-bos': 'error',
  'missing-generation-prompt': 'warning',
  'nested-template': 'error',
  'output-truncated': 'error',
  'parameter-ignored': 'warning',
  'prefix-break': 'warning',
  'prompt-truncated': 'error',
  'raw-prompt': 'warning',
  'runaway-reply': 'warning',
  'stringified-prompt': 'warning',
  'template-drift': 'warning',
  'template-missing': 'error',
  'tools-dropped': 'error',
  'trailing-assistant': 'warning',
  'unwanted-bos': 'warning',
};

const sections = [
  'What it finds',
  'Why it matters',
  'Examples',
  'Engines',
  'Modes',
  'Options',
  'Metrics',
  'Since',
];

const expected = z.array(
  z.strictObject({
    cause: z.string().optional(),
    severity: z.enum(severities).optional(),
    culprit: z.enum(culprits).optional(),
    field: z.string().optional(),
    characters: z.strictObject({ start: z.int(), end: z.int() }).optional(),
    promptIndex: z.int().optional(),
    lostTokens: z.int().optional(),
  }),
);
const body = z.record(z.string(), z.json());
const choice = z.strictObject({
  finishReason: z.enum(['stop', 'length', 'tool-calls', 'other']).exactOptional(),
  promptTokens: z.int().exactOptional(),
  completionTokens: z.int().exactOptional(),
  toolArgumentsValid: z.boolean().exactOptional(),
  hasAnswerText: z.boolean().exactOptional(),
  hasReasoning: z.boolean().exactOptional(),
  hasToolCalls: z.boolean().exactOptional(),
  generatedIds: z.array(z.int()).exactOptional(),
  says: z.string().exactOptional(),
});
/** For examples of long prompts, of which only the length matters. */
const idsOfLength = z
  .strictObject({ length: z.int() })
  .transform(({ length }) => Array.from({ length }, (_, index) => index));
const errorReply = z.strictObject({
  status: z.int(),
  refusal: z.strictObject({
    promptTokens: z.int().exactOptional(),
    answerTokens: z.int().exactOptional(),
    contextTokens: z.int().exactOptional(),
  }),
});
const oneExchange = z.strictObject({
  facts: z.enum(Object.keys(factsOf) as [Family]),
  engine: z.enum(['vllm']).exactOptional(),
  route: z.enum(['chat', 'completion', 'messages', 'responses']),
  body,
  text: z.string().exactOptional(),
  cut: z.enum(cutParts).exactOptional(),
  ids: z.array(z.union([z.array(z.int()), idsOfLength, z.enum(unknownReasons)])).exactOptional(),
  reply: z
    .strictObject({ complete: z.boolean().exactOptional(), choices: z.array(choice) })
    .or(errorReply)
    .exactOptional(),
  reference: z.strictObject({ by: z.enum(referenceMakers), ids: z.array(z.int()) }).exactOptional(),
  finds: expected.exactOptional(),
});
const conversation = z.strictObject({ turns: z.array(body).min(2), finds: expected.exactOptional() });
const example = z.union([oneExchange, conversation]);

const pageOf = (kind: string): string => readFileSync(`docs/detectors/${kind}.md`, 'utf8');
const sectionOf = (page: string, heading: string): string => {
  const level = heading.slice(0, heading.indexOf(' '));
  const [, rest = ''] = page.split(`\n${heading}\n`);
  return rest.split(new RegExp(`\\n#{1,${level.length}} `))[0] ?? '';
};
const namesIn = (folder: string, end: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(end))
    .map((name) => name.slice(0, -end.length))
    .toSorted();

async function findingsOf(detector: Detector, block: z.infer<typeof example>): Promise<readonly Finding[]> {
  if ('turns' in block) {
    const conversations = new Conversations();
    let findings: readonly Finding[] = [];
    for (const turn of block.turns) ({ findings } = await conversations.chat(turn));
    return findings;
  }
  return detector.detect(buildExchange({ ...block, facts: factsOf[block.facts] }));
}

describe('detectors', () => {
  const kinds = [...findingKinds].toSorted();

  it('are listed once, in alphabetical order, as the kinds of findings are', () => {
    assert.deepEqual(
      detectors.map(({ kind }) => kind),
      kinds,
    );
  });

  it('have a file, a test and a page each, of the same name', () => {
    const machinery = new Set(['count-check', 'detector', 'index', 'run']);
    assert.deepEqual(
      namesIn('src/detectors', '.ts').filter((name) => !machinery.has(name)),
      kinds,
    );
    assert.deepEqual(
      namesIn('test/detectors', '.test.ts').filter((name) => !machinery.has(name)),
      kinds,
    );
    assert.deepEqual(namesIn('docs/detectors', '.md'), kinds);
  });

  it('keep their severities, and report none that has no series', () => {
    assert.deepEqual(
      Object.fromEntries(detectors.map(({ kind, severity }) => [kind, severity])),
      pinnedSeverities,
    );
    for (const { kind, severity } of detectors) {
      const highest = severities.findLast((one) => kindSeverities[kind].includes(one));
      assert.equal(highest, severity, kind);
    }
  });

  it('may be rewritten exactly where they offer repairs', () => {
    for (const { kind, repairs } of detectors)
      assert.equal(actionsFor(kind).includes('rewrite'), repairs, kind);
  });
});

for (const detector of detectors) {
  describe(`docs/detectors/${detector.kind}.md`, () => {
    const page = pageOf(detector.kind);
    const reported = sectionOf(page, '### Reported');
    const notReported = sectionOf(page, '### Not reported');
    const blocks = (text: string): z.infer<typeof example>[] =>
      [...text.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => example.parse(JSON.parse(json)));

    it('begins with the kind and its summary, and has the fixed sections', () => {
      assert.ok(page.startsWith(`# ${detector.kind}\n\n${detector.summary}\n\n## `));
      assert.deepEqual(
        [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading),
        sections,
      );
    });

    it('names every action, and none that does not exist', () => {
      const named = sectionOf(sectionOf(`\n${page}`, '## Options'), '### action');
      for (const action of actionsFor(detector.kind)) assert.match(named, new RegExp(`\`${action}\``));
      assert.equal(named.includes('`rewrite`'), detector.repairs);
    });

    for (const [index, block] of blocks(reported).entries()) {
      it(`reports example ${index + 1} as it says`, async () => {
        const findings = await findingsOf(detector, block);
        assert.ok(block.finds && block.finds.length > 0, 'an example under "Reported" has findings');
        assert.equal(findings.length, block.finds.length, JSON.stringify(findings));
        for (const [place, wanted] of block.finds.entries()) {
          const found = findings[place]!;
          assert.equal(found.kind, detector.kind);
          for (const [key, value] of Object.entries(wanted))
            assert.deepEqual(found[key as keyof Finding], value);
          assert.match(sectionOf(page, '## What it finds'), new RegExp(`\`${found.cause ?? ''}\``));
        }
      });
    }

    for (const [index, block] of blocks(notReported).entries()) {
      it(`does not report counter-example ${index + 1}`, async () => {
        assert.deepEqual(await findingsOf(detector, block), []);
      });
    }

    it('has examples of both sorts', () => {
      assert.ok(blocks(reported).length > 0 && blocks(notReported).length > 0);
    });
  });
}

describe('causes of prefix-break', () => {
  it('are on the page with the culprits that they can have', () => {
    const table = sectionOf(pageOf('prefix-break'), '## What it finds');
    const rows = [...table.matchAll(/^\| `([\w-]+)` *\| *\w+ *\| ([\w ]+?) *\|/gm)].map(([, cause, who]) => [
      cause,
      who?.split(' or ').toSorted(),
    ]);
    assert.deepEqual(
      Object.fromEntries(rows),
      Object.fromEntries(breakCauses.map((cause) => [cause, [...causeCulprits[cause]].toSorted()])),
    );
  });
});
