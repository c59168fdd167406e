// Bodies for the raw and the chat route as no client should send them, with what llama-server makes of each.

export const native = '/completion';
export const chatRoute = '/v1/chat/completions';
const sampling = '"n_predict":1,"temperature":0,"seed":1';
const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

export interface OddBody {
  readonly path: string;
  readonly body: Buffer;
  /** What the engine says of it, so that the row means what its name says. */
  readonly status: number;
  /** @defaultValue unknown;unreadable-body */
  readonly inspection?: string;
}

export const oddBodies: Readonly<Record<string, OddBody>> = {
  'a byte order mark': {
    path: native,
    body: bytes([0xef, 0xbb, 0xbf], `{"prompt":"a",${sampling}}`),
    status: 200,
    inspection: 'ok',
  },
  'two byte order marks': {
    path: native,
    body: bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], `{"prompt":"a",${sampling}}`),
    status: 400,
  },
  'a lone surrogate': { path: native, body: bytes(`{"prompt":"\\ud800",${sampling}}`), status: 400 },
  'bytes that are no UTF-8': { path: native, body: bytes('{"prompt":"a', [0xff], '"}'), status: 400 },
  'an encoded surrogate': { path: native, body: bytes('{"prompt":"', [0xed, 0xa0, 0x80], '"}'), status: 400 },
  'a NUL after the object': {
    path: native,
    body: bytes(`{"prompt":"a",${sampling}}`, [0]),
    status: 200,
    inspection: 'ok',
  },
  'anything after a NUL': {
    path: native,
    body: bytes(`{"prompt":"a",${sampling}} `, [0, 0xff], '{"prompt":"b"} x'),
    status: 200,
    inspection: 'ok',
  },
  'a NUL between members': { path: native, body: bytes('{"prompt":"a",', [0], '"n":1}'), status: 400 },
  'a NUL in a string': { path: native, body: bytes('{"prompt":"a', [0], '"}'), status: 400 },
  'broken JSON': { path: native, body: bytes('{"prompt":"a"'), status: 400 },
  'text after the object': { path: native, body: bytes('{"prompt":"a"} x'), status: 400 },
  'no bytes at all': { path: native, body: bytes(), status: 400 },
  'an array': { path: native, body: bytes('[1]'), status: 400 },
  'a number as prompt': { path: native, body: bytes('{"prompt":5}'), status: 400 },
  'no prompt': { path: native, body: bytes('{}'), status: 400 },
  'an id beyond 64 bits': { path: native, body: bytes('{"prompt":[264,18446744073709551616]}'), status: 400 },
  'a negative id': { path: native, body: bytes('{"prompt":[264,-1]}'), status: 400 },
  'an id that is negative once it is cast': {
    path: native,
    body: bytes('{"prompt":[264,2147483648]}'),
    status: 400,
  },
  'a negative id beside text': { path: native, body: bytes('{"prompt":[264,"a",-1]}'), status: 400 },
  'an id of 64 bits, which JavaScript reads as another': {
    path: native,
    body: bytes(`{"prompt":[264,9007199254740993],${sampling}}`),
    status: 200,
  },
  'an id beyond the vocabulary': {
    path: native,
    // Behind BOS, which ids must bring along.
    body: bytes('{"prompt":[264,99999999]}'),
    status: 400,
    inspection: 'ok',
  },
  'deep nesting': {
    path: native,
    body: bytes(`{"prompt":"a","x":${deep(20_000)},${sampling}}`),
    status: 200,
    inspection: 'ok',
  },
  'deep nesting in the tools': {
    path: chatRoute,
    body: bytes(
      `{"messages":[],"tools":[{"type":"function","function":{"name":"f","x":${deep(600)}}}],${sampling}}`,
    ),
    status: 200,
  },
  'no messages': { path: chatRoute, body: bytes('{}'), status: 400 },
  'an empty list of messages': {
    path: chatRoute,
    body: bytes(`{"messages":[],${sampling}}`),
    status: 200,
    inspection: 'ok',
  },
  'a text instead of messages': { path: chatRoute, body: bytes('{"messages":"a"}'), status: 400 },
  'a prompt of no ids': {
    path: native,
    body: bytes(`{"prompt":[[]],${sampling}}`),
    status: 200,
    inspection: 'ok',
  },
  'no ids as a prompt string': {
    path: native,
    body: bytes(`{"prompt":{"prompt_string":[]},${sampling}}`),
    status: 200,
    inspection: 'ok',
  },
  'a number that no double holds': {
    path: chatRoute,
    body: bytes('{"messages":[{"role":"user","content":"a"}],"temperature":1e999}'),
    status: 400,
    inspection: 'unknown;oracle-refused',
  },
  'tools that are text': {
    path: chatRoute,
    body: bytes('{"messages":[{"role":"user","content":"a"}],"tools":"a"}'),
    status: 500,
    inspection: 'unknown;oracle-error',
  },
  'messages that are none': { path: chatRoute, body: bytes('{"messages":["a"]}'), status: 400 },
  'a message without a role': { path: chatRoute, body: bytes('{"messages":[{"content":"a"}]}'), status: 500 },
  'a number as content': {
    path: chatRoute,
    body: bytes('{"messages":[{"role":"user","content":5}]}'),
    status: 400,
    inspection: 'unknown;oracle-refused',
  },
};
