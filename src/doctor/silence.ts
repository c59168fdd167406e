/** Says in words why an engine could not be asked, and what to do about it. Guesses no more than the reason tells. */
import type { ServedModel } from '../engines/engine.ts';
import type { UnknownReason } from '../exchange/token-read.ts';
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

export function explainSilence(reason: UnknownReason, asked: Asked): Silence {
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
    case 'engine-loading':
      return {
        reason,
        isUsage: false,
        message: `The engine at ${upstream} is still loading its model.`,
        advice: 'Ask again when it has finished.',
      };
    case 'engine-sleeping':
      return {
        reason,
        isUsage: false,
        message: `The engine at ${upstream} sleeps. A question would wake it and load its model again.`,
        advice: 'Send it a request of your own, then ask again.',
      };
    case 'oracle-refused':
      return {
        reason,
        isUsage: true,
        message: `${upstream} refuses the question.`,
        advice:
          'If it wants an API key, set upstream.apiKey (in the environment: TOKENWEIR_UPSTREAM_API_KEY); else check the address and --engine.',
      };
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
        message: `The engine at ${upstream} gave an answer that can't be read (${reason}).`,
        advice: "Look at the engine's own log.",
      };
  }
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
