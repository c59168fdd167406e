// Runs a detector's tables. Each case is data: an exchange, and what is found in it. The tester adds what every detector
// must keep: equal output for equal input, an input that is left alone, and repairs that remove the finding.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Detector } from '../../src/detectors/detector.ts';
import type { Exchange } from '../../src/exchange/exchange.ts';
import { breakCauses, culprits, severities, type Finding } from '../../src/exchange/finding.ts';
import { rewriteBody } from '../../src/policies/rewrite.ts';
import { buildExchange, type ExchangeShape } from './exchange-builder.ts';

export interface CleanCase {
  readonly name: string;
  readonly exchange: ExchangeShape;
}

export interface FoundCase extends CleanCase {
  /** One entry per finding, in order; what an entry leaves out is not compared, what is undefined there must be absent. */
  readonly findings: readonly { readonly [Name in keyof Finding]?: Finding[Name] | undefined }[];
  /** The body after all repairs; absent if there must be no repair. */
  readonly repaired?: string;
  /** Ids per prompt after the repair, and the text of the only one: there the detector must find nothing. */
  readonly repairedIds?: readonly (readonly number[])[];
  readonly repairedText?: string;
}

export interface DetectorTable {
  readonly clean: readonly CleanCase[];
  readonly found: readonly FoundCase[];
}

export function testDetector(detector: Detector, { clean, found }: DetectorTable): void {
  describe(`${detector.kind}: clean`, () => {
    for (const { name, exchange } of clean) {
      it(name, () => {
        assert.deepEqual(detectTwice(detector, buildExchange(exchange)), []);
      });
    }
  });
  describe(`${detector.kind}: found`, () => {
    for (const one of found) {
      it(one.name, () => {
        checkFound(detector, one);
      });
    }
  });
}

function checkFound(
  detector: Detector,
  { exchange: shape, findings, repaired, repairedIds, repairedText }: FoundCase,
): void {
  const exchange = buildExchange(shape);
  const actual = detectTwice(detector, exchange);
  assert.equal(actual.length, findings.length, JSON.stringify(actual, null, 1));
  for (const [index, expected] of findings.entries()) {
    const finding = actual[index]!;
    for (const [key, value] of Object.entries(expected)) {
      assert.deepEqual(finding[key as keyof Finding], value, `${key}: ${JSON.stringify(finding)}`);
    }
    checkShape(detector, finding);
  }
  const rewrite = rewriteBody(exchange.request!.body, actual);
  assert.equal(
    rewrite !== undefined,
    repaired !== undefined,
    'a repair is offered exactly where the case names one',
  );
  if (repaired === undefined) return;
  assert.ok(detector.repairs);
  const body = rewrite!.body.toString();
  assert.equal(body, repaired);
  const again = buildExchange({
    ...shape,
    body,
    ...(repairedIds !== undefined && { ids: repairedIds }),
    ...(repairedText !== undefined && { text: repairedText }),
  });
  assert.deepEqual(detector.detect(again), [], 'the repaired request still has the finding');
}

function checkShape(detector: Detector, finding: Finding): void {
  assert.equal(finding.kind, detector.kind);
  assert.ok(culprits.includes(finding.culprit));
  assert.ok(severities.indexOf(finding.severity) <= severities.indexOf(detector.severity));
  if (finding.kind === 'prefix-break')
    assert.ok((breakCauses as readonly string[]).includes(finding.cause ?? ''));
  const { tokens } = finding;
  assert.ok(tokens === undefined || tokens.start < tokens.end, 'a place holds a token');
  assert.match(finding.message, /^[A-Z].*\.$/s);
  assert.match(finding.advice, /^[A-Z].*\.$/s);
}

/** The findings, after checking that a second look at the same, deeply frozen exchange gives equal ones. */
export function detectTwice(detector: Detector, exchange: Exchange): readonly Finding[] {
  deepFreeze(exchange);
  const bytes = exchange.request?.body.toString();
  const first = detector.detect(exchange);
  assert.deepEqual(detector.detect(exchange), first, 'a second look found something else');
  assert.equal(exchange.request?.body.toString(), bytes, 'the body was changed');
  return first;
}

/** Freezes all but binary data, which JavaScript can't freeze. */
function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value))
    return;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}
