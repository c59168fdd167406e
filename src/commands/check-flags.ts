/** The options of `tokenweir check`: what they are called, and what they say once they are known to be right. */
import { severities, type Severity } from '../exchange/finding.ts';
import { readableKinds, type RequestKind } from '../exchange/request/request-reader.ts';
import { readChoice } from './choice.ts';
import { configOptions, jsonOption, type CommandContext, type CommandOption } from './command.ts';

export const checkOptions: readonly CommandOption[] = [
  ...configOptions.filter(({ flags }) => /^--(?:config|upstream|engine) /.test(flags)),
  { flags: '--route <kind>', description: `what requests are for: ${readableKinds.join(', ')}` },
  { flags: '--frozen', description: 'judge recordings on what they hold alone, asking no engine' },
  { flags: '--session <name>', description: 'the requests are turns of one conversation, in this order' },
  {
    flags: '--record <file>',
    description: "write today's exchanges to a new file, prompts and ids included",
  },
  {
    flags: '--fail-on <severity>',
    description: 'exit 1 at findings of this severity or above: info, warning or error (default: error)',
  },
  { flags: '--allow-unknown', description: "do not exit 3 because some prompt's ids are not known" },
  { flags: '--show-text', description: 'show ordinary tokens around findings, not only control tokens' },
  jsonOption,
];

export interface CheckFlags {
  /** Absent: the shape of a request says it. */
  readonly route?: RequestKind;
  readonly session?: string;
  /** The file to write. */
  readonly record?: string;
  readonly failOn: Severity;
  readonly frozen: boolean;
  readonly allowUnknown: boolean;
  readonly showText: boolean;
  readonly json: boolean;
}

/** @returns in words what is wrong with the first option that is. */
export function readCheckFlags({ flags }: Pick<CommandContext, 'flags'>): CheckFlags | string {
  const failOn = readChoice(flags, '--fail-on', severities);
  if ('problem' in failOn) return failOn.problem;
  const route = readChoice(flags, '--route', readableKinds);
  if ('problem' in route) return route.problem;
  const { session, record } = flags;
  if (session === '') return '--session is ""; allowed: a name for the conversation';
  return {
    ...(route.given && { route: route.given }),
    ...(typeof session === 'string' && { session }),
    ...(typeof record === 'string' && { record }),
    failOn: failOn.given ?? 'error',
    frozen: flags['frozen'] === true,
    allowUnknown: flags['allowUnknown'] === true,
    showText: flags['showText'] === true,
    json: flags['json'] === true,
  };
}
