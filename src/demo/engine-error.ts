// The errors of the demo engine, in the envelope and with the status codes of llama-server. Nothing else reaches a client:
// what is thrown in a route and is not an EngineError is answered as a server error without details.

const statusByType = {
  invalid_request_error: 400,
  exceed_context_size_error: 400,
  not_found_error: 404,
  server_error: 500,
  not_supported_error: 501,
} as const;
export type EngineErrorType = keyof typeof statusByType;

export class EngineError extends Error {
  readonly type: EngineErrorType;
  /** Fields beside `code`, `message` and `type`. */
  readonly details: Readonly<Record<string, number>>;

  constructor(type: EngineErrorType, message: string, details: Readonly<Record<string, number>> = {}) {
    super(message);
    this.name = 'EngineError';
    this.type = type;
    this.details = details;
  }

  get status(): number {
    return statusByType[this.type];
  }
}

/** 400: the client asked for something that can't be read or is not allowed. */
export function invalidRequest(message: string): EngineError {
  return new EngineError('invalid_request_error', message);
}

/** 400, in the words of llama-server's JSON library: `expected` and the given value's type. */
export function wrongType(expected: string, given: unknown, field?: string): EngineError {
  const type = given === null ? 'null' : Array.isArray(given) ? 'array' : typeof given;
  const where = field === undefined ? '' : `Field '${field}': `;
  return invalidRequest(`${where}[json.exception.type_error.302] type must be ${expected}, but is ${type}`);
}

/** `{"error": {"code", "message", "type", …details}}`, as reply body and as event of a stream that breaks. */
export function errorBody(error: EngineError): object {
  return { error: { code: error.status, message: error.message, type: error.type, ...error.details } };
}

export function toEngineError(thrown: unknown): EngineError {
  return thrown instanceof EngineError
    ? thrown
    : new EngineError('server_error', 'The demo engine failed on this request; this is a bug of Tokenweir.');
}
