/** Whether an address can be listened on right now. Opens it for a moment and closes it again. */
import { once } from 'node:events';
import { createServer } from 'node:net';

import { parseListenAddress } from '../config/addresses.ts';

/**
 * The address itself, or the same host with port 0 (the system chooses) if something else listens there.
 * @param text `host:port`; what is no such address is given back, so that the configuration's check names it
 */
export async function freeAddress(text: string): Promise<string> {
  const address = parseListenAddress(text);
  if (address === undefined) return text;
  const probe = createServer();
  try {
    probe.listen(address);
    await once(probe, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      return `${text.slice(0, text.lastIndexOf(':'))}:0`;
    }
    // Any other reason is one that the real listener will meet, and tell, itself.
    return text;
  }
  probe.close();
  await once(probe, 'close');
  return text;
}
