// Replies that ended by themselves, and the five ways in which they can be cut.
import { outputTruncated } from '../../src/detectors/output-truncated.ts';
import type { ChoiceReply, Reply } from '../../src/exchange/reply/reply.ts';
import { testDetector } from '../support/detector-tester.ts';
import type { ExchangeShape } from '../support/exchange-builder.ts';

function replied(
  choice: Partial<ChoiceReply>,
  maxTokens?: number,
  reply: Partial<Reply> = {},
): ExchangeShape {
  return {
    route: 'chat',
    body: {
      messages: [{ role: 'user', content: 'Hi' }],
      ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    },
    reply: { ...reply, choices: [choice] },
  };
}
const toolCall = { hasToolCalls: true, hasAnswerText: false } as const;

testDetector(outputTruncated, {
  clean: [
    { name: 'a reply that stopped', exchange: replied({ finishReason: 'stop', completionTokens: 20 }, 100) },
    { name: 'a reply that stopped, without counts', exchange: replied({ finishReason: 'stop' }, 100) },
    {
      name: 'a whole tool call',
      exchange: replied(
        { ...toolCall, finishReason: 'tool-calls', toolArgumentsValid: true, completionTokens: 20 },
        100,
      ),
    },
    {
      name: 'a reply that the client left before its end',
      exchange: replied({ ...toolCall, toolArgumentsValid: false }, 100, { complete: false }),
    },
    { name: 'an error of the engine', exchange: { ...replied({}), reply: { status: 400, choices: [] } } },
    {
      name: 'a prompt that was only to be cached',
      exchange: replied({ finishReason: 'stop', completionTokens: 1 }, 0),
    },
    {
      name: 'no reply yet',
      exchange: { route: 'chat', body: { messages: [{ role: 'user', content: 'Hi' }] } },
    },
  ],
  found: [
    {
      name: "the client's own limit",
      exchange: replied({ finishReason: 'length', completionTokens: 100 }, 100),
      findings: [{ cause: 'own-limit', severity: 'info', culprit: 'client', field: 'max_tokens' }],
    },
    {
      name: 'the limit reached, whatever the finish reason says',
      exchange: replied({ finishReason: 'stop', completionTokens: 100 }, 100),
      findings: [{ cause: 'own-limit', severity: 'info' }],
    },
    {
      name: 'a limit of the engine',
      exchange: replied({ finishReason: 'length', completionTokens: 100 }),
      findings: [{ cause: 'default-limit', severity: 'warning', culprit: 'engine' }],
    },
    {
      name: 'a cut tool call that is reported as a tool call',
      exchange: replied(
        { ...toolCall, finishReason: 'tool-calls', toolArgumentsValid: false, completionTokens: 8192 },
        8192,
      ),
      findings: [{ cause: 'cut-tool-call', severity: 'error', culprit: 'client' }],
    },
    {
      name: 'a tool call cut by a limit of the engine',
      exchange: replied({ ...toolCall, finishReason: 'length', toolArgumentsValid: false }),
      findings: [{ cause: 'cut-tool-call', severity: 'error', culprit: 'engine' }],
    },
    {
      name: 'tool arguments that are no JSON, cut by nothing',
      exchange: replied(
        { ...toolCall, finishReason: 'tool-calls', toolArgumentsValid: false, completionTokens: 9 },
        100,
      ),
      findings: [{ cause: 'invalid-tool-arguments', severity: 'error', culprit: 'engine' }],
    },
    {
      name: 'reasoning without an answer',
      exchange: replied(
        { finishReason: 'length', hasReasoning: true, hasAnswerText: false, completionTokens: 100 },
        100,
      ),
      findings: [{ cause: 'reasoning-only', severity: 'error', culprit: 'client' }],
    },
    {
      name: 'reasoning and the start of an answer',
      exchange: replied({ finishReason: 'length', hasReasoning: true, completionTokens: 100 }, 100),
      findings: [{ cause: 'own-limit', severity: 'info' }],
    },
    {
      name: 'one choice of three',
      exchange: {
        ...replied({}),
        reply: { choices: [{ finishReason: 'stop' }, { finishReason: 'length' }, { finishReason: 'stop' }] },
      },
      findings: [{ promptIndex: 1, cause: 'default-limit' }],
    },
  ],
});
