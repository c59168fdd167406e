// Where a first look is told: on a screen for people, or as JSON lines for programs. Both tell the same, in this order:
// opening, steps, summary, stand-by, and then findings as they come.
import type { FindingRecord } from '../exchange/finding-record.ts';
import { reportFinding } from '../report/finding-report.ts';
import type { StepResult } from './first-look.ts';
import { modelAlias } from './labels.ts';
import {
  openingText,
  standByText,
  stepText,
  summaryText,
  type DemoAddresses,
  type ScreenOptions,
} from './screen.ts';

export interface DemoOutput {
  opening(): void;
  /** `number` counts from 1. */
  step(result: StepResult, number: number, of: number): void;
  /** `countChecks` by result, as the metrics have them. */
  summary(results: readonly StepResult[], countChecks: Readonly<Record<string, number>>): void;
  standBy(addresses: DemoAddresses): void;
  finding(record: FindingRecord): void;
}

/** @param options asked for each text, as terminals change their size. */
export function screenOutput(write: (text: string) => void, options: () => ScreenOptions): DemoOutput {
  return {
    opening: () => {
      write(openingText(options()));
    },
    step: (result, number, of) => {
      write(stepText(result, number, of, options()));
    },
    summary: (results, countChecks) => {
      write(summaryText(results, countChecks, options()));
    },
    standBy: (addresses) => {
      write(standByText(addresses, options()));
    },
    finding: (record) => {
      write(`${reportFinding(record, options())}\n`);
    },
  };
}

/** One object a line, told apart by `event`. Every line says that it is a demo's. */
export function jsonOutput(write: (text: string) => void): DemoOutput {
  const tell = (event: string, fields: object): void => {
    write(`${JSON.stringify({ event, demo: true, ...fields })}\n`);
  };
  return {
    opening: () => {
      tell('opening', { model: modelAlias, modelRuns: false });
    },
    step: ({ step, ...result }) => {
      const { scene, title, path, expects } = step;
      tell('step', { scene, title, path, ...(expects && { expects }), ...result });
    },
    summary: (results, countChecks) => {
      tell('summary', {
        requests: results.length,
        findings: results.flatMap(({ findings }) => findings).length,
        asExpected: results.every(({ asExpected }) => asExpected),
        countChecks,
      });
    },
    standBy: (addresses) => {
      tell('stand-by', { ...addresses });
    },
    finding: (record) => {
      tell('finding', { finding: record });
    },
  };
}
