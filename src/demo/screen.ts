// What the first look prints, as text: each step with what was sent and what came back, the summary, and what the reader
// can do next. Pure; says at every turn that no model runs.
import { flowed, type Paint } from '../report/layout.ts';
import { quoted } from '../report/printable.ts';
import { clippedTo, wrappedTo } from '../report/display-width.ts';
import { reportFinding } from '../report/finding-report.ts';
import { isObject } from './body.ts';
import type { StepResult } from './first-look.ts';
import type { DemoStep } from './script.ts';

export interface ScreenOptions {
  /** Columns of the longest line. */
  readonly columns: number;
  readonly paint: Paint;
}

export interface DemoAddresses {
  readonly proxyUrl: string;
  readonly adminUrl: string;
}

const indent = '  ';
/** Columns of a message that are shown of it. */
const mostOfMessage = 32;

export function openingText({ columns, paint }: ScreenOptions): string {
  const opening = wrappedTo(
    'Tokenweir demo: no model runs here. A built-in demo engine answers every request with the same text, written in ' +
      'advance, at a simulated pace. Real are the tokenizer, the chat template, the token counts and the reuse of ' +
      'prefixes, and the proxy in front of it: what it finds, it finds in these tokens.',
    columns,
  );
  return lines([...opening.map((line) => paint('bold', line)), '']);
}

/** One step of the script; `number` counts from 1. */
export function stepText(result: StepResult, number: number, of: number, options: ScreenOptions): string {
  const { columns, paint } = options;
  const { step, status, verdict, counts, findings } = result;
  const inner = columns - indent.length - 2;
  const marked = (mark: string, texts: readonly string[]): string[] =>
    texts.map((text) => `${indent}${paint('dim', mark)} ${text}`);
  const title = wrappedTo(`${number}/${of} ${step.title}`, columns);
  const headers = Object.entries(verdict).map(([name, value]) => `${name}: ${value}`);
  const reply = flowed([String(status), ...headers], inner);
  const prompt =
    counts === undefined
      ? []
      : [`${counts.promptTokens} prompt tokens, ${counts.cachedTokens} of them cached`];
  const heading = lines([
    ...title.map((line) => paint('bold', line)),
    ...marked('>', [`POST ${step.path}`, clippedTo(bodyText(step), inner)]),
    ...marked('<', [...reply, ...prompt]),
    '',
  ]);
  const reports = findings.map((record) => {
    const rate = counts?.prefillTokensPerSecond;
    return reportFinding(record, { ...options, ...(rate !== undefined && { prefillTokensPerSecond: rate }) });
  });
  const missing = result.asExpected ? '' : `${paint('red', unexpectedText(result))}\n`;
  return [heading, ...reports.map((report) => `${report}\n`), missing].join('');
}

function unexpectedText({ step: { expects } }: StepResult): string {
  if (expects === undefined) return 'This step should have had no finding.\n';
  const name = [expects.kind, expects.cause].filter((part) => part !== undefined).join(';');
  return `The finding that this step is there to show did not come: ${name}.\n`;
}

/** Of the body what matters to the prompt; of a long conversation its first message and its last. */
function bodyText({ body }: DemoStep): string {
  const { prompt, messages, tools, chat_template_kwargs: template } = body;
  const parts: string[] = [];
  if (typeof prompt === 'string') parts.push(`prompt ${quoted(prompt)}`);
  if (Array.isArray(tools)) parts.push(`tools ${tools.map(toolName).join(', ')}`);
  if (isObject(template)) {
    parts.push(...Object.entries(template).map(([name, value]) => `${name} ${String(value)}`));
  }
  if (Array.isArray(messages)) {
    const shown = messages.map(messageText);
    const between = shown.length > 2 ? [`${shown.length - 2} more`] : [];
    parts.push(...shown.slice(0, 1), ...between, ...shown.slice(1).slice(-1));
  }
  return parts.join('; ');
}

function toolName(tool: unknown): string {
  const called = isObject(tool) ? tool['function'] : undefined;
  return isObject(called) ? String(called['name']) : '?';
}

function messageText(message: unknown): string {
  if (!isObject(message)) return '?';
  return `${String(message['role'])} ${quoted(clippedTo(String(message['content']), mostOfMessage))}`;
}

export function summaryText(
  results: readonly StepResult[],
  countChecks: Readonly<Record<string, number>>,
  { columns, paint }: ScreenOptions,
): string {
  const findings = results.flatMap((result) => result.findings);
  const kinds = new Map<string, number>();
  for (const { kind } of findings) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const breaks = findings.filter(({ lostTokens }) => lostTokens !== undefined);
  const lost = breaks.reduce((sum, { lostTokens = 0 }) => sum + lostTokens, 0);
  const prompt = sumOf(results, 'promptTokens');
  const others = Object.entries(countChecks).filter(([result, value]) => result !== 'match' && value > 0);
  const rows: [string, string][] = [
    ['requests', `${results.length}, all to the demo engine: no model ran`],
    ['findings', `${findings.length}: ${[...kinds].map(([kind, value]) => `${value} ${kind}`).join(', ')}`],
    [
      'prompt tokens',
      `${prompt}, ${sumOf(results, 'cachedTokens')} of them cached, ${lost} lost in ${breaks.length} breaks`,
    ],
    [
      'count checks',
      `${countChecks['match'] ?? 0} match` +
        (others.length === 0
          ? ": the proxy's token counts are the engine's"
          : `, ${others.map(([result, value]) => `${value} ${result}`).join(', ')}`),
    ],
  ];
  return lines([paint('bold', 'Summary'), ...table(rows, columns, paint), '']);
}

function sumOf(results: readonly StepResult[], count: 'promptTokens' | 'cachedTokens'): number {
  return results.reduce((sum, { counts }) => sum + (counts?.[count] ?? 0), 0);
}

const doubledBos = String.raw`{"prompt": "<bos><|turn|>user\nHi<|end|>\n<|turn|>assistant\n"}`;
const bareQuestion = '{"prompt": "What does a weir do?"}';

export function standByText(
  { proxyUrl, adminUrl }: DemoAddresses,
  { columns, paint }: ScreenOptions,
): string {
  const curl = (body: string): string => `curl -si ${proxyUrl}/completion -d '${body}'`;
  return lines([
    paint('bold', 'The demo stays up until Ctrl-C, and prints what it finds in your own requests'),
    ...table(
      [
        ['proxy', `${proxyUrl} (behind it the demo engine, no model)`],
        ['inspector', `${adminUrl}/`],
        ['metrics', `${adminUrl}/metrics`],
      ],
      columns,
      paint,
    ),
    '',
    'Paste one of these into another terminal:',
    '',
    // Not wrapped: a line to paste must stay one line.
    curl(doubledBos),
    curl(bareQuestion),
    '',
    ...wrappedTo(
      'To put it in front of your own server: npx tokenweir serve --upstream http://127.0.0.1:8080',
      columns,
    ),
    '',
  ]);
}

function table(rows: readonly (readonly [string, string])[], columns: number, paint: Paint): string[] {
  const labelWidth = Math.max(...rows.map(([label]) => label.length));
  return rows.flatMap(([label, value]) =>
    wrappedTo(value, columns - indent.length - labelWidth - 2).map(
      (line, index) => `${indent}${paint('dim', (index === 0 ? label : '').padEnd(labelWidth))}  ${line}`,
    ),
  );
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
