/**
 * Masks what a clock or a calendar writes, so that two lines that differ in nothing else become equal. A mask that is
 * too wide can only give a change that was seen anyway a wrong name, so ambiguous words are masked where a digit stands
 * beside them. Every pattern is linear in the line's length.
 */

/** 10:00, 10:00:01, 10:00:01.123, 9:05 PM, and the time of 2026-09-01T10:00:01.5+02:00. */
const timeOfDay =
  /T?(?<!\d)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?[AaPp]\.?[Mm]\b\.?)?(?:Z\b|[+-]\d{2}:?\d{2}\b)?/g;

/** Unix seconds, with or without milliseconds, of the years 2017 to 2033. */
const epoch = /(?<![\d.])1[5-9]\d{8}(?:\d{3})?(?:\.\d{1,9})?(?!\d)/g;
const namesTime = /time|clock|epoch|unix|now\b|date|\bts\b/i;

const month =
  '(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)';
const ordinal = '\\d{1,2}(?:st|nd|rd|th)?';

const dates: readonly RegExp[] = [
  // 2026-09-01, 2026/9/1, 2026.09.01
  /(?<!\d)\d{4}([-/.])\d{1,2}\1\d{1,2}(?!\d)/g,
  // 01.09.2026, 9/1/26; not a version like 2.1.36
  /(?<!\d)\d{1,2}(?:([-/.])\d{1,2}\1\d{4}|\/\d{1,2}\/\d{2})(?!\d)/g,
  // 1 Sep 2026, 1st of September
  new RegExp(`(?<!\\d)${ordinal}(?: of)? ${month}\\b\\.?(?:,? \\d{4}\\b)?`, 'gi'),
  // September 1, Sep 1st, 2026; September 2026
  new RegExp(`\\b${month}\\.? (?:\\d{4}\\b|${ordinal}\\b(?:,? \\d{4}\\b)?)`, 'gi'),
  /\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b/g,
];

/** The line with times of day and Unix times masked; the same string if it has none. */
export function maskTimes(line: string): string {
  if (!/\d/.test(line)) return line;
  const masked = line.replace(timeOfDay, '\u0000t');
  return namesTime.test(masked) ? masked.replace(epoch, '\u0000t') : masked;
}

/** The line with dates masked, weekdays included; the same string if it has none. */
export function maskDates(line: string): string {
  return dates.reduce((text, pattern) => text.replace(pattern, '\u0000d'), line);
}
