/** Answers to bytes that node's parser refuses, so that they never become a request. No part of them is repeated. */
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import { errorEnvelope, type Failure } from './error-envelope.ts';

const tooLarge: Failure = {
  status: 431,
  type: 'head_too_large',
  message: 'The request line and headers are larger than 64 KiB; send less in them.',
};
const tooSlow: Failure = {
  status: 408,
  type: 'head_timeout',
  message: 'The request headers did not arrive in time; send them at once.',
};
const malformed: Failure = {
  status: 400,
  type: 'malformed_request',
  message: 'The request is not valid HTTP/1.1; nothing was forwarded.',
};

const reasons: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** Fastify's `clientErrorHandler`: answers on the bare socket and closes it. */
export function answerMalformed(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const failure =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? tooLarge
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? tooSlow
        : malformed;
  const body = errorEnvelope('native', failure);
  const head = [
    `HTTP/1.1 ${failure.status} ${reasons[failure.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
