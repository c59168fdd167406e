/** Reads the files that a check is given: by name, all of a folder, or standard input. The one place of it that does. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { CheckInput, InputMistake } from '../check/input.ts';
import { readInput } from '../check/read-input.ts';
import { fileProblem } from '../config/file-problem.ts';
import type { RequestKind } from '../exchange/request-reader.ts';
import type { CommandContext } from './command.ts';

export interface ReadFiles {
  /** Files that were read, `-` among them. */
  readonly files: number;
  readonly inputs: readonly CheckInput[];
  readonly mistakes: readonly InputMistake[];
}

/** What a folder is searched for, at any depth. */
const endings = ['.json', '.jsonl', '.ndjson'];

/** @param names as given on the command line; `-` is standard input */
export async function readFiles(
  names: readonly string[],
  { cwd, stdin }: Pick<CommandContext, 'cwd' | 'stdin'>,
  route: RequestKind | undefined,
): Promise<ReadFiles> {
  const inputs: CheckInput[] = [];
  const mistakes: InputMistake[] = [];
  let files = 0;
  for (const name of names.flatMap((given) => expanded(given, cwd))) {
    const read = name === '-' ? await stdin?.() : bytesOf(name, cwd);
    if (Buffer.isBuffer(read)) {
      files += 1;
      const reading = readInput(name, read, route);
      inputs.push(...reading.inputs);
      mistakes.push(...reading.mistakes);
    } else {
      mistakes.push({ where: name, message: read ?? 'there is no standard input; name a file' });
    }
  }
  return { files, inputs, mistakes };
}

/** The names in a folder in alphabetical order, so that a run tells the same each time. */
function expanded(name: string, cwd: string): readonly string[] {
  const path = resolve(cwd, name);
  if (name === '-' || !existsSync(path) || !statSync(path).isDirectory()) return [name];
  const within = readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((entry) => endings.some((ending) => entry.endsWith(ending)))
    .toSorted();
  return within.length === 0 ? [name] : within.map((entry) => join(name, entry));
}

/** @returns the bytes, or in words why there are none. */
function bytesOf(name: string, cwd: string): Buffer | string {
  try {
    return readFileSync(resolve(cwd, name));
  } catch (error) {
    const problem = fileProblem(error);
    if (problem === undefined) throw error;
    if (problem !== 'is a directory')
      return `the file ${problem}; name a file, a folder, or - for standard input`;
    return `the folder holds no file that ends in ${endings.join(', ')}; name one that does, or a file`;
  }
}

/** Why a recording can't be written under this name; undefined if it can. */
export function recordProblem(name: string, cwd: string): string | undefined {
  return existsSync(resolve(cwd, name))
    ? `--record is ${JSON.stringify(name)}, which exists already; allowed: the name of a new file`
    : undefined;
}

/** For the owner's eyes alone: it holds prompts. @returns why it could not be written, if so */
export function writeRecording(name: string, cwd: string, text: string): string | undefined {
  try {
    writeFileSync(resolve(cwd, name), text, { flag: 'wx', mode: 0o600 });
    return undefined;
  } catch (error) {
    const problem = fileProblem(error);
    if (problem === undefined) throw error;
    return `--record is ${JSON.stringify(name)}, which ${problem}; allowed: the name of a new file`;
  }
}
