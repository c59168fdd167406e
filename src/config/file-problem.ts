/** Why a file could not be read or written, in words for the person who named it. */

/** What is wrong with a file, for people; undefined for anything that is not a file system error. */
export function fileProblem(error: unknown, access: 'read' | 'written' = 'read'): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    EACCES: `may not be ${access}`,
    EISDIR: 'is a directory',
    ENOTDIR: 'lies under something that is not a directory',
  };
  return reasons[error.code] ?? `can't be ${access} (${error.code})`;
}
