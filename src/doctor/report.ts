/** A diagnosis as text for a terminal. Everything that comes from the engine or a model file is escaped. */
import type { Severity } from '../exchange/finding.ts';
import type { Tail } from '../exchange/model-facts.ts';
import type { Advice, Diagnosis, ExplainedText, Observation, Serving, Untold } from './diagnosis.ts';
import { plainConversation } from './probes.ts';
import { clippedTo, wrappedTo } from '../report/display-width.ts';
import { labelled, lineWidth, type Paint, type Row, type Style } from '../report/layout.ts';
import { printable, quoted } from '../report/printable.ts';
import { tokenizationTable } from './tokenization-table.ts';
import { writtenRows } from './written-rows.ts';

/** @returns lines that end with a newline each. */
export function formatDiagnosis(diagnosis: Diagnosis, paint: Paint): string {
  const lines = diagnosis.known ? knownLines(diagnosis, paint) : silenceLines(diagnosis);
  return lines.map((line) => `${line}\n`).join('');
}

function silenceLines({ silence: { message, advice } }: Diagnosis & { known: false }): string[] {
  return [message, advice].flatMap((text) => wrappedTo(printable(text), lineWidth));
}

function knownLines(diagnosis: Diagnosis & { known: true }, paint: Paint): string[] {
  const { serving, advice, observed, untold, explained } = diagnosis;
  const section = (title: string, lines: readonly string[]): string[] => [paint('bold', title), ...lines, ''];
  return [
    ...section('Engine', labelled(engineRows(diagnosis.upstream, serving))),
    ...section('Template', labelled(templateRows(serving, isRefused(observed)))),
    ...section('BOS', labelled(bosRows(serving))),
    ...section('Markers', labelled(markerRows(serving))),
    ...(explained === undefined ? [] : section('Text', textLines(explained, serving))),
    ...section('What will go wrong, and for whom', adviceLines(advice, paint)),
    ...section('What becomes of what clients send', [
      ...adviceLines(observed.map(inWords), paint, untold === undefined ? none : undefined),
      ...(untold === undefined ? [] : untoldLines(untold)),
    ]),
    countsOf([...advice, ...observed.map(inWords)]),
  ];
}

function engineRows(upstream: string, { facts, trainedContextTokens }: Serving): Row[] {
  const { engine, build, modelName, modelPath, contextTokens, slots } = facts;
  const trained = trainedContextTokens > 0 ? `; the model was trained for ${trainedContextTokens}` : '';
  const size = contextTokens > 0 ? `${contextTokens} tokens` : 'not told';
  // An engine that batches as it goes has none.
  const context = slots === 0 ? size : `${size} per slot, ${slots} ${slots === 1 ? 'slot' : 'slots'}`;
  return [
    { label: 'address', value: upstream },
    { label: 'kind', value: `${engine}, build ${printable(build)}` },
    { label: 'model', value: printable(modelName) },
    { label: 'file', value: [printable(modelPath)] },
    { label: 'context', value: `${context}${trained}` },
  ];
}

/** True if the engine refused what the template's form is read off: of that form nothing was seen. */
function isRefused(observed: readonly Observation[]): boolean {
  return observed.some(({ id, sends }) => id === 'refused' && sends === plainConversation);
}

function templateRows({ facts }: Serving, refused: boolean): Row[] {
  const { templateHash, roleMarkers, turnEnds = [], generationPrompt, thinkTail } = facts;
  const seen = (nothing: string): string => (refused ? 'not seen: a plain conversation is refused' : nothing);
  const isHidden = facts.templateOrigin === undefined && roleMarkers.length > 0;
  if (templateHash === '' && !isHidden) return [{ label: 'template', value: 'none' }];
  return [
    ...(templateHash === ''
      ? [{ label: 'template', value: 'not shown by the engine; this is what it writes' }]
      : [
          { label: 'first line', value: [clippedTo(printable(facts.templateFirstLine), lineWidth - 21)] },
          { label: 'hash', value: templateHash },
        ]),
    { label: 'date', value: facts.templateWritesDate ? "writes today's date" : seen('writes none') },
    ...(roleMarkers.length === 0 ? [{ label: 'roles', value: seen('no markers in front of them') }] : []),
    ...roleMarkers.map(({ role, opening }) => ({ label: role, value: [printable(opening)] })),
    ...turnEnds.map((end) => ({ label: 'turn end', value: [printable(end)] })),
    { label: 'generation prompt', value: tailValue(generationPrompt, seen('none')) },
    { label: 'think tail', value: tailValue(thinkTail, seen('none: thinking off adds nothing')) },
    ...writtenRows(facts.reading),
  ];
}

