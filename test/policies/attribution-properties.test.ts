// The repair of an attribution line in any body, however it is written: the line alone changes, and made again it finds
// nothing to do.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { attributionLineOf } from '../../src/exchange/request/attribution-line.ts';
import { applyEdits } from '../../src/exchange/edits.ts';
import type { RequestKind } from '../../src/exchange/request/request-reader.ts';
import type { ChatRequest, JsonObject } from '../../src/exchange/request/request.ts';
import { planAttribution, type AttributionRule } from '../../src/policies/attribution.ts';
import { buildRequest } from '../support/exchange-builder.ts';

interface Sent {
  readonly kind: RequestKind;
  /** The body around these texts of the instructions: one is a string or a block, several are blocks. */
  readonly around: (texts: readonly string[], asBlocks: boolean) => JsonObject;
}

const user = { role: 'user', content: 'x-anthropic-billing-header: mine\nHi' };
const instructions = (
  texts: readonly string[],
  asBlocks: boolean,
): string | { type: 'text'; text: string }[] =>
  asBlocks ? texts.map((text) => ({ type: 'text' as const, text })) : texts.join('\n');

const sent: Readonly<Record<string, Sent>> = {
  chat: {
    kind: 'chat',
    around: (texts, asBlocks) => ({
      messages: [{ role: 'system', content: instructions(texts, asBlocks) }, user],
      seed: 1,
    }),
  },
  messages: {
    kind: 'messages',
    around: (texts, asBlocks) => ({ seed: 1, system: instructions(texts, asBlocks), messages: [user] }),
  },
  responses: {
    kind: 'responses',
    around: (texts, asBlocks) => ({
      input: [{ role: 'developer', content: instructions(texts, asBlocks) }, user],
    }),
  },
};

const lineOf = (rest: string): string => `x-anthropic-billing-header:${rest}`;
const anyLine = fc
  .string({ unit: 'grapheme', maxLength: 30 })
  .map((rest) => lineOf(rest.replaceAll('\n', ' ')));
const anyText = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .map((text) => `${text.replaceAll('x-anthropic', '')}.`);
/** Ways to write the same JSON: serialisers differ in white space and in what they escape. */
const writers: readonly ((body: JsonObject) => string)[] = [
  (body) => JSON.stringify(body),
  (body) => JSON.stringify(body, undefined, 2),
  (body) =>
    JSON.stringify(body).replaceAll(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  (body) =>
    JSON.stringify(body)
      .replaceAll('/', String.raw`\/`)
      .replaceAll('-', String.raw`\u002d`),
];
const writer = fc.constantFrom(...writers);

function read({ kind }: Sent, body: string): ChatRequest {
  return buildRequest(kind, body) as ChatRequest;
}

/** The body after the repair; undefined if there was nothing to do. */
function repaired(request: ChatRequest, rule: AttributionRule, began?: string): string | undefined {
  const ancestor = began === undefined ? undefined : { attributionLine: began };
  const plan = planAttribution(request, rule, ancestor);
  return plan && applyEdits(request.body, [plan.edit]).toString();
}

for (const [name, one] of Object.entries(sent)) {
  describe(`an attribution line in ${name}, however it is written`, () => {
    it('is cut with its line end, and nothing else changes', () => {
      fc.assert(
        fc.property(
          anyLine,
          fc.array(anyText, { minLength: 1, maxLength: 3 }),
          writer,
          fc.boolean(),
          (line, texts, write, asBlocks) => {
            const [head = '', ...others] = texts;
            const request = read(one, write(one.around([`${line}\n${head}`, ...others], asBlocks)));
            const cut = repaired(request, 'cut');
            assert.ok(cut !== undefined);
            assert.deepEqual(JSON.parse(cut), one.around(texts, asBlocks));
            assert.equal(attributionLineOf(read(one, cut)), undefined);
            assert.equal(repaired(read(one, cut), 'cut'), undefined);
          },
        ),
      );
    });

    it('is cut with its block where it stands alone in it', () => {
      fc.assert(
        fc.property(
          anyLine,
          fc.array(anyText, { minLength: 1, maxLength: 3 }),
          writer,
          (line, texts, write) => {
            const request = read(one, write(one.around([line, ...texts], true)));
            const cut = repaired(request, 'cut');
            assert.ok(cut !== undefined);
            assert.deepEqual(JSON.parse(cut), one.around(texts, true));
          },
        ),
      );
    });

    it('becomes the line that the conversation began with, and stays it', () => {
      fc.assert(
        fc.property(anyLine, anyLine, anyText, writer, fc.boolean(), (line, first, text, write, asBlocks) => {
          fc.pre(line !== first);
          const request = read(one, write(one.around([`${line}\n${text}`], asBlocks)));
          const began = JSON.stringify(first).slice(1, -1);
          const frozen = repaired(request, 'freeze', began);
          assert.ok(frozen !== undefined);
          assert.deepEqual(JSON.parse(frozen), one.around([`${first}\n${text}`], asBlocks));
          assert.equal(repaired(read(one, frozen), 'freeze', began), undefined);
        }),
      );
    });
  });
}
