/** What commands that check inputs have in common: the engine for as long as it is asked, and what is said without an answer. */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

import { runCheck, type CheckRun } from '../check/check.ts';
import type { CheckInput } from '../check/input.ts';
import type { Config } from '../config/load.ts';
import { counted } from '../exchange/counted.ts';
import { explainSilence } from '../doctor/silence.ts';
import { engineKinds } from '../engines/index.ts';
import { printable } from '../report/printable.ts';
import type { ReadFiles } from './check-files.ts';
import type { CheckFlags } from './check-flags.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';
import { openConfiguredEngine } from './configured-engine.ts';

/** @param isAsked false judges recordings on what they hold alone */
export async function checkInputs(
  inputs: readonly CheckInput[],
  config: Config,
  isAsked: boolean,
  { session, showText }: Partial<Pick<CheckFlags, 'session' | 'showText'>>,
  { cwd, signal, stderr }: CommandContext,
): Promise<CheckRun> {
  for (const line of assumed(inputs)) stderr(`${line}\n`);
  const asked = isAsked ? openConfiguredEngine(config, cwd, signal) : undefined;
  // A signal ends the questions under way; nothing is said about answers that never came.
  const stop = (): void => void asked?.engine.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await runCheck(inputs, {
      config: showText === true ? { ...config, privacy: { ...config.privacy, showText: true } } : config,
      ...(asked && { asked }),
      ...(session !== undefined && { session }),
      digestKey: randomBytes(32),
      onFailure: (error) => {
        stderr(`a fault of tokenweir's: ${inspect(error)}\n`);
      },
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await asked?.engine.close();
  }
}

/** Says for which route a request was taken where its shape leaves that open, and how to name it. */
function assumed(inputs: readonly CheckInput[]): string[] {
  const open = inputs.filter((input) => input.form === 'request' && input.byToolsAlone === true);
  const [first] = open;
  if (first === undefined) return [];
  const others = open.length === 1 ? '' : ` (and ${counted(open.length - 1, 'other')})`;
  return [
    `${printable(first.source)}${others}: taken for the route messages, as its tools have "input_schema" and nothing else says what it is for.`,
    'If it is sent to the chat route, say so with --route chat: engines refuse such tools there.',
  ];
}

/** Says why the engine can't be asked, and what to do. */
export function reportSilence(
  silence: NonNullable<CheckRun['silence']>,
  { upstream: { url: upstream = '' } }: Config,
  { stderr }: CommandContext,
): ExitCode {
  const engines = engineKinds.filter((kind) => kind !== 'auto');
  const naming = 'in the request, as "model"';
  const { models, model } = silence;
  const asked = { upstream, engines, naming, models, ...(model !== undefined && { model }) };
  const { message, advice, isUsage } = explainSilence(silence, asked);
  stderr(`${printable(message)}\n${printable(advice)}\n`);
  return isUsage ? exitCodes.usage : exitCodes.engineUnreachable;
}

/** Says what can't be read of the files. */
export function reportMistakes(
  { mistakes }: Pick<ReadFiles, 'mistakes'>,
  { json }: Pick<CheckFlags, 'json'>,
  { stdout, stderr }: CommandContext,
): ExitCode {
  if (json) stdout(`${JSON.stringify({ mistakes }, null, 2)}\n`);
  else for (const { where, message } of mistakes) stderr(`${printable(`${where}: ${message}`)}\n`);
  return exitCodes.usage;
}
