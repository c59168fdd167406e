// Reads plain exposition text into samples, so that tests assert on what a scraper sees.
import type { Metrics } from '../../src/metrics/meter.ts';

/** Value by series as written, e.g. `tokenweir_sessions` or `tokenweir_replies_total{model_name="m",…}`. */
export type Samples = ReadonlyMap<string, number>;

export async function scraped(metrics: Metrics): Promise<Samples> {
  return samplesOf(await metrics.scrape('text'));
}

export function samplesOf(text: string): Samples {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const space = line.lastIndexOf(' ');
    samples.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return samples;
}

/** The series of one metric that are above 0, without the prefix. */
export function moved(samples: Samples, metric: string): Record<string, number> {
  return Object.fromEntries(
    [...samples]
      .map(([series, value]): [string, number] => [series.replace(/^tokenweir_/, ''), value])
      .filter(([series, value]) => value > 0 && (series === metric || series.startsWith(`${metric}{`))),
  );
}
