/** The list of all detectors, in alphabetical order. Adding one here is the only registration there is. */
import { contentLost } from './content-lost.ts';
import { contextOverflow } from './context-overflow.ts';
import { controlTokenInContent } from './control-token-in-content.ts';
import { countMismatch } from './count-mismatch.ts';
import type { Detector } from './detector.ts';
import { doubleBos } from './double-bos.ts';
import { foreignTemplate } from './foreign-template.ts';
import { missingBos } from './missing-bos.ts';
import { missingGenerationPrompt } from './missing-generation-prompt.ts';
import { nestedTemplate } from './nested-template.ts';
import { outputTruncated } from './output-truncated.ts';
import { parameterIgnored } from './parameter-ignored.ts';
import { prefixBreak } from './prefix-break.ts';
import { promptTruncated } from './prompt-truncated.ts';
import { rawPrompt } from './raw-prompt.ts';
import { runawayReply } from './runaway-reply.ts';
import { stringifiedPrompt } from './stringified-prompt.ts';
import { templateDrift } from './template-drift.ts';
import { templateMissing } from './template-missing.ts';
import { toolsDropped } from './tools-dropped.ts';
import { trailingAssistant } from './trailing-assistant.ts';
import { unwantedBos } from './unwanted-bos.ts';

export const detectors: readonly Detector[] = [
  contentLost,
  contextOverflow,
  controlTokenInContent,
  countMismatch,
  doubleBos,
  foreignTemplate,
  missingBos,
  missingGenerationPrompt,
  nestedTemplate,
  outputTruncated,
  parameterIgnored,
  prefixBreak,
  promptTruncated,
  rawPrompt,
  runawayReply,
  stringifiedPrompt,
  templateDrift,
  templateMissing,
  toolsDropped,
  trailingAssistant,
  unwantedBos,
];
