/** Bounds of memory, time and concurrency. */
import { byteSize, section, wholeNumber } from '../value-types.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const DAY_MS = 86_400_000;

export const limits = section({
  requestBytes: byteSize(KiB)
    .prefault('64MiB')
    .describe('Largest request body that is held for inspection. Larger ones are forwarded uninspected.'),
  heldBytesTotal: byteSize(KiB)
    .prefault('512MiB')
    .describe('Request bytes held at once over all requests. Beyond it bodies are forwarded uninspected.'),
  retainedBytes: byteSize(KiB)
    .prefault('256KiB')
    .describe('Reply bytes kept per exchange to read counts from. Replies always pass whole.'),
  workerBytes: byteSize(KiB)
    .prefault('1MiB')
    .describe('Bodies above this size are parsed in a worker thread.'),
  oracleConcurrency: wholeNumber(1, 1024)
    .default(4)
    .describe("How many of tokenweir's own calls to the engine may run at once."),
  oracleTimeoutMs: wholeNumber(1, DAY_MS, 'milliseconds')
    .default(10_000)
    .describe('Deadline of one such call.'),
  segmentCacheBytes: byteSize(MiB).prefault('128MiB').describe('Memory for tokenized segments of prompts.'),
  modelLabels: wholeNumber(1, 10_000)
    .default(50)
    .describe('Model names that get a metric label of their own; the rest share one.'),
  findingsKept: wholeNumber(1, 100_000).default(500).describe('Newest findings that the admin port shows.'),
}).prefault({});

export const sessions = section({
  maxBytes: byteSize(MiB).prefault('256MiB').describe('Memory for the token ids of remembered turns.'),
  ttlSeconds: wholeNumber(1, 31_536_000, 'seconds')
    .default(3600)
    .describe('How long an idle session is remembered.'),
  heads: wholeNumber(1, 64).default(4).describe('Live branches kept per session.'),
}).prefault({});
