/**
 * The shapes of a recording's members, one for each member of its types: a new fact about models needs a line here, or
 * the compiler says so. An optional one may be missing in files from before it; a required one makes those unreadable.
 */
import { isArray } from '../json/body-reader.ts';
import {
  byMember,
  flag,
  listOf,
  object,
  oneOf,
  optional,
  shape,
  text,
  wholeNumber,
  type Shape,
} from '../json/json-shape.ts';
import {
  ignoredEffects,
  templateOrigins,
  type AbsentMarker,
  type IgnoredField,
  type Marker,
  type ModelFacts,
  type PicturePlace,
  type RoleMarker,
  type Tail,
  type TemplateInputs,
  type TemplateReading,
} from '../model-facts.ts';
import type { Edit } from '../edits.ts';
import { referenceMakers, type Reference } from '../reference.ts';
import { replyShape } from './recorded-reply.ts';
import type { RecordedExchange, RecordedFacts, RecordingHeader } from './recording.ts';
import { maxTokenId } from '../request/raw-prompt.ts';
import { chatDialects, type Json } from '../request/request.ts';
import { routeKinds, type Route } from '../request/route.ts';
import {
  escapeStyles,
  jsonPlaces,
  letterCases,
  textPlaces,
  type JsonStyle,
  type SeenForm,
  type WrittenAs,
} from '../seen-form.ts';
import { cutParts, unknownReasons, type AddedIds } from '../token-read.ts';

type MembersOf<Type> = Readonly<Record<keyof Type, Shape>>;

/** One beyond would become another id where ids are kept in 32 bits. */
const tokenId = shape(
  `a token id, from 0 to ${maxTokenId}`,
  (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxTokenId,
);
const ids = listOf(tokenId);
const marker = object({
  text,
  id: wholeNumber,
  kind: optional(oneOf(['control', 'user-defined'])),
} satisfies MembersOf<Marker>);
const absentMarker = object({ text, tokens: wholeNumber } satisfies MembersOf<AbsentMarker>);
const tail = object({ text, ids } satisfies MembersOf<Tail>);
const roleMarker = object({ role: text, opening: text } satisfies MembersOf<RoleMarker>);
const ignoredField = object({
  name: text,
  path: listOf(text),
  routes: listOf(oneOf(routeKinds)),
  effect: oneOf(ignoredEffects),
  by: optional(oneOf(['template'])),
  instead: text,
} satisfies MembersOf<IgnoredField>);
const templateInputs = object({
  read: listOf(text),
  byEngine: listOf(text),
} satisfies MembersOf<TemplateInputs>);
const seenForm = object({
  places: listOf(oneOf(textPlaces)),
  characters: listOf(object({ given: text, written: text } satisfies MembersOf<WrittenAs>)),
  beyondAscii: optional(oneOf(escapeStyles)),
  controls: optional(oneOf(escapeStyles)),
  letters: optional(oneOf(letterCases)),
  normal: optional(oneOf(['NFC', 'NFKC'])),
  dropsTags: optional(flag),
  changesSpace: optional(flag),
  trims: oneOf(['nothing', 'start', 'end', 'both']),
} satisfies MembersOf<SeenForm>);
const jsonStyle = object({
  place: oneOf(jsonPlaces),
  comma: text,
  colon: text,
  sorted: flag,
  lines: flag,
  literals: oneOf(['json', 'python']),
} satisfies MembersOf<JsonStyle>);
const reading = object({
  dropped: listOf(text),
  droppedFields: listOf(text),
  mergesInstructions: flag,
  developerAsSystem: flag,
  reasoningMembers: listOf(text),
  writesNames: optional(flag),
  forms: optional(listOf(seenForm)),
  json: optional(listOf(jsonStyle)),
} satisfies MembersOf<TemplateReading>);
const byRoute = object({ chat: ids, completion: ids } satisfies MembersOf<ModelFacts['addedPrefix']>);

const modelFacts = object({
  modelName: text,
  identity: text,
  engine: text,
  build: text,
  modelPath: text,
  templateHash: text,
  templateFirstLine: text,
  templateOrigin: optional(oneOf(templateOrigins)),
  templateName: optional(text),
  templateArgument: optional(text),
  templateWritesDate: flag,
  templateInputs: optional(templateInputs),
  bos: optional(marker),
  templateWritesBos: optional(flag),
  ordinaryBos: optional(marker),
  eos: optional(marker),
  addedPrefix: byRoute,
  addedSuffix: byRoute,
  markers: listOf(marker),
  absentMarkers: optional(listOf(absentMarker)),
  generationPrompt: optional(tail),
  thinkTail: optional(tail),
  roleMarkers: listOf(roleMarker),
  turnEnds: optional(listOf(text)),
  userTurnEnd: optional(text),
  reading: optional(reading),
  ignoredFields: optional(listOf(ignoredField)),
  contextTokens: wholeNumber,
  contextArgument: optional(text),
  slots: wholeNumber,
  cacheBlockTokens: optional(wholeNumber),
  saltsCache: optional(flag),
  unreadAttribution: optional(listOf(oneOf(chatDialects))),
  mediaMarker: text,
  picturePlaces: optional(
    listOf(object({ text, perPicture: wholeNumber } satisfies MembersOf<PicturePlace>)),
  ),
} satisfies MembersOf<ModelFacts>);

const route = object({
  kind: oneOf(routeKinds),
  inspected: flag,
  dialect: oneOf(['openai', 'native', 'anthropic', 'responses']),
} satisfies MembersOf<Route>);

const edit = object({ start: wholeNumber, end: wholeNumber, replacement: text } satisfies MembersOf<Edit>);

const added = object({
  ids,
  by: oneOf(['request', 'route']),
  field: optional(text),
  without: optional(listOf(edit)),
} satisfies MembersOf<AddedIds>);

const prompt = byMember({
  ids: object({
    ids,
    source: oneOf(['engine', 'client']),
    text: optional(text),
    segments: optional(listOf(listOf(wholeNumber))),
    cut: optional(oneOf(cutParts)),
    added: optional(added),
  }),
  pseudonyms: object({ pseudonyms: listOf(text) }),
  unknown: object({ unknown: oneOf(unknownReasons), head: optional(ids) }),
});

const isIds = (value: Json | undefined): boolean => ids(value, '') === undefined;
export const referenceShape = object({
  by: oneOf(referenceMakers),
  ids: shape(
    'a list of token ids, or one such list per prompt',
    (value) => isIds(value) || (isArray(value) && value.every(isIds)),
  ),
} satisfies MembersOf<Reference>);

const date = shape(
  'a date such as "2026-03-01T12:00:00.000Z"',
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
);

const type = text;

export const recordingHeader = object({
  type,
  version: wholeNumber,
  writtenBy: text,
} satisfies MembersOf<RecordingHeader>);

export const recordedFacts = object({
  type,
  hash: text,
  facts: modelFacts,
} satisfies MembersOf<RecordedFacts>);

export const recordedExchange = object({
  type,
  id: text,
  date,
  route,
  build: text,
  facts: text,
  client: text,
  session: optional(text),
  body: optional(text),
  reference: optional(referenceShape),
  prompts: listOf(prompt),
  reply: optional(replyShape),
} satisfies MembersOf<RecordedExchange>);
