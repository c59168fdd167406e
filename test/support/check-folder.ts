// A folder of its own with request files, and `tokenweir check` run in it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import type { CheckResult, CheckSummary } from '../../src/check/result.ts';
import { command } from '../../src/commands/check.ts';
import type { CommandContext } from '../../src/commands/command.ts';
import { runCommand, type Ran } from './command-run.ts';

/** What `--json` prints. */
interface CheckDocument {
  readonly summary: CheckSummary;
  readonly results: readonly CheckResult[];
}

/** Made when a test file asks for it, gone when its tests have ended. */
interface CheckFolder {
  readonly folder: string;
  /** Writes a file there, and gives its name back. */
  readonly file: (name: string, content: object | string) => string;
  readonly check: (
    operands: readonly string[],
    flags?: CommandContext['flags'],
    rest?: Partial<CommandContext>,
  ) => Promise<Ran>;
  readonly checkJson: (
    operands: readonly string[],
    flags?: CommandContext['flags'],
  ) => Promise<CheckDocument>;
}

/** "Hi" as Gemma 3's template renders it, without its BOS. */
export const rendered = '<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n';
/** A request whose prompt starts with the BOS that the engine adds. */
export const doubledRequest = { prompt: `<bos>${rendered}`, n_predict: 4 };
export const cleanRequest = { messages: [{ role: 'user', content: 'Hi' }] };

export function openCheckFolder(): CheckFolder {
  const folder = mkdtempSync(join(tmpdir(), 'tokenweir-check-'));
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const check: CheckFolder['check'] = (operands, flags = {}, rest = {}) =>
    runCommand(command, flags, { cwd: folder, operands, ...rest });
  return {
    folder,
    file: (name, content) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
      return name;
    },
    check,
    checkJson: async (operands, flags = {}) => {
      const { stdout } = await check(operands, { ...flags, json: true });
      return JSON.parse(stdout) as CheckDocument;
    },
  };
}
