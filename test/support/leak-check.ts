/** Fails a test file that leaves sockets, servers or timers behind. */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';

const watched = new Set(['TCPSocketWrap', 'TCPServerWrap', 'TLSWrap', 'Timeout', 'PipeServerWrap']);

function open(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => watched.has(name))
    .toSorted();
}

/** Call at the file's top; call the result in the last `after`. */
export function watchLeaks(): () => Promise<void> {
  const before = open();
  return async () => {
    // Closing takes a few turns of the event loop: kernel, close events, callbacks.
    for (let turn = 0; turn < 200 && open().length > before.length; turn++) await nextTurn();
    assert.deepEqual(open(), before, 'sockets, servers or timers are left open');
  };
}
