/** Finds the files in a folder that may hold something to check, at any depth. Reads names and nothing of the files. */
import { readdirSync, realpathSync, statSync, type Dirent } from 'node:fs';
import { join, resolve } from 'node:path';

import type { InputMistake } from '../check/input.ts';
import { fileProblem } from '../config/file-problem.ts';

export const endings = ['.json', '.jsonl', '.ndjson'];

export interface FolderFiles {
  /** In alphabetical order, so that a run tells the same each time. */
  readonly files: readonly string[];
  /** Folders that can't be read. */
  readonly mistakes: readonly InputMistake[];
}

/** @param name as it was given; the names of the files begin with it. */
export function filesIn(name: string, cwd: string): FolderFiles {
  const files: string[] = [];
  const mistakes: InputMistake[] = [];
  /** @param above the folders that this one lies in: a link back to one of them would lead round for ever. */
  const enter = (folder: string, above: readonly string[]): void => {
    try {
      const real = realpathSync(resolve(cwd, folder));
      if (above.includes(real)) return;
      for (const entry of readdirSync(real, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (isFolder(entry, resolve(cwd, path))) enter(path, [...above, real]);
        else if (endings.some((ending) => entry.name.endsWith(ending))) files.push(path);
      }
    } catch (error) {
      const problem = fileProblem(error);
      if (problem === undefined) throw error;
      mistakes.push({ where: folder, message: `the folder ${problem}; name the files to check, or another` });
    }
  };
  enter(name, []);
  return { files: files.toSorted(), mistakes };
}

/** What a link leads to counts; one that leads nowhere is left to whoever opens it. */
function isFolder(entry: Dirent, path: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
