/**
 * What the probes show about BOS: which marker it is, whether the template writes it, and whether what the engine puts
 * in front is a marker at all. Pure; asks nothing, and believes no default of a loader.
 */
import type { Marker } from '../../exchange/model-facts.ts';
import { markerCandidates } from '../../tokens/markers.ts';

export interface BosProbe {
  /** As the engine names it; '' if it names none. */
  readonly bosText: string;
  /** '' if the model has none; undefined if the engine does not show it. */
  readonly template: string | undefined;
  /** A rendered conversation; '' if the template refused all. */
  readonly rendered: string;
  /** True if the engine takes BOS off a rendered text wherever it adds one itself. */
  readonly hidesBos: boolean;
  readonly markers: readonly Marker[];
  /** What the raw route adds in front of a text. */
  readonly addedPrefix: readonly number[];
}

export interface BosFacts {
  readonly bos?: Marker;
  readonly templateWritesBos?: boolean;
  readonly ordinaryBos?: Marker;
}

export function bosFactsOf(probe: BosProbe): BosFacts {
  const { bosText, markers, addedPrefix } = probe;
  const templateWritesBos = writesBos(probe);
  const written = templateWritesBos === undefined ? {} : { templateWritesBos };
  const [added] = addedPrefix;
  const isOrdinary = bosText !== '' && templateWritesBos === false && !isSpelledAsMarker(bosText);
  if (added !== undefined && isOrdinary) {
    return { ...written, ordinaryBos: { text: bosText, id: added } };
  }
  // Metadata may name a BOS that neither the tokenizer adds nor the template writes (Qwen3: <|endoftext|>). To such a
  // model it is no BOS, and two of them are nobody's mistake.
  const named = markers.find((marker) => marker.text === bosText);
  const isUsed =
    named !== undefined && (addedPrefix.includes(named.id) || templateWritesBos === true || namesBos(probe));
  return { ...written, ...(isUsed && { bos: named }) };
}

/** Undefined without a template, or if it can't be told. */
function writesBos(probe: BosProbe): boolean | undefined {
  const { bosText, template, rendered, hidesBos, addedPrefix } = probe;
  if (template === '' || rendered === '') return undefined;
  if (bosText !== '' && rendered.startsWith(bosText)) return true;
  if (!hidesBos || addedPrefix.length === 0) return false;
  return template === undefined ? undefined : mentionsBos(probe);
}

/** A single character stands in any template; and the text alone may stand there as the end of a turn (Granite). */
function mentionsBos(probe: BosProbe): boolean {
  const { bosText, template = '' } = probe;
  return namesBos(probe) || (bosText.length > 1 && template.includes(bosText));
}

function namesBos({ template = '' }: BosProbe): boolean {
  return /\bbos_token\b/.test(template);
}

function isSpelledAsMarker(text: string): boolean {
  return markerCandidates(text, 1).size > 0;
}
