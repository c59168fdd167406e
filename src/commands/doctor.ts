/** `tokenweir doctor`: asks an engine, with nothing in the path, what it makes of prompts, and says what to expect of it. */
import { inspect } from 'node:util';

import { loadConfig, type Config } from '../config/load.ts';
import { adviseOn } from '../doctor/advice.ts';
import type { Diagnosis, ExplainedText, Serving, Untold } from '../doctor/diagnosis.ts';
import { observationsOf, untoldIn, type ProbeOutcome } from '../doctor/probed.ts';
import { createPaint } from '../report/layout.ts';
import { formatDiagnosis } from '../doctor/report.ts';
import { explainSilence, type Asked } from '../doctor/silence.ts';
import type { AskContext, Engine } from '../engines/engine.ts';
import { engineKinds } from '../engines/index.ts';
import { isAtLeast, severities, type Severity } from '../exchange/finding.ts';
import type { ModelFacts } from '../exchange/model-facts.ts';
import { readRequest } from '../exchange/request/request-reader.ts';
import { readChoice } from './choice.ts';
import {
  configOptions,
  configSources,
  exitCodes,
  jsonOption,
  type Command,
  type CommandContext,
  type ExitCode,
} from './command.ts';
import { reportErrors } from './config.ts';
import { openConfiguredEngine } from './configured-engine.ts';
import { missingUpstream } from './missing-upstream.ts';
import { probeRequests } from './probe-requests.ts';

export const command: Command = {
  name: 'doctor',
  description: 'say what an inference server makes of prompts, and what will go wrong with which client',
  options: [
    ...configOptions.filter(({ flags }) => /^--(?:config|upstream|engine) /.test(flags)),
    { flags: '--model <name>', description: 'which model, where the server routes to several' },
    {
      flags: '--text <text>',
      description: 'also show how this text is tokenized, with and without specials',
    },
    {
      flags: '--fail-on <severity>',
      description: 'exit 1 if there is advice of this severity or above: info, warning or error',
    },
    jsonOption,
  ],
  async run(context) {
    const { flags, stdout, stderr } = context;
    const failOn = readChoice(flags, '--fail-on', severities);
    if ('problem' in failOn) {
      stderr(`${failOn.problem}\n`);
      return exitCodes.usage;
    }
    const loaded = loadConfig(configSources(context));
    if (loaded.kind === 'invalid') return reportErrors(loaded.errors, context);
    for (const warning of loaded.warnings) stderr(`${warning}\n`);
    if (loaded.config.upstream.url === undefined) return missingUpstream(context, 'doctor');
    const diagnosis = await examine(loaded.config, context);
    if (context.signal.aborted) return exitCodes.engineUnreachable;
    if (flags['json'] === true) stdout(`${JSON.stringify(diagnosis, null, 2)}\n`);
    else
      (diagnosis.known ? stdout : stderr)(formatDiagnosis(diagnosis, createPaint(context.colors === true)));
    return exitCodeOf(diagnosis, failOn.given);
  },
};

async function examine(config: Config, context: CommandContext): Promise<Diagnosis> {
  const { url: upstream = '' } = config.upstream;
  const { engine, context: asking } = openConfiguredEngine(config, context.cwd, context.signal);
  // A signal ends the questions under way; nothing is said about answers that never came.
  const stop = (): void => void engine.close();
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    return await askAll(engine, asking, upstream, config, context);
  } finally {
    context.signal.removeEventListener('abort', stop);
    await engine.close();
  }
}

async function askAll(
  engine: Engine,
  context: AskContext,
  upstream: string,
  config: Config,
  { flags, stderr }: Pick<CommandContext, 'flags' | 'stderr'>,
): Promise<Diagnosis> {
  const model = typeof flags['model'] === 'string' ? flags['model'] : undefined;
  const read = await engine.facts(model, context);
  const listed = await engine.models(context);
  const models = 'known' in listed ? [] : listed;
  const asked: Asked = {
    upstream,
    models,
    engines: engineKinds.filter((kind) => kind !== 'auto'),
    naming: 'with --model',
    ...(model === undefined ? {} : { model }),
  };
  if (!read.known) {
    return { known: false, upstream, silence: explainSilence(read, asked) };
  }
  const { facts } = read;
  const entry = models.find(({ name, aliases }) => [name, ...aliases].includes(facts.modelName));
  const chatBosTokens = await countChatBos(engine, facts, model, context);
  const serving: Serving = {
    facts,
    routes: routesOf(engine),
    ...(chatBosTokens === undefined ? {} : { chatBosTokens }),
    trainedContextTokens: entry?.trainedContextTokens ?? 0,
  };
  const explained = await explain(engine, flags['text'], model, context);
  const outcomes = await probeRequests(engine, facts, model, config, (error) => {
    stderr(`a fault of tokenweir's: ${inspect(error)}\n`);
  });
  const untold = untoldOf(outcomes, asked);
  return {
    known: true,
    upstream,
    serving,
    advice: adviseOn(serving),
    observed: observationsOf(outcomes),
    ...(untold && { untold }),
    ...(explained && { explained }),
  };
}

function untoldOf(outcomes: readonly ProbeOutcome[], asked: Asked): Untold | undefined {
  const untold = outcomes.flatMap((outcome) => untoldIn(outcome) ?? []);
  const [first] = untold;
  if (first === undefined) return undefined;
  return { requests: untold.length, of: outcomes.length, silence: explainSilence(first, asked) };
}

/** Asks as the proxy would for a client's request. @returns undefined if the engine does not render it. */
async function countChatBos(
  engine: Engine,
  facts: ModelFacts,
  model: string | undefined,
  context: AskContext,
): Promise<number | undefined> {
  const body = { messages: [{ role: 'user', content: 'Hello' }], ...(model === undefined ? {} : { model }) };
  const reading = readRequest(Buffer.from(JSON.stringify(body)), 'chat');
  if (!reading.readable) throw new Error(`our own request can't be read: ${reading.reason}`);
  const [head] = await engine.read(reading.request, facts, context).heads();
  if (head?.known !== true) return undefined;
  const other = head.ids.findIndex((id) => id !== facts.bos?.id);
  return other < 0 ? head.ids.length : other;
}

/** The paths that people know; which of them this engine has, it says itself. */
function routesOf(engine: Engine): Serving['routes'] {
  const paths = ['/v1/chat/completions', '/completion', '/v1/completions'];
  const ofKind = (kind: string): string[] =>
    paths.filter((path) => engine.routeOf('POST', path).kind === kind);
  return { chat: ofKind('chat'), text: ofKind('completion') };
}

async function explain(
  engine: Engine,
  text: unknown,
  model: string | undefined,
  context: AskContext,
): Promise<ExplainedText | undefined> {
  if (typeof text !== 'string') return undefined;
  const views = await engine.explain(text, model, context);
  return { text, views: 'known' in views ? views.reason : views };
}

function exitCodeOf(diagnosis: Diagnosis, failOn: Severity | undefined): ExitCode {
  if (!diagnosis.known) return diagnosis.silence.isUsage ? exitCodes.usage : exitCodes.engineUnreachable;
  const fails = [...diagnosis.advice, ...diagnosis.observed].some(
    ({ severity }) => failOn !== undefined && isAtLeast(severity, failOn),
  );
  if (fails) return exitCodes.findings;
  return diagnosis.untold === undefined ? exitCodes.clean : exitCodes.engineUnreachable;
}
