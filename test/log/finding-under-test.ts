// A finding record with every field set, changed by what a test says about it.
import type { FindingRecord } from '../../src/exchange/finding-record.ts';

export function findingRecord(changes: Partial<FindingRecord> = {}): FindingRecord {
  return {
    time: '2026-01-31T12:00:00.000Z',
    requestId: 'r-1',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    model: 'qwen3',
    route: 'chat',
    client: 'c-1',
    session: 's-1',
    kind: 'prefix-break',
    cause: 'tools-reordered',
    severity: 'warning',
    culprit: 'client',
    promptIndex: 0,
    tokens: { start: 56, end: 58 },
    lostTokens: 178,
    savedTokens: 170,
    field: 'tools',
    message: 'The prompt leaves the earlier turn at token 56 of 234.',
    advice: 'Send the tools in the same order on every turn.',
    action: 'rewrite',
    window: {
      start: 55,
      pieces: [
        { position: 55, class: 'control', text: '<|im_start|>', id: 'a1' },
        { position: 56, class: 'text', id: 'b2' },
        { position: 57, class: 'whitespace', id: 'c3' },
        { position: 58, class: 'text', id: 'b2' },
      ],
    },
    ancestorWindow: {
      start: 55,
      pieces: [
        { position: 55, class: 'control', text: '<|im_start|>', id: 'a1' },
        { position: 56, class: 'text', id: 'd4' },
      ],
    },
    ...changes,
  };
}