function tailValue(tail: Tail | undefined, absent: string): string | readonly string[] {
  if (tail === undefined) return absent;
  const { ids, text } = tail;
  return [printable(text), `${ids.length} ${ids.length === 1 ? 'token' : 'tokens'}:`, ids.join(' ')];
}

function bosRows({ facts, routes, chatBosTokens }: Serving): Row[] {
  const { bos, eos, addedPrefix, addedSuffix, markers } = facts;
  const nameOf = (id: number): string => {
    const known = [bos, eos, ...markers].find((marker) => marker?.id === id);
    return known === undefined ? `id ${id}` : `${printable(known.text)} (id ${id})`;
  };
  const added = (ids: readonly number[]): string => ids.map(nameOf).join(' ');
  const { completion: prefix } = addedPrefix;
  const { completion: suffix } = addedSuffix;
  const chat =
    bos === undefined || chatBosTokens === 0
      ? 'none'
      : chatBosTokens === undefined
        ? 'not known: the engine did not render a conversation'
        : `starts with ${Array.from({ length: chatBosTokens }, () => nameOf(bos.id)).join(' ')}`;
  return [
    ...routes.chat.map((path) => ({ label: path, value: chat })),
    ...routes.text.map((path) => ({
      label: path,
      value:
        (prefix.length === 0 ? 'none added to text' : `${added(prefix)} added in front of text`) +
        (suffix.length === 0 ? '' : `, ${added(suffix)} at its end`),
    })),
    { label: 'token ids', value: 'nothing added, on any route' },
  ];
}

function markerRows({ facts: { markers } }: Serving): Row[] {
  const byId = markers.toSorted((a, b) => a.id - b.id);
  return [
    {
      label: String(byId.length),
      value: byId.length === 0 ? 'none found' : byId.map(({ id, text }) => `${id} ${printable(text)}`),
    },
  ];
}

function textLines({ text, views }: ExplainedText, { facts }: Serving): string[] {
  const shown = `  ${clippedTo(quoted(text), lineWidth - 2)}`;
  if (typeof views === 'string') return [shown, `  could not be tokenized (${views})`];
  return [shown, '', ...tokenizationTable(views, facts.markers)];
}

const styles: Readonly<Record<Severity, Style>> = { error: 'red', warning: 'yellow', info: 'cyan' };

/** Said of a section without lines. */
const none = '  Nothing of what was tried is dropped, merged or read over.';

function untoldLines({ requests, of, silence: { message, advice } }: Untold): string[] {
  const text = `Not known of ${requests} of ${of} requests that were tried. ${message} ${advice}`;
  return wrappedTo(printable(text), lineWidth - 2).map((line) => `  ${line}`);
}

function inWords({ id, severity, sends, message, advice }: Observation): Told {
  // A field that is named already need not be named twice.
  return { id, severity, message: message.includes(sends) ? message : `With ${sends}: ${message}`, advice };
}

type Told = Omit<Advice, 'id'> & { readonly id: string };

function adviceLines(advice: readonly Told[], paint: Paint, otherwise?: string): string[] {
  const width = lineWidth - 11;
  if (advice.length === 0 && otherwise !== undefined) return [otherwise];
  return advice.flatMap(({ id, severity, message, advice: remedy }) => [
    `  ${paint(styles[severity], severity.padEnd(7))}  ${paint('bold', id)}`,
    ...wrappedTo(printable(message), width).map((line) => `           ${line}`),
    ...wrappedTo(printable(remedy), width - 2).map(
      (line, index) => `           ${index === 0 ? '→ ' : '  '}${line}`,
    ),
  ]);
}

function countsOf(advice: readonly Told[]): string {
  const counted = (severity: Severity, one: string, many: string): string => {
    const count = advice.filter((item) => item.severity === severity).length;
    return `${count} ${count === 1 ? one : many}`;
  };
  return `${counted('error', 'error', 'errors')}, ${counted('warning', 'warning', 'warnings')}, ${counted('info', 'note', 'notes')}`;
}
