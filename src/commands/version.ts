/** `tokenweir version`: the version of this program and of the runtime under it. */
import { packageVersion } from '../config/version.ts';
import { exitCodes, jsonOption, type Command } from './command.ts';

export const command: Command = {
  name: 'version',
  description: 'print the version',
  options: [jsonOption],
  run({ flags, stdout }) {
    const version = packageVersion();
    const text = flags['json']
      ? JSON.stringify({ tokenweir: version, node: process.versions.node })
      : `tokenweir ${version} (Node ${process.versions.node})`;
    stdout(`${text}\n`);
    return Promise.resolve(exitCodes.clean);
  },
};
