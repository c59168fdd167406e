/** Reads the files that a check is given: by name, all of a folder, or standard input. The one place of it that does. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { goldenNameOf, isGoldenName, requestNameOf, withReferences } from '../check/golden-file.ts';
import type { CheckInput, InputMistake, InputReading } from '../check/input.ts';
import { readInput } from '../check/read-input.ts';
import { fileProblem } from '../config/file-problem.ts';
import type { RequestKind } from '../exchange/request/request-reader.ts';
import type { CommandContext } from './command.ts';
import { endings, filesIn, type FolderFiles } from './folder-files.ts';

export interface ReadFiles {
  /** Files of requests, traces and recordings that were read, `-` among them; golden files are not counted. */
  readonly files: number;
  /** What each of them holds. */
  readonly byFile: readonly FileInputs[];
  readonly inputs: readonly CheckInput[];
  readonly mistakes: readonly InputMistake[];
}

export interface FileInputs {
  readonly file: string;
  readonly inputs: readonly CheckInput[];
  /** Their references are of this file; absent if there is none, or it was left out. */
  readonly golden?: string;
}

/**
 * @param names as given on the command line; `-` is standard input
 * @param golden `left-out` where golden files are to be written anew
 */
export async function readFiles(
  names: readonly string[],
  { cwd, stdin }: Pick<CommandContext, 'cwd' | 'stdin'>,
  route: RequestKind | undefined,
  golden: 'read' | 'left-out' = 'read',
): Promise<ReadFiles> {
  const byFile: FileInputs[] = [];
  const named = names.map((given) => expanded(given, cwd));
  const mistakes: InputMistake[] = named.flatMap((one) => one.mistakes);
  for (const file of requestFiles(named.flatMap((one) => one.files))) {
    const read = file === '-' ? await stdin?.() : bytesOf(file, cwd);
    if (Buffer.isBuffer(read)) {
      const own = readInput(file, read, route);
      const beside = golden === 'read' && own.mistakes.length === 0 ? goldenOf(file, cwd) : undefined;
      const reading = beside === undefined ? own : referenced(beside, cwd, own);
      byFile.push({ file, inputs: reading.inputs, ...(beside !== undefined && { golden: beside }) });
      mistakes.push(...reading.mistakes);
    } else {
      mistakes.push({ where: file, message: read ?? 'there is no standard input; name a file' });
    }
  }
  return { files: byFile.length, byFile, inputs: byFile.flatMap(({ inputs }) => inputs), mistakes };
}

/** A golden file stands for the file that it is beside; it is read with that one, once. */
function requestFiles(names: readonly string[]): readonly string[] {
  const requests = new Set(names.filter((name) => !isGoldenName(name)));
  return names.flatMap((name) => {
    if (!isGoldenName(name)) return [name];
    return requests.has(requestNameOf(name)) ? [] : [requestNameOf(name)];
  });
}

function goldenOf(file: string, cwd: string): string | undefined {
  const golden = goldenNameOf(file);
  return golden !== undefined && existsSync(resolve(cwd, golden)) ? golden : undefined;
}

function referenced(golden: string, cwd: string, { inputs }: InputReading): InputReading {
  const bytes = bytesOf(golden, cwd);
  if (typeof bytes === 'string') return { inputs: [], mistakes: [{ where: golden, message: bytes }] };
  return withReferences(inputs, golden, bytes.toString('utf8'));
}

/** A folder stands for what is in it. One that holds nothing to check is kept, and is said not to be a file. */
function expanded(name: string, cwd: string): FolderFiles {
  const path = resolve(cwd, name);
  const itself = { files: [name], mistakes: [] };
  if (name === '-' || !existsSync(path) || !statSync(path).isDirectory()) return itself;
  const within = filesIn(name, cwd);
  return within.files.length + within.mistakes.length === 0 ? itself : within;
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

/**
 * With the rights of the file that it is beside: ids say what the request says.
 * @returns why it could not be written, if so
 */
export function writeGolden(golden: string, beside: string, cwd: string, text: string): string | undefined {
  const held = existsSync(resolve(cwd, golden)) ? bytesOf(golden, cwd) : '';
  if (/"by":\s*"(?!golden")/.test(held.toString())) {
    return `${golden} is a reference that no engine made, and is kept; remove it to have one by an engine`;
  }
  try {
    const { mode } = statSync(resolve(cwd, beside));
    writeFileSync(resolve(cwd, golden), text, { mode: mode & 0o666 });
    return undefined;
  } catch (error) {
    const problem = fileProblem(error, 'written');
    if (problem === undefined) throw error;
    return `${golden} ${problem}; allowed: a folder that can be written to`;
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
    const problem = fileProblem(error, 'written');
    if (problem === undefined) throw error;
    return `--record is ${JSON.stringify(name)}, which ${problem}; allowed: the name of a new file`;
  }
}
