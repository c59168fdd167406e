/** How a JSON path is written for people: `messages[0].content`. */
import type { JsonPath } from '../request/request.ts';

export function formatPath(path: JsonPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}
