/** The commonest first mistake, no upstream, gets an answer that can be pasted. Looks at this machine's ports only. */
import { connect } from 'node:net';

import { usualPorts } from '../engines/index.ts';
import { exitCodes, type CommandContext, type ExitCode } from './command.ts';

const probeTimeoutMs = 500;

/**
 * @param command the name of the command that needs an upstream
 * @param ports where engines usually listen
 */
export async function missingUpstream(
  { stderr }: CommandContext,
  command: string,
  ports: typeof usualPorts = usualPorts,
): Promise<ExitCode> {
  const listening = await Promise.all(
    ports.map(async (usual) => ((await answers(usual.port)) ? usual : undefined)),
  );
  const found = listening.filter((usual) => usual !== undefined);
  stderr(
    'upstream.url is not set; allowed: --upstream URL, TOKENWEIR_UPSTREAM_URL or upstream.url in proxy.yaml\n',
  );
  if (found.length === 0) {
    const list = ports.map(({ port }) => port).join(', ');
    stderr(`Nothing listens on the usual local ports (${list}). Try "tokenweir demo" for a first look.\n`);
  }
  for (const { port, engine } of found) {
    stderr(
      `Port ${port} answers (${engine}'s usual port): tokenweir ${command} --upstream http://127.0.0.1:${port}\n`,
    );
  }
  return exitCodes.usage;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: probeTimeoutMs });
    const end = (open: boolean) => () => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}
