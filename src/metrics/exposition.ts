/**
 * The two text forms of one scrape. Plain text is made from OpenMetrics text, because prom-client keeps exemplars only
 * on OpenMetrics registries and renames the counters of a registry for good when it is read in that form.
 */

export type ExpositionForm = 'openmetrics' | 'text';

export const contentTypes: Readonly<Record<ExpositionForm, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  text: 'text/plain; version=0.0.4; charset=utf-8',
};

/**
 * OpenMetrics only where the Accept header names it, and prefers it to plain text or is indifferent. A wildcard is no
 * request for it: browsers and curl get plain text.
 */
export function negotiateForm(accept: string | undefined): ExpositionForm {
  let openMetrics = 0;
  let text = 0;
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = qualityOf(parameters);
    if (type === 'application/openmetrics-text') openMetrics = Math.max(openMetrics, quality);
    if (type === 'text/plain') text = Math.max(text, quality);
  }
  return openMetrics > 0 && openMetrics >= text ? 'openmetrics' : 'text';
}

function qualityOf(parameters: readonly string[]): number {
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  if (quality === undefined) return 1;
  const value = Number(quality.slice('q='.length));
  return Number.isFinite(value) ? value : 0;
}

/** An exemplar ends its line with two numbers; label values may look like one, but end with `"}` and one number. */
const exemplarAtEnd = / # \{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\} [-+.\w]+ [-+.\w]+$/;

/** OpenMetrics text in the plain form: counter families carry `_total`, exemplars and the end mark are gone. */
export function plainText(openMetrics: string): string {
  const lines = openMetrics.split('\n');
  const counters = new Set<string>();
  for (const line of lines) {
    const name = /^# TYPE (\S+) counter$/.exec(line)?.[1];
    if (name !== undefined) counters.add(name);
  }
  const plain: string[] = [];
  for (const line of lines) {
    if (line === '# EOF' || line === '') continue;
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (comment) {
      const [, word = '', name = '', rest = ''] = comment;
      plain.push(`# ${word} ${counters.has(name) ? `${name}_total` : name} ${rest}`);
    } else {
      plain.push(line.replace(exemplarAtEnd, ''));
    }
  }
  return `${plain.join('\n')}\n`;
}
