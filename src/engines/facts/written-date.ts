/** Whether a rendered prompt tells the day, as templates do that ask the clock. Pure. */

/** True if today's date stands in the text in one of the usual ways (the engine's clock may be a day off). */
export function holdsToday(text: string, now: Date): boolean {
  return [-1, 0, 1].some((days) => patternOf(new Date(now.getTime() + days * 86_400_000)).test(text));
}

/** `2026-12-01`, `01/12/2026`, `December 1, 2026` and the like; templates write them by strftime, whose `%d` pads. */
function patternOf(date: Date): RegExp {
  const year = date.getUTCFullYear();
  const long = date.toLocaleString('en-US', { month: 'long', timeZone: 'UTC' });
  const name = `(?:${long}|${long.slice(0, 3)})`;
  const monthNumber = paddable(date.getUTCMonth() + 1);
  const day = paddable(date.getUTCDate());
  const inWords = `${day} ${name},? ${year}|${name} ${day},? ${year}`;
  const inNumbers = `${year}-${monthNumber}-${day}|${day}[./]${monthNumber}[./]${year}|${monthNumber}/${day}/${year}`;
  // Of "21 December 2026" a part would read as the first of the month.
  return new RegExp(`(?<!\\d)(?:${inWords}|${inNumbers})(?!\\d)`, 'u');
}

function paddable(number: number): string {
  return number < 10 ? `0?${String(number)}` : String(number);
}
