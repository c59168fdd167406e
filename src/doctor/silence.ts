/** Says in words why an engine could not be asked, and what to do about it. Guesses no more than the reason tells. */
import type { ServedModel } from '../engines/engine.ts';
import type { Untold } from '../exchange/token-read.ts';
import type { Silence } from './diagnosis.ts';

export interface Asked {
  readonly upstream: string;
  /** The model that was asked for; absent if none was named. */
  readonly model?: string;
  /** How whoever asks names a model, e.g. `with --model`. */
  readonly naming: string;
  /** The engine's own list; [] if it gave none. */
  readonly models: readonly ServedModel[];
  /** The engines that have an adapter. */
  readonly engines: readonly string[];
}

export function explainSilence(untold: Untold, asked: Asked): Silence {
  const { reason } = untold;
  const { upstream, engines } = asked;
  switch (reason) {
    case 'engine-unreachable':
      return {
        reason,
        isUsage: false,
        message: `Nothing answers at ${upstream}.`,
        advice: upstream.startsWith('https:')
          ? 'Check host and port, and the certificate: upstream.ca names the authorities to trust.'
          : 'Start the engine, or correct host and port.',
      };
    case 'engine-cannot':
      return {
        reason,
        isUsage: false,
        message: `${upstream} answers, but not as an engine that Tokenweir knows (${engines.join(', ')}).`,
        advice:
          'Requests would pass through the proxy uninspected. If it is one of these behind another path, put that path into the URL.',
      };
    case 'engine-busy':
      return {
        reason,
        isUsage: false,
        message: `${upstream} ${untold.status === 529 ? 'is overloaded' : 'limits requests'}: ${answered(untold)}.`,
        advice: `${againAt(untold)}, raise the limit of the engine or of the gateway before it, or ask the engine without the gateway.`,
      };
    case 'answer-too-large':
      return {
        reason,
        isUsage: false,
        message: `${upstream} answers with far more than an engine would, perhaps without end; it was not read on.`,
        advice: 'Check host, port and path: another service may listen there.',
      };
    case 'engine-loading':
      return explainUnavailable(untold, upstream);
    case 'engine-sleeping':
      return {
        reason,
        isUsage: false,
        message: `The engine at ${upstream} sleeps. A question would wake it and load its model again.`,
        advice: 'Send it a request of your own, then ask again.',
      };
    case 'oracle-refused':
      return explainRefusal(untold, upstream);
    case 'oracle-timeout':
      return {
        reason,
        isUsage: false,
        message: `The engine at ${upstream} accepts connections but did not answer in time.`,
        advice: 'Look at what it is doing; limits.oracleTimeoutMs sets how long to wait.',
      };
    case 'model-not-loaded':
      return explainRouter(asked);
    default:
      return {
        reason,
        isUsage: false,
        message: `The engine at ${upstream} gave an answer that can't be read (${reason}${answer(untold, '; ')}).`,
        advice: "Look at the engine's own log, and at what stands before it.",
      };
  }
}

/** 503 is what engines answer while they load a model, and gateways while nobody stands behind them. */
function explainUnavailable(untold: Untold, upstream: string): Silence {
  const common = { reason: untold.reason, isUsage: false } as const;
  if (untold.engineSays === undefined || /\bload/iu.test(untold.engineSays)) {
    return {
      ...common,
      message: `The engine at ${upstream} is still loading its model${answer(untold, ': ')}.`,
      advice:
        'Ask again when it has finished. Where a gateway stands before it, this may be its own answer: look at its log.',
    };
  }
  return {
    ...common,
    message: `${upstream} is not available: ${answered(untold)}.`,
    advice: 'Ask again later; the log of the engine, or of the gateway before it, says why.',
  };
}

/** Statuses by which a server says that who asks may not. */
const keyStatuses: readonly (number | undefined)[] = [401, 403];
/** Statuses by which a server says that it has no such endpoint. */
const absenceStatuses: readonly (number | undefined)[] = [404, 405, 410];

function explainRefusal(untold: Untold, upstream: string): Silence {
  const { reason, status } = untold;
  const message = `${upstream} refuses the question${answer(untold, ': ')}.`;
  if (keyStatuses.includes(status)) {
    return {
      reason,
      isUsage: true,
      message,
      advice:
        'Its API key is missing or wrong: set upstream.apiKey (in the environment: TOKENWEIR_UPSTREAM_API_KEY).',
    };
  }
  if (absenceStatuses.includes(status)) {
    return {
      reason,
      isUsage: true,
      message,
      advice: 'It has no such endpoint there: check the address, its path too, and --engine.',
    };
  }
  return {
    reason,
    isUsage: false,
    message,
    advice: 'Check the address and --engine; the log of the engine, or of the gateway before it, says more.',
  };
}

function answered({ status, engineSays }: Untold): string {
  const says = engineSays === undefined ? undefined : JSON.stringify(engineSays);
  const said = status === undefined ? undefined : `it answers with status ${status}`;
  return (
    [said, says && `it says ${says}`].filter((part) => part !== undefined).join(', and ') ||
    'it gives no reason'
  );
}

/** Nothing where there was no answer. @param before stands before it */
function answer(untold: Untold, before: string): string {
  return untold.status === undefined && untold.engineSays === undefined ? '' : before + answered(untold);
}

/** `Retry-After` has seconds or a date. */
function againAt({ retryAfter }: Untold): string {
  if (retryAfter === undefined) return 'Ask again later';
  return /^\d+$/u.test(retryAfter) ? `Ask again in ${retryAfter} s` : `Ask again after ${retryAfter}`;
}

/** A router serves several models; it is asked about one that is loaded, so that asking loads nothing. */
function explainRouter({ upstream, model, models, naming }: Asked): Silence {
  const listed = models.find(
    ({ name, aliases }) => model !== undefined && [name, ...aliases].includes(model),
  );
  const list = models.map(({ name, status }) => `${name} (${status})`).join(', ');
  const has = list === '' ? 'It lists no models.' : `It lists ${list}.`;
  const common = { reason: 'model-not-loaded', isUsage: listed === undefined } as const;
  if (model === undefined) {
    return {
      ...common,
      message: `${upstream} routes to several models. ${has}`,
      advice: `Name a loaded one ${naming}.`,
    };
  }
  if (listed === undefined) {
    return {
      ...common,
      message: `${upstream} has no model ${JSON.stringify(model)}. ${has}`,
      advice: `Name a loaded one ${naming}.`,
    };
  }
  return {
    ...common,
    message: `The model ${JSON.stringify(model)} at ${upstream} is ${listed.status}, and a question would load it.`,
    advice: 'Send it a request of your own, then ask again.',
  };
}
