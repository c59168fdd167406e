/** What is said of each way in which a message can lose something, and how bad it is. */
import type { Culprit, Severity } from '../../exchange/finding.ts';

export interface LossWords {
  readonly severity: Severity;
  readonly culprit: Culprit;
  /** What is said of the fields, which are named by their paths. */
  readonly said: (fields: string) => string;
  readonly advice: string;
}

const templateAdvice = 'Whoever runs the engine must look at how its template writes such messages.';

/** Of a part of a list whose other parts are there. */
export const asOneString =
  'Send the content as one string: this template writes only some of the parts of a list.';

/** Of an answer that came with its reasoning: engines hand both to some templates as a list, which not all of those write. */
export const withoutReasoning =
  'Send the answer without its reasoning, or have whoever runs the engine look at how its template writes answers that come with one.';

/** Of a part of a result, where the template was seen to write results that are one string. */
export const resultAsOneString =
  'Send the result of the tool as one string: this template writes results, and none that is a list of parts.';

export const lossWords = {
  text: {
    severity: 'error',
    culprit: 'template',
    said: (fields) => `The prompt does not hold ${fields}`,
    advice: templateAdvice,
  },
  'text-cut': {
    severity: 'error',
    culprit: 'template',
    said: (fields) => `The prompt holds only a part of ${fields}`,
    advice: templateAdvice,
  },
  'as-code': {
    severity: 'error',
    culprit: 'template',
    said: (fields) => `The prompt holds ${fields} as the program text of a list of parts`,
    advice: 'Send the content as one string: this template takes no list of parts there.',
  },
  'tool-result': {
    severity: 'error',
    culprit: 'template',
    said: (fields) => `The prompt does not hold ${fields}: the model does not see what the tool gave back`,
    advice: 'Whoever runs the engine must give it a template that renders results of tools, as sent here.',
  },
  call: {
    severity: 'error',
    culprit: 'template',
    said: (fields) => `The prompt does not hold ${fields}: the model does not see that it called the tool`,
    advice: 'Whoever runs the engine must give it a template that renders calls of tools.',
  },
  'later-call': {
    severity: 'error',
    culprit: 'template',
    said: (fields) =>
      `The prompt does not hold ${fields}: the template writes only the first of several calls, and the model does not see that it made the others`,
    advice:
      'Let the model call one tool at a time (parallel_tool_calls: false; disable_parallel_tool_use on /v1/messages), or have whoever runs the engine give it a template that writes all calls.',
  },
  document: {
    severity: 'error',
    culprit: 'engine',
    said: (fields) => `The prompt does not hold ${fields}: the engine takes no documents on this route`,
    advice: 'Send what the document says as a block of type text.',
  },
  'instructions-alone': {
    severity: 'error',
    culprit: 'template',
    said: (fields) =>
      `The prompt does not hold ${fields}: the template writes instructions only together with a question, and there is none`,
    advice: 'Send the text as a message of the user, or a question behind it.',
  },
  'call-arguments': {
    severity: 'error',
    culprit: 'template',
    said: (fields) => `The prompt holds ${fields} without the arguments`,
    advice: 'Whoever runs the engine must look at how its template writes calls of tools.',
  },
  'arguments-cut': {
    severity: 'error',
    culprit: 'template',
    said: (fields) => `The prompt holds only a part of ${fields}`,
    advice: 'Whoever runs the engine must look at how its template writes calls of tools.',
  },
  'later-instructions': {
    severity: 'error',
    culprit: 'template',
    said: (fields) =>
      `The prompt does not hold ${fields}: the template keeps only some of several instructions`,
    advice: 'Send all instructions as one system message, the first.',
  },
  'earlier-instructions': {
    severity: 'error',
    culprit: 'template',
    said: (fields) =>
      `The prompt does not hold ${fields}: of several instructions the template keeps a later one`,
    advice: 'Send all instructions as one system message, the first.',
  },
  'unread-field': {
    severity: 'error',
    culprit: 'client',
    said: (fields) =>
      `The prompt does not hold ${fields}: nobody reads that field, and the message says nothing else`,
    advice: 'Send the text as the content of the message, and calls of tools as tool_calls.',
  },
  'unread-reasoning': {
    severity: 'error',
    culprit: 'client',
    said: (fields) => `The prompt does not hold ${fields}: reasoning is read from another field`,
    advice: 'Send the reasoning under the name that the engine reads.',
  },
  'merged-instructions': {
    severity: 'info',
    culprit: 'template',
    said: (fields) => `The template writes several system messages as one, ${fields} among them`,
    advice: 'Nothing need be done; one system message says the same.',
  },
  'developer-as-system': {
    severity: 'info',
    culprit: 'engine',
    said: (fields) => `The prompt holds ${fields} as it holds system messages`,
    advice: 'Nothing need be done; the model reads it as what the operator says.',
  },
  characters: {
    severity: 'warning',
    culprit: 'template',
    said: (fields) => `The prompt holds ${fields} without characters that the template leaves out everywhere`,
    advice: 'Whoever runs the engine must look at what its template replaces or strips in texts.',
  },
  'extra-field': {
    severity: 'info',
    culprit: 'client',
    said: (fields) => `The prompt does not hold ${fields}: nobody reads that field`,
    advice: 'Put it into the content of the message if the model should read it.',
  },
  'unknown-role': {
    severity: 'error',
    culprit: 'client',
    said: (fields) => `The prompt does not hold ${fields}: the template has no such role`,
    advice: 'Send the message as one of system, user, assistant or tool.',
  },
  'sent-role': {
    severity: 'error',
    culprit: 'client',
    said: (fields) =>
      `The template writes ${fields} as it was sent, and has no such turns of its own: the model is given a speaker that it does not know`,
    advice: 'Send the role as user, assistant or system, which the template writes as the model knows them.',
  },
  'text-beside-calls': {
    severity: 'info',
    culprit: 'template',
    said: (fields) => `The prompt does not hold ${fields}: the template writes no text beside calls of tools`,
    advice: 'Nothing need be done; what the model must remember can be said in a message of its own.',
  },
  'speaker-names': {
    severity: 'info',
    culprit: 'template',
    said: (fields) =>
      `The prompt does not hold ${fields}: the template writes no names, and the model can't tell the speakers of one role apart`,
    advice: 'Write the name of who speaks into the text of each message, in front of it.',
  },
  reasoning: {
    severity: 'info',
    culprit: 'template',
    said: (fields) => `The prompt does not hold ${fields}: the template leaves out reasoning there`,
    advice: 'Nothing need be done: most templates leave out the reasoning of earlier turns on purpose.',
  },
} as const satisfies Readonly<Record<string, LossWords>>;

export type Loss = keyof typeof lossWords;
