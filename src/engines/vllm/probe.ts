/**
 * Model facts of a vLLM by probing. It has no endpoint for a rendered text: the ids of a probe conversation are turned
 * back into text, and that text is believed only if it has exactly these ids.
 */
import type { Marker, ModelFacts, PicturePlace } from '../../exchange/model-facts.ts';
import { proveBoundaries } from '../../tokens/boundary-proof.ts';
import { markerCandidates } from '../../tokens/markers.ts';

import type { AskContext } from '../engine.ts';
import { probeFacts, type ProbedFacts } from '../facts/facts-probe.ts';
import { templateFacts } from '../template-facts.ts';
import { tokenizeSeparated, type TokenizeOne } from '../joined-tokenization.ts';
import { isRefusal } from '../oracle/oracle-failure.ts';
import { picturePlaces } from './picture-places.ts';
import { vllmIgnoredFields } from './ignored-fields.ts';
import type { VllmOracle, VllmTokenizerInfo } from './oracle.ts';
import type { VllmIdentity } from './signature.ts';

/** Bounds the calls for a vocabulary in which nothing is a boundary. */
const mostSeparatorsTried = 6;
const mostListedTexts = 64;

export async function probeVllm(
  oracle: VllmOracle,
  identity: VllmIdentity,
  context: AskContext,
): Promise<ModelFacts> {
  const { model, signature, version, contextTokens } = identity;
  const [{ facts, template, isMissing, places }, { cacheBlockTokens }] = await Promise.all([
    probeModel(oracle, model.name, context),
    oracle.metrics(context),
  ]);
  const { addedPrefix, addedSuffix, ...rest } = facts;
  return {
    ...rest,
    ...templateFacts(template),
    ...(isMissing && { templateOrigin: 'none' as const }),
    modelName: model.name,
    identity: signature,
    engine: 'vllm',
    build: version,
    modelPath: model.root,
    addedPrefix: { chat: [], completion: addedPrefix },
    addedSuffix: { chat: [], completion: addedSuffix },
    contextTokens,
    contextArgument: '--max-model-len N',
    slots: 0,
    templateArgument: '--chat-template FILE',
    mediaMarker: '',
    ...(places.length > 0 && { picturePlaces: places }),
    saltsCache: true,
    ignoredFields: vllmIgnoredFields,
    ...(cacheBlockTokens === undefined ? {} : { cacheBlockTokens }),
  };
}

/** The template is undefined if the server does not show it. */
async function probeModel(
  oracle: VllmOracle,
  model: string,
  context: AskContext,
): Promise<{
  facts: ProbedFacts;
  template: string | undefined;
  isMissing: boolean;
  places: readonly PicturePlace[];
}> {
  const tokenize: TokenizeOne = async (text) => (await oracle.tokenize(text, false, model, context)).ids;
  const tokenizePrompt: TokenizeOne = async (text) => (await oracle.tokenize(text, true, model, context)).ids;
  const render = (body: object): Promise<string | undefined> =>
    renderedText(oracle, JSON.stringify({ ...body, model }), model, context);
  const info = await oracle.tokenizerInfo(context);
  const rendered = await render({ messages: [{ role: 'user', content: 'weir' }] });
  const isMissing = rendered === undefined && (await oracle.lacksTemplate(model, context));
  const places = await picturePlaces(oracle, model, rendered, context);
  const separator = await findSeparator(rendered, tokenize);
  const input = {
    template: info?.template,
    bosText: await bosTextOf(info, await tokenizePrompt(''), (ids) => oracle.detokenize(ids, model, context)),
    eosText: info?.eosText ?? '',
    hidesBos: false,
    tokenTexts: [...places.map(({ text }) => text), ...(info?.addedTexts.slice(0, mostListedTexts) ?? [])],
  };
  const facts = await probeFacts(input, {
    tokenizeMany: (texts) => tokenizeSeparated(texts, separator, tokenize),
    tokenizePrompt,
    render,
  });
  return { facts, template: info?.template, isMissing, places };
}

/** A marker proven with one call per text: with it the other proofs take few. */
async function findSeparator(
  rendered: string | undefined,
  tokenize: TokenizeOne,
): Promise<Marker | undefined> {
  for (const candidate of markerCandidates(rendered ?? '', mostSeparatorsTried)) {
    const [proven] = await proveBoundaries([candidate], (texts) => Promise.all(texts.map(tokenize)));
    if (proven !== undefined) return proven;
  }
  return undefined;
}

async function bosTextOf(
  info: VllmTokenizerInfo | undefined,
  added: Uint32Array,
  detokenize: (ids: readonly number[]) => Promise<string>,
): Promise<string> {
  if (info !== undefined && info.bosText !== '') return info.bosText;
  const [first] = added;
  return first === undefined ? '' : detokenize([first]);
}

/** Undefined if the template refuses the body, or if the ids can't be turned back into a text with these ids. */
async function renderedText(
  oracle: VllmOracle,
  body: string,
  model: string,
  context: AskContext,
): Promise<string | undefined> {
  try {
    const { ids } = await oracle.tokenizeBody(body, context);
    const text = await oracle.detokenize([...ids], model, context);
    const back = await oracle.tokenize(text, false, model, context);
    return String(back.ids) === String(ids) ? text : undefined;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}
