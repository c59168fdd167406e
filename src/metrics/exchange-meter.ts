/**
 * Counts exchanges at their three moments. Findings may be seen at any of them, so a ledger per exchange keeps each
 * finding, unknown reason and prompt from being counted twice. Never reads a body or a text.
 */
import type { Exchange } from '../exchange/exchange.ts';
import { bringsMedia } from '../exchange/request/media-parts.ts';
import { breakCauses, type BreakCause, type Finding } from '../exchange/finding.ts';
import type { ChoiceReply } from '../exchange/reply/reply.ts';
import type { UnknownReason } from '../exchange/token-read.ts';

import { exemplarOf } from './exemplar.ts';
import type { Instruments } from './instruments.ts';
import type { CountCheckResult } from './label-sets.ts';
import type { ExchangeMeter } from './meter-type.ts';

/** What has been counted of one exchange. Lives as long as the exchange does. */
interface Ledger {
  readonly findings: Set<Finding>;
  readonly reasons: Set<UnknownReason>;
  promptTokens: boolean;
  reusableTokens: boolean;
}

/** @param labelOf gives a model's label and has its series started. */
export function createExchangeMeter(
  instruments: Instruments,
  labelOf: (modelName: string) => string,
): ExchangeMeter {
  const ledgers = new WeakMap<Exchange, Ledger>();

  function ledgerOf(exchange: Exchange): Ledger {
    let ledger = ledgers.get(exchange);
    if (ledger === undefined) {
      ledger = { findings: new Set(), reasons: new Set(), promptTokens: false, reusableTokens: false };
      ledgers.set(exchange, ledger);
    }
    return ledger;
  }

  function countFinding(exchange: Exchange, finding: Finding): void {
    const model_name = labelOf(exchange.modelName);
    const exemplar = exemplarOf(exchange);
    const { kind, severity, culprit } = finding;
    instruments.add(
      'findings_total',
      { model_name, route: exchange.route.kind, kind, severity },
      1,
      exemplar,
    );
    if (finding.savedTokens !== undefined && exchange.action === 'rewrite') {
      instruments.add('prompt_tokens_saved_total', { model_name }, finding.savedTokens);
    }
    if (!isLoss(exchange, finding)) return;
    const labels = { model_name, cause: breakCauseOf(finding), culprit };
    instruments.add('prefix_breaks_total', labels, 1, exemplar);
    instruments.add('prefix_lost_tokens_total', labels, finding.lostTokens ?? 0, exemplar);
    if (finding.tokens) {
      instruments.observe('prefix_break_position_tokens', {}, finding.tokens.start, exemplar);
    }
  }

  function countReason(exchange: Exchange, ledger: Ledger, reason: UnknownReason): void {
    if (ledger.reasons.has(reason)) return;
    ledger.reasons.add(reason);
    instruments.add('inspection_unknown_total', { reason }, 1, exemplarOf(exchange));
  }

  function countWhatIsNew(exchange: Exchange): void {
    const ledger = ledgerOf(exchange);
    for (const finding of exchange.findings) {
      if (ledger.findings.has(finding)) continue;
      ledger.findings.add(finding);
      countFinding(exchange, finding);
    }
    if (exchange.inspection.result === 'unknown') countReason(exchange, ledger, exchange.inspection.reason);
    for (const { reason } of exchange.skipped) countReason(exchange, ledger, reason);

    const model_name = labelOf(exchange.modelName);
    const tokens = promptTokensOf(exchange);
    if (!ledger.promptTokens && tokens !== undefined) {
      ledger.promptTokens = true;
      instruments.add('prompt_tokens_total', { model_name, route: exchange.route.kind }, tokens);
    }
    if (!ledger.reusableTokens && exchange.reusableTokens !== undefined) {
      ledger.reusableTokens = true;
      instruments.add('prompt_tokens_reusable_total', { model_name }, exchange.reusableTokens);
    }
  }

  return {
    beforeForwarding(exchange) {
      const model_name = labelOf(exchange.modelName);
      const route = exchange.route.kind;
      const exemplar = exemplarOf(exchange);
      const { result } = exchange.inspection;
      instruments.add('requests_total', { model_name, route, action: exchange.action }, 1, exemplar);
      instruments.add('inspections_total', { model_name, route, result }, 1, exemplar);
      countWhatIsNew(exchange);
    },

    lateInspection: countWhatIsNew,

    settled(exchange, countChecks: readonly CountCheckResult[]) {
      countWhatIsNew(exchange);
      const model_name = labelOf(exchange.modelName);
      const exemplar = exemplarOf(exchange);
      const { outcome } = exchange;
      if (outcome !== undefined) {
        const labels = { model_name, route: exchange.route.kind, outcome };
        instruments.add('replies_total', labels, 1, exemplar);
      }
      for (const result of countChecks) {
        instruments.add('count_checks_total', { model_name, result }, 1, exemplar);
      }
      const perPrompt = firstChoicePerPrompt(exchange);
      const reported = perPrompt.flatMap((choice) => choice.cachedTokens ?? []);
      if (reported.length > 0) {
        const cached = reported.reduce((sum, tokens) => sum + tokens, 0);
        instruments.add('prompt_tokens_cached_total', { model_name }, cached);
      }
      const rate = perPrompt[0]?.prefillTokensPerSecond;
      if (rate === undefined || !(rate > 0)) return;
      for (const finding of exchange.findings) {
        if (!isLoss(exchange, finding) || finding.lostTokens === undefined) continue;
        const labels = { model_name, cause: breakCauseOf(finding) };
        instruments.add('prefill_wasted_seconds_total', labels, finding.lostTokens / rate, exemplar);
      }
    },
  };
}

/** False also for a break that was repaired before forwarding: the engine's prefix held. */
function isLoss({ action }: Exchange, { kind, savedTokens }: Finding): boolean {
  return kind === 'prefix-break' && !(savedTokens !== undefined && action === 'rewrite');
}

function breakCauseOf(finding: Finding): BreakCause {
  return breakCauses.find((cause) => cause === finding.cause) ?? 'unknown';
}

/**
 * The sum over all prompts. Undefined while any of them is unknown, for part of a batch would look like all of it, and where
 * there are media, which take positions of their own.
 */
function promptTokensOf(exchange: Exchange): number | undefined {
  if (exchange.prompts.length === 0 || bringsMedia(exchange.request)) return undefined;
  let sum = 0;
  for (const prompt of exchange.prompts) {
    if (!prompt.known) return undefined;
    sum += prompt.ids.length;
  }
  return sum;
}

/** Choices of one prompt share its prefill, so only the first that is there speaks for the prompt. */
function firstChoicePerPrompt(exchange: Exchange): ChoiceReply[] {
  const perPrompt = Math.max(1, exchange.request?.choices ?? 1);
  const first = new Map<number, ChoiceReply>();
  for (const choice of exchange.reply?.choices ?? []) {
    const prompt = Math.floor(choice.index / perPrompt);
    const known = first.get(prompt);
    if (known === undefined || choice.index < known.index) first.set(prompt, choice);
  }
  return [...first.entries()].toSorted(([a], [b]) => a - b).map(([, choice]) => choice);
}
