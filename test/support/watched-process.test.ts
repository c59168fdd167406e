// What a killed test leaves behind: nothing, however many processes its server had.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { Readable } from 'node:stream';

/** Starts a server that would run for ten minutes, says so, and waits; what the server inherits closes when it is gone. */
const holder = (wholeGroup: boolean): string => `
  import { spawn } from 'node:child_process';
  import { WatchedProcess } from ${JSON.stringify(new URL('watched-process.ts', import.meta.url).href)};
  const child = spawn('/bin/sh', ['-c', 'sleep 600 & echo up; wait'], {
    stdio: ['ignore', 'pipe', 'ignore', 3],
    detached: ${wholeGroup},
  });
  const watched = new WatchedProcess(child, 'a server', { wholeGroup: ${wholeGroup} });
  await watched.waitForLog(/up/);
  console.log('ready');
  setInterval(() => undefined, 60_000);
`;

describe('a server of a process that is killed', () => {
  for (const wholeGroup of [false, true]) {
    it(`ends with it${wholeGroup ? ', and with all of its group' : ''}`, async (t) => {
      const script = wholeGroup
        ? holder(true)
        : holder(false).replace('sleep 600 & echo up; wait', 'echo up; exec sleep 600');
      const own = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
      });
      t.after(() => own.kill('SIGKILL'));
      await once(own.stdout!, 'data');
      const inherited = own.stdio[3] as Readable;
      inherited.resume();
      const closed = Promise.all([once(own, 'exit'), once(inherited, 'close')]);
      own.kill('SIGKILL');
      await closed;
    });
  }
});
