/** Whether a rendered prompt tells the day, as templates do that ask the clock. Pure. */

/** True if today's date stands in the text in one of the usual ways (the engine's clock may be a day off). */
export function holdsToday(text: string, now: Date): boolean {
  return [-1, 0, 1].some((days) => {
    const date = new Date(now.getTime() + days * 86_400_000);
    const iso = date.toISOString().slice(0, 10);
    const day = date.getUTCDate();
    const year = date.getUTCFullYear();
    const month = date.toLocaleString('en-US', { month: 'long', timeZone: 'UTC' });
    const short = month.slice(0, 3);
    const padded = String(day).padStart(2, '0');
    return [iso, `${padded} ${short} ${year}`, `${short} ${padded} ${year}`, `${month} ${day}, ${year}`].some(
      (written) => text.includes(written),
    );
  });
}
