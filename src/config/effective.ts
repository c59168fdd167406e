/** What the configuration comes to for one detector or one request. Pure; the policy and the runner ask here. */
import type { Action } from '../exchange/exchange.ts';
import { findingKinds, type FindingKind, type Severity } from '../exchange/finding.ts';
import type { RouteKind } from '../exchange/request/route.ts';
import { strictActions } from './detector-actions.ts';
import type { Config } from './schema.ts';

/** The action for findings of a kind: always `pass` in observe mode; in strict mode the configured one or its default. */
export function effectiveAction(config: Config, kind: FindingKind): Action {
  if (config.mode === 'observe') return 'pass';
  return config.detectors[kind].action ?? strictActions[kind] ?? 'pass';
}

/** The kinds whose findings hold a request back: none in observe mode. */
export function blockingKinds(config: Config): ReadonlySet<FindingKind> {
  return new Set(findingKinds.filter((kind) => effectiveAction(config, kind) !== 'pass'));
}

/** What holds for the findings of each of them. */
export function effectiveRules(
  config: Config,
): Readonly<
  Partial<Record<FindingKind, { readonly action: Action; readonly rejectWhen?: 'client' | 'always' }>>
> {
  const { rejectWhen } = config.detectors['double-bos'];
  return Object.fromEntries(
    [...blockingKinds(config)].map((kind) => [
      kind,
      { action: effectiveAction(config, kind), ...(kind === 'double-bos' ? { rejectWhen } : {}) },
    ]),
  );
}

/** What becomes of attribution lines: observe mode changes no request. */
export function effectiveAttribution(config: Config): Config['detectors']['prefix-break']['attributionLine'] {
  return config.mode === 'observe' ? 'keep' : config.detectors['prefix-break'].attributionLine;
}

/**
 * The severity of a finding: the configured one for its kind, else as reported. What a detector reports as `info` is
 * so by design or by intent, and stays `info` whatever the kind is raised to.
 */
export function effectiveSeverity(config: Config, kind: FindingKind, reported: Severity): Severity {
  return reported === 'info' ? reported : (config.detectors[kind].severity ?? reported);
}

/** What our own calls to the engine carry where no client's credentials go with them. */
export function ownCredentials({ upstream: { apiKey } }: Config): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

/** True if an entry of `inspection.exempt` matches in every key that it has. */
export function isExempt(
  config: Config,
  request: { readonly route: RouteKind; readonly client?: string; readonly model?: string },
): boolean {
  return config.inspection.exempt.some(
    (entry) =>
      (entry.route === undefined || entry.route === request.route) &&
      (entry.client === undefined || entry.client === request.client) &&
      (entry.model === undefined || entry.model === request.model),
  );
}
