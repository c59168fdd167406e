/** What the detectors said of probe requests, in the doctor's words. Pure. */
import type { FindingRecord } from '../exchange/finding-record.ts';
import { severities, type Culprit, type Severity } from '../exchange/finding.ts';
import type { UnknownReason, Untold } from '../exchange/token-read.ts';
import type { Observation } from './diagnosis.ts';
import type { Probe } from './probes.ts';

export interface ProbeOutcome {
  readonly probe: Probe;
  readonly findings: readonly FindingRecord[];
  /** Why not everything is known of it; absent if it is. */
  readonly unknown?: UnknownReason;
  /** What the engine said to it; absent if it said nothing. */
  readonly engineSays?: string;
}

/** A rule of the doctor's says it, of raw prompts or of every prompt. */
const saidElsewhere: readonly FindingRecord['kind'][] = ['double-bos', 'raw-prompt', 'context-overflow'];

/** The gravest first, each once; what is true of a plain conversation is true of all. */
export function observationsOf(outcomes: readonly ProbeOutcome[]): Observation[] {
  const seen = new Set<string>();
  const findings = outcomes.flatMap(found).filter(({ id, message }) => {
    const key = JSON.stringify([id, message]);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
  return [...findings, ...outcomes.flatMap(refused)].toSorted(
    (a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity),
  );
}

/** Those of a request that the engine itself says no to, or whose answer no endpoint of it tells. */
const answered: readonly UnknownReason[] = [
  'oracle-refused',
  'oracle-error',
  'engine-cannot',
  'media',
  'unreadable-body',
];

/** Why nothing is known of the request where that is no answer: the engine was away, or something answered in its place. */
export function untoldIn({ unknown: reason, engineSays }: ProbeOutcome): Untold | undefined {
  if (reason === undefined) return undefined;
  // Engines say why they fail; gateways have a page.
  if (answered.includes(reason) && (reason !== 'oracle-error' || engineSays !== undefined)) return undefined;
  return { reason, ...(engineSays !== undefined && { engineSays }) };
}

function found({ probe, findings }: ProbeOutcome): Observation[] {
  return findings
    .filter(({ kind }) => !saidElsewhere.includes(kind))
    .map(({ kind, cause, severity, culprit, message, advice }) => ({
      id: cause === undefined ? kind : `${kind};${cause}`,
      severity: severityOf(severity, culprit, probe),
      sends: probe.sends,
      message,
      advice,
    }));
}

/** As for advice: what hits every client may be an error, what some clients run into no more than a warning. */
function severityOf(severity: Severity, culprit: Culprit, { isPlain }: Probe): Severity {
  if (isPlain) return severity;
  // What a client does wrong is wrong only where there is such a client.
  if (culprit === 'client') return 'info';
  return severity === 'error' ? 'warning' : severity;
}

function refused(outcome: ProbeOutcome): Observation[] {
  const { probe, unknown, engineSays } = outcome;
  if (unknown !== 'oracle-refused' && unknown !== 'oracle-error') return [];
  if (untoldIn(outcome) !== undefined) return [];
  return [
    {
      id: 'refused',
      // No client can do without a second question.
      severity: probe.isPlain ? 'warning' : 'info',
      sends: probe.sends,
      message:
        engineSays === undefined
          ? 'The engine refuses the request: its template, or what it makes of the body, does not take that.'
          : `The engine refuses the request: ${withStop(engineSays)}`,
      advice: 'Clients must do without, or the engine must be started with a template that takes it.',
    },
  ];
}

function withStop(said: string): string {
  return /[.…]$/u.test(said) ? said : `${said}.`;
}
