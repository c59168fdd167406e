/** One section per kind of finding: what strict mode does with it, how severe it is, and the options of its detector. */
import type { z } from 'zod';
import type { Action } from '../../exchange/exchange.ts';
import { severities, type FindingKind } from '../../exchange/finding.ts';
import { actionsFor } from '../detector-actions.ts';
import { oneOf, section } from '../value-types.ts';

function detector(kind: FindingKind) {
  return section({
    action: oneOf(actionsFor(kind) as [Action])
      .exactOptional()
      .describe('What strict mode does with an exchange that has this finding. Observe mode always passes.'),
    severity: oneOf(severities)
      .exactOptional()
      .describe("Replaces the detector's own severity; findings that it reports as `info` stay `info`."),
  });
}

export const detectors = section({
  'content-lost': detector('content-lost').prefault({}),
  'context-overflow': detector('context-overflow').prefault({}),
  'control-token-in-content': detector('control-token-in-content').prefault({}),
  'count-mismatch': detector('count-mismatch').prefault({}),
  'double-bos': detector('double-bos')
    .safeExtend({
      rejectWhen: oneOf(['client', 'always'])
        .default('client')
        .describe('Block only what the client did, or a doubled BOS of the template or the engine too.'),
    })
    .prefault({}),
  'foreign-template': detector('foreign-template').prefault({}),
  'missing-bos': detector('missing-bos').prefault({}),
  'missing-generation-prompt': detector('missing-generation-prompt').prefault({}),
  'nested-template': detector('nested-template').prefault({}),
  'output-truncated': detector('output-truncated').prefault({}),
  'parameter-ignored': detector('parameter-ignored').prefault({}),
  'prefix-break': detector('prefix-break')
    .safeExtend({
      attributionLine: oneOf(['keep', 'freeze', 'cut'])
        .default('keep')
        .describe(
          "What strict mode does with a client's attribution line: `freeze` it as the conversation began with it, or `cut` it.",
        ),
    })
    .prefault({}),
  'prompt-truncated': detector('prompt-truncated').prefault({}),
  'raw-prompt': detector('raw-prompt').prefault({}),
  'runaway-reply': detector('runaway-reply').prefault({}),
  'stringified-prompt': detector('stringified-prompt').prefault({}),
  'template-drift': detector('template-drift').prefault({}),
  'template-missing': detector('template-missing').prefault({}),
  'tools-dropped': detector('tools-dropped').prefault({}),
  'trailing-assistant': detector('trailing-assistant').prefault({}),
  'unwanted-bos': detector('unwanted-bos').prefault({}),
} satisfies Record<FindingKind, z.ZodType>).prefault({});
