// What holds of every detector, whatever it is shown: it does not throw, and what it reports lies in the request and in the
// prompt that it was shown. Runs over the list, so a new kind is held to it without a line here.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Detector } from '../../../src/detectors/detector.ts';
import { detectors } from '../../../src/detectors/index.ts';
import { runDetectors } from '../../../src/detectors/run.ts';
import type { Exchange } from '../../../src/exchange/exchange.ts';
import { severities, type Finding } from '../../../src/exchange/finding.ts';
import { formatPath } from '../../../src/exchange/json/json-path.ts';
import type { Json, JsonPath } from '../../../src/exchange/request/request.ts';
import { rewriteBody } from '../../../src/policies/rewrite.ts';
import { exchanges } from '../../support/arbitrary-exchanges.ts';

function findingsOf(detector: Detector, exchange: Exchange): readonly Finding[] {
  return runDetectors(exchange, {
    detectors: [detector],
    stage: detector.stage,
    onFailure: (_kind, error) => {
      throw error;
    },
  }).findings;
}

/** Every value of the body by its path as findings write it. */
function valuesOf(value: Json, path: JsonPath = [], all = new Map<string, Json>()): Map<string, Json> {
  all.set(formatPath(path), value);
  if (typeof value !== 'object' || value === null) return all;
  for (const [step, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    valuesOf(inner as Json, [...path, step], all);
  }
  return all;
}

function checkRanges(exchange: Exchange, { kind, severity, ...finding }: Finding, detector: Detector): void {
  const { promptIndex, tokens, field, characters, repair } = finding;
  assert.equal(kind, detector.kind);
  assert.ok(severities.indexOf(severity) <= severities.indexOf(detector.severity), severity);
  const { request } = exchange;
  const prompts = request?.kind === 'completion' ? request.prompts.length : 1;
  const places = detector.stage === 'request' ? prompts : Infinity;
  assert.ok(promptIndex >= 0 && promptIndex < places, `prompt ${promptIndex}`);
  if (tokens !== undefined) {
    const read = [exchange.prompts[promptIndex], exchange.heads[promptIndex]].find((one) => one?.known);
    const length = read?.known === true ? read.ids.length : 0;
    const endsThere = kind === 'prefix-break' && tokens.start === length && tokens.end === length;
    const holdsSome = 0 <= tokens.start && tokens.start < tokens.end && tokens.end <= length;
    assert.ok(endsThere || holdsSome, `tokens ${tokens.start} to ${tokens.end} of ${length}`);
  }
  const values = valuesOf(exchange.request!.json);
  if (field !== undefined) assert.ok(values.has(field), `no ${field}`);
  if (characters !== undefined) {
    const text = values.get(field ?? '');
    assert.ok(typeof text === 'string', `${field} is no text`);
    assert.ok(0 <= characters.start && characters.start < characters.end, 'characters in order');
    assert.ok(characters.end <= text.length, 'characters of the text');
  }
  if (repair !== undefined) {
    assert.ok(detector.repairs);
    const repaired = rewriteBody(exchange.request!.body, [{ ...finding, kind, severity }]);
    assert.doesNotThrow(() => JSON.parse(repaired!.body.toString()));
  }
  // Prompt text is no part of them, but roles and markers are, with all that a template may have in them.
  assert.match(finding.message, /^[A-Z].*\.$/s);
  assert.match(finding.advice, /^[A-Z].*\.$/s);
}

describe('every detector, shown anything', () => {
  for (const detector of detectors) {
    it(`${detector.kind} does not throw, and reports what is there`, () => {
      fc.assert(
        fc.property(exchanges, (exchange) => {
          const found = findingsOf(detector, exchange);
          assert.deepEqual(findingsOf(detector, exchange), found);
          for (const finding of found) checkRanges(exchange, finding, detector);
        }),
        { numRuns: 300 },
      );
    });
  }
});
