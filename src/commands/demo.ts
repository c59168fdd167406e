/**
 * `tokenweir demo`: the built-in demo engine, the proxy in front of it, scripted traffic, and its findings. Needs nothing
 * and reads no configuration file; what it shows is labelled as a demo, for no model runs.
 */
import { once } from 'node:events';

import { configFlags } from '../config/flags.ts';
import { loadConfig, type ConfigResult } from '../config/load.ts';
import { startDemoEngine, type DemoEngine } from '../demo/engine.ts';
import { FindingInbox } from '../demo/finding-inbox.ts';
import { readCountChecks, sendStep, type StepResult } from '../demo/first-look.ts';
import { jsonOutput, screenOutput, type DemoOutput } from '../demo/output.ts';
import { demoScript } from '../demo/script.ts';
import { createPaint, lineWidth } from '../report/layout.ts';
import { createLogger } from '../log/logger.ts';
import type { RunningServer } from '../server.ts';
import { exitCodes, jsonOption, type Command, type CommandContext, type ExitCode } from './command.ts';
import { reportErrors } from './config.ts';
import { freeAddress } from './free-address.ts';
import { openListeners } from './open-listeners.ts';

const demoFlags = ['--listen', '--admin', '--mode', '--log-level'];

export const command: Command = {
  name: 'demo',
  description: 'a first look without an inference server: scripted traffic, real findings, no model',
  options: [
    ...configFlags
      .filter(({ flag }) => demoFlags.includes(flag))
      .map(({ flag, placeholder, description }) => ({ flags: `${flag} ${placeholder}`, description })),
    {
      flags: '--once',
      description: 'end after the script; exit code 1 if a finding did not come as expected',
    },
    jsonOption,
  ],
  async run(context) {
    const engine = await startDemoEngine({ tokenIntervalMs: replyTokenMs });
    try {
      return await runInFrontOf(engine, context);
    } finally {
      await engine.close();
    }
  },
};

/** Quick enough that the findings come within a glance, slow enough that replies are streams. */
const replyTokenMs = 1;

/** Settings that a first look needs. They stand where the environment does: flags come before them. */
const demoSettings = {
  // The text is the script's and the reader's own, and stays on this terminal.
  TOKENWEIR_PRIVACY_SHOW_TEXT: 'true',
  // The first request waits until the model's facts are learnt, so that no step is inspected late.
  TOKENWEIR_INSPECTION_BUDGET_MS: '10000',
  // Findings are printed by the demo; log lines between them would be noise.
  TOKENWEIR_LOG_LEVEL: 'silent',
  TOKENWEIR_DRAIN_TIMEOUT_SECONDS: '1',
};

async function runInFrontOf(engine: DemoEngine, context: CommandContext): Promise<ExitCode> {
  const loaded = await loadDemoConfig(engine.url, context);
  if (loaded.kind === 'invalid') return reportErrors(loaded.errors, context);
  const output = outputOf(context);
  output.opening();
  const inbox = new FindingInbox();
  const logger = createLogger({ level: loaded.config.log.level, destination: { write: context.stderr } });
  const onFinding = inbox.add.bind(inbox);
  const server = await openListeners({ loaded, logger, cwd: context.cwd, onFinding }, context);
  if (server === undefined) return exitCodes.usage;
  try {
    return await show(server, inbox, output, context);
  } catch (error) {
    // A signal ends the requests under way; that is how the demo is meant to end.
    if (context.signal.aborted) return exitCodes.clean;
    throw error;
  } finally {
    await server.drain();
  }
}

/** No file: the reader's own proxy.yaml names another upstream. Addresses that nobody chose give way to a free port. */
async function loadDemoConfig(upstream: string, { flags, env }: CommandContext): Promise<ConfigResult> {
  const chosen = {
    TOKENWEIR_LISTEN: env['TOKENWEIR_LISTEN'],
    TOKENWEIR_ADMIN_LISTEN: env['TOKENWEIR_ADMIN_LISTEN'],
    TOKENWEIR_ADMIN_TOKEN: env['TOKENWEIR_ADMIN_TOKEN'],
  };
  const sources = {
    flags: { ...flags, config: undefined, upstream },
    env: { ...demoSettings, ...chosen },
    // The directory of this file: it holds no configuration.
    cwd: import.meta.dirname,
  };
  const loaded = loadConfig(sources);
  if (loaded.kind === 'invalid') return loaded;
  const { config, origins } = loaded;
  const [listen, admin] = await Promise.all(
    (['listen', 'admin.listen'] as const).map(async (key) => {
      const address = key === 'listen' ? config.listen : config.admin.listen;
      return origins.get(key) === 'default' ? await freeAddress(address) : address;
    }),
  );
  return loadConfig({ ...sources, flags: { ...sources.flags, listen, admin } });
}

async function show(
  server: RunningServer,
  inbox: FindingInbox,
  output: DemoOutput,
  context: CommandContext,
): Promise<ExitCode> {
  const { signal, flags } = context;
  const addresses = { proxyUrl: server.url, adminUrl: server.adminUrl };
  const results: StepResult[] = [];
  for (const [index, step] of demoScript.entries()) {
    const result = await sendStep(step, `demo-${index + 1}`, server.url, inbox, signal);
    results.push(result);
    output.step(result, index + 1, demoScript.length);
  }
  const replies = results.filter(({ counts }) => counts !== undefined).length;
  output.summary(results, await readCountChecks(server.adminUrl, replies, signal));
  if (flags['once'] === true) {
    return results.every(({ asExpected }) => asExpected) ? exitCodes.clean : exitCodes.findings;
  }
  output.standBy(addresses);
  inbox.goLive((record) => {
    output.finding(record);
  });
  if (!signal.aborted) await once(signal, 'abort');
  return exitCodes.clean;
}

/** Lines that are longer than this are hard to read, however wide the terminal is. */
const widestColumns = 120;
const narrowestColumns = 40;

function outputOf(context: CommandContext): DemoOutput {
  const { flags, stdout, colors = false } = context;
  if (flags['json'] === true) return jsonOutput(stdout);
  const paint = createPaint(colors);
  return screenOutput(stdout, () => {
    const columns = Math.min(Math.max(context.columns ?? lineWidth, narrowestColumns), widestColumns);
    return { columns, paint };
  });
}
