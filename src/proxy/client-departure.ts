/** Turns a client's departure into an AbortSignal. It must not fire for a client that has its whole answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The reason of every such abort; one for all, because a stack trace each would only slow many departures down. */
const clientGone = new Error('the client closed its connection');

/**
 * Aborts when the connection closes before the response was written out.
 * The socket is watched too: the response of a pipelined request has no socket, hence no 'close', until its turn.
 */
export function watchDeparture(request: IncomingMessage, response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const { socket } = request;
  const onClose = (): void => {
    response.off('close', onClose);
    socket.off('close', onClose);
    if (!response.writableFinished) controller.abort(clientGone);
  };
  if (socket.destroyed) onClose();
  else {
    response.on('close', onClose);
    socket.on('close', onClose);
  }
  return controller.signal;
}
