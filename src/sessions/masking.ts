/**
 * Masks what a clock or a calendar writes, so that two lines that differ in nothing else become equal. A mask that is
 * too wide can only give a change that was seen anyway a wrong name, so ambiguous words are masked where a digit stands
 * beside them. Every pattern is linear in the line's length.
 */

/** 10:00, 10:00:01, 10:00:01.123, 9:05 PM, and the time of 2026-09-01T10:00:01.5+02:00. */
const timeOfDay =
  /T?(?<!\d)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?[AaPp]\.?[Mm]\b\.?)?(?:Z\b|[+-]\d{2}:?\d{2}\b)?/g;
/** 10h05, 10 h 05; 10时05分01秒, 10時5分, 10点, 10시 5분. */
const spelledTime =
  /(?<!\d)\d{1,2}(?: ?h ?\d{2}(?!\d)|[时時点點시](?: ?\d{1,2}[分분])?(?: ?\d{1,2}[秒초])?)/g;

/** Unix seconds, with or without milliseconds, of the years 2017 to 2033. */
const epoch = /(?<![\d.])1[5-9]\d{8}(?:\d{3})?(?:\.\d{1,9})?(?!\d)/g;
const namesTime = /time|clock|epoch|unix|now\b|date|\bts\b/i;

/** In whose languages dates are known. */
const locales = [
  'en',
  'de',
  'fr',
  'es',
  'pt',
  'it',
  'nl',
  'pl',
  'ru',
  'uk',
  'tr',
  'sv',
  'cs',
  'ja',
  'zh',
  'ko',
];

/** Names as the calendar of each language has them; a dot at the end of a short one may be left out. */
function namesOf(options: Intl.DateTimeFormatOptions, days: readonly number[]): string {
  const names = locales.flatMap((locale) => {
    const written = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
    return days.flatMap((at) =>
      written
        .formatToParts(at)
        .filter(({ type }) => type === 'month' || type === 'weekday')
        .map(({ value }) => value.replace(/\.$/, ''))
        // Chinese and Japanese write a number, which the patterns of dates know.
        .filter((name) => /^\p{L}/u.test(name)),
    );
  });
  return [...new Set(names)].toSorted((a, b) => b.length - a.length).join('|');
}

const day = 86_400_000;
const months = Array.from({ length: 12 }, (_, index) => Date.UTC(2026, index, 15));
const week = Array.from({ length: 7 }, (_, index) => Date.UTC(2026, 0, 4) + index * day);
// With a day beside it a month stands in the case that dates have.
const month = `(?:${[
  namesOf({ month: 'long', day: 'numeric' }, months),
  namesOf({ month: 'long' }, months),
  namesOf({ month: 'short' }, months),
  'Sept',
].join('|')})`;
const weekday = `(?:${namesOf({ weekday: 'long' }, week)}|Mon|Tue|Wed|Thu|Fri|Sat|Sun)`;
const ordinal = '\\d{1,2}(?:st|nd|rd|th|er|\\.|º|ª)?';
const of = '(?: of| de)?';
const notInWord = '(?![\\p{L}\\p{N}])';

const dates: readonly RegExp[] = [
  // 2026-09-01, 2026/9/1, 2026.09.01
  /(?<!\d)\d{4}([-/.])\d{1,2}\1\d{1,2}(?!\d)/g,
  // 01.09.2026, 9/1/26; not a version like 2.1.36
  /(?<!\d)\d{1,2}(?:([-/.])\d{1,2}\1\d{4}|\/\d{1,2}\/\d{2})(?!\d)/g,
  // 2026年9月1日, 9月1日, 2026년 9월 1일
  /(?:(?<!\d)\d{4}[年년] ?)?(?<!\d)\d{1,2}[月월] ?\d{1,2}[日号號일]/g,
  // 1 Sep 2026, 1st of September, 1. September 2026, 1er septembre, 1 de setembro de 2026
  new RegExp(`(?<!\\d)${ordinal}${of} ${month}${notInWord}\\.?(?:,?${of} \\d{4}\\b)?`, 'giu'),
  // September 1, Sep 1st, 2026; September 2026, setembro de 2026
  new RegExp(
    `(?<![\\p{L}])${month}\\.? (?:(?:de )?\\d{4}\\b|${ordinal}${notInWord}(?:,? \\d{4}\\b)?)`,
    'giu',
  ),
  new RegExp(`(?<![\\p{L}])${weekday}${notInWord}`, 'gu'),
  /(?:周|週|星期|礼拜)[一二三四五六日天]|[日月火水木金土]曜日?|[월화수목금토일]요일/g,
];

/** The line with times of day and Unix times masked; the same string if it has none. */
export function maskTimes(line: string): string {
  if (!/\d/.test(line)) return line;
  const masked = line.replace(timeOfDay, '\u0000t').replace(spelledTime, '\u0000t');
  return namesTime.test(masked) ? masked.replace(epoch, '\u0000t') : masked;
}

/** The line with dates masked, weekdays included; the same string if it has none. */
export function maskDates(line: string): string {
  return dates.reduce((text, pattern) => text.replace(pattern, '\u0000d'), line);
}
