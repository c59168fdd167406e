// What counts as a false alarm and what as found, in the test and in the scored run alike.
import type { Judged } from './run.ts';

/** What was said of a clean conversation that should not have been: findings above info, or no inspection. */
export function alarms({ family, name, seed, findings, unknown }: Judged): string[] {
  const where = `${family}, ${name}, seed ${seed}`;
  return [
    ...findings
      .filter(({ severity }) => severity !== 'info')
      .map(({ kind, cause, field }) => `${where}: ${kind};${cause ?? ''} at ${field ?? 'no field'}`),
    ...unknown.map((reason) => `${where}: ${reason}`),
  ];
}

/** True if the injected kind was found in the request that has the fault, by its cause, or is told once and was. */
export function isFound({ name, cause: wanted, findings, told }: Judged): boolean {
  return (
    told.includes(name) ||
    findings.some(
      ({ kind, cause, last }) => last && kind === name && (wanted === undefined || cause === wanted),
    )
  );
}
