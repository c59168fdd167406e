/**
 * The process's one logger: JSON lines with the level as a word and the time as ISO 8601. There is no line per request,
 * and nothing here ever sees a body; secrets that slip into fields are cut out.
 */
import { pino, type DestinationStream, type Level, type Logger } from 'pino';

export type LogLevel = Level | 'silent';
export type { Logger };

/** Field names whose values are secrets, at the top of a line, one or two levels below. */
const secretFields = ['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'apiKey', 'token'];

export interface LoggerOptions {
  /** Least severe lines to write (`log.level`). */
  readonly level: LogLevel;
  /** Where lines go. @defaultValue standard output */
  readonly destination?: DestinationStream;
}

export function createLogger({ level, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: secretFields.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]),
      censor: '[redacted]',
    },
  };
  return destination ? pino(options, destination) : pino(options);
}
