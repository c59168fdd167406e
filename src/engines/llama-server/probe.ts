/** Model facts of a llama-server: what `/props` says of it, and what probing its other endpoints shows. */
import { fingerprint } from '../../exchange/fingerprint.ts';
import type { ModelFacts } from '../../exchange/model-facts.ts';

import type { AskContext } from '../engine.ts';
import { templateInputs } from '../facts/template-inputs.ts';
import { probeFacts } from '../facts/facts-probe.ts';
import { templateFacts } from '../template-facts.ts';
import { llamaIgnoredFields } from './ignored-fields.ts';
import type { LlamaOracle } from './oracle.ts';
import type { LlamaProps } from './props.ts';
import { llamaTemplateOrigin } from './template-origin.ts';
import { isRefusal } from '../oracle/oracle-failure.ts';

/** While it stays the same, facts hold. */
export function signatureOf(props: LlamaProps): string {
  const { mediaMarker, modelPath, build, template, bosText, eosText, contextTokens } = props;
  return fingerprint(
    JSON.stringify([mediaMarker, modelPath, build, template, bosText, eosText, contextTokens]),
  );
}

/** @param routed the model to name in router mode */
export async function probeLlama(
  oracle: LlamaOracle,
  props: LlamaProps,
  routed: string | undefined,
  context: AskContext,
): Promise<ModelFacts> {
  await oracle.checkSeparator(routed, context);
  const input = { ...props, hidesBos: true };
  const probed = await probeFacts(input, {
    tokenizeMany: (texts) => oracle.tokenizeMany(texts, routed, context),
    tokenizeOrdinary: (texts) => oracle.tokenizeMany(texts, routed, context, false),
    tokenizePrompt: (text) => oracle.tokenizePrompt(text, routed, context),
    controlTexts: (text) => oracle.controlTexts(text, routed, context),
    render: async (body) => {
      const named = routed === undefined ? body : { ...body, model: routed };
      try {
        return await oracle.render(JSON.stringify(named), routed !== undefined, context);
      } catch (error) {
        // The template may refuse a probe (raise_exception); that is a fact too.
        if (isRefusal(error)) return undefined;
        throw error;
      }
    },
  });
  const { addedPrefix, addedSuffix, ...rest } = probed;
  const read = templateInputs(props.template);
  return {
    ...rest,
    ...templateFacts(props.template),
    ...llamaTemplateOrigin(props.template, probed),
    ...(read !== undefined && { templateInputs: { read, byEngine: llamaReads } }),
    modelName: routed ?? props.modelAlias,
    identity: signatureOf(props),
    engine: 'llama-server',
    build: props.build,
    modelPath: props.modelPath,
    addedPrefix: { chat: addedPrefix, completion: addedPrefix },
    addedSuffix: { chat: addedSuffix, completion: addedSuffix },
    ignoredFields: llamaIgnoredFields,
    contextTokens: props.contextTokens,
    contextArgument: '--ctx-size N',
    slots: props.slots,
    templateArgument: '--chat-template-file FILE',
    mediaMarker: props.mediaMarker,
  };
}

/**
 * llama.cpp's oaicompat_chat_params_parse and common_chat_template_direct_apply: the first is a switch for every template, the
 * others are given on by all names that families have for them.
 */
const llamaReads: readonly string[] = ['enable_thinking', 'preserve_reasoning', 'reasoning_effort'];
