/** How a template was seen to write texts and JSON, in a line for each way. Pure. */
import type { TemplateReading } from '../exchange/model-facts.ts';
import type { EscapeStyle, JsonStyle, SeenForm } from '../exchange/seen-form.ts';
import type { Row } from '../report/layout.ts';
import { quoted } from '../report/printable.ts';

export function writtenRows(reading: TemplateReading | undefined): Row[] {
  const { forms = [], json = [] } = reading ?? {};
  if (forms.length === 0) return [{ label: 'texts', value: 'not seen: the template refused to be tried' }];
  const texts = forms.map((form) => `${formInWords(form)}: ${form.places.join(', ')}`);
  const values = json.map((style) => `${style.place}: ${styleInWords(style)}`);
  return [...rowsOf('texts', texts), ...rowsOf('JSON', values)];
}

function rowsOf(label: string, values: readonly string[]): Row[] {
  return values.map((value, index) => ({ label: index === 0 ? label : '', value }));
}

const mostCharacters = 4;

function formInWords(form: SeenForm): string {
  const { characters, beyondAscii, controls, letters, normal, dropsTags, changesSpace, trims } = form;
  const isJson = jsonEscapes.every((given) =>
    characters.some((one) => one.given === given && one.written === JSON.stringify(given).slice(1, -1)),
  );
  const others = isJson ? characters.filter(({ given }) => !jsonOnes.has(given)) : characters;
  const listed = others
    .slice(0, mostCharacters)
    .map(({ given, written }) =>
      written === '' ? `without ${quoted(given)}` : `${quoted(given)} as ${quoted(written)}`,
    );
  const words = [
    ...(isJson ? ['as JSON strings'] : []),
    ...listed,
    ...(others.length > mostCharacters
      ? [`${others.length - mostCharacters} more characters as others`]
      : []),
    ...(beyondAscii === undefined ? [] : [`beyond ASCII ${styles[beyondAscii]}`]),
    ...(controls === undefined || isJson ? [] : [`control characters ${styles[controls]}`]),
    ...(letters === undefined ? [] : [letters.startsWith('upper') ? 'in capitals' : 'in small letters']),
    ...(normal === undefined ? [] : [`as ${normal}`]),
    ...(dropsTags === true ? ['without tags'] : []),
    ...(changesSpace === true ? ['with other white space inside'] : []),
  ];
  const ends = trims === 'nothing' ? [] : [trims === 'both' ? 'trimmed' : `trimmed at the ${trims}`];
  return [...(words.length === 0 && ends.length === 0 ? ['as they are'] : words), ...ends].join('; ');
}

const jsonEscapes = ['"', '\\', '\n', '\t'];
const jsonOnes = new Set([...jsonEscapes, '\r', '\r\n', '\b', '\f']);

const styles: Readonly<Record<EscapeStyle, string>> = {
  json: String.raw`as \u00e9`,
  'json-upper': String.raw`as \u00E9`,
  python: String.raw`as \xe9`,
  decimal: 'as &#233;',
  hexadecimal: 'as &#xe9;',
  dropped: 'left out',
};

function styleInWords({ comma, colon, sorted, lines, literals }: JsonStyle): string {
  return [
    ...(literals === 'python' ? ['as Python writes it'] : []),
    lines ? 'each member on a line' : `${quoted(comma)} and ${quoted(colon)}`,
    ...(sorted ? ['members sorted'] : []),
  ].join('; ');
}
