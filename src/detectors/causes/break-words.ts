/** What is said about each cause of a prefix break. Words only; holds no prompt text. */
import type { BreakCause } from '../../exchange/finding.ts';
import type { NamedBreak } from './break-cause.ts';

const evidence: Record<BreakCause, string> = {
  'attribution-line': 'a line that names the client and differs per request stands in the system text',
  'empty-think-tail':
    'the template ended the earlier prompt with an empty think block, and leaves it out of the history',
  'history-edited': 'a message that was sent before came back changed',
  'history-truncated': 'the reply to the earlier turn is not in the history',
  'reasoning-dropped': 'the template leaves out reasoning that the earlier prompt held',
  retokenised: "the earlier prompt's end is tokenized otherwise together with what follows it",
  'salt-changed': 'the request has another cache_salt, and nothing is reused across salts',
  'tools-changed': 'the tools are not the same',
  'tools-reordered': 'the same tools came in another order',
  unknown: 'the client only went on, and the rendered prompt differs before that',
  'volatile-date': 'a date in the system text changed',
  'volatile-text': 'the system text changed',
  'volatile-time': 'a clock in the system text moved on',
};

const advice: Record<BreakCause, string> = {
  'attribution-line':
    "Switch the line off in the client (for Claude Code: the environment variable CLAUDE_CODE_ATTRIBUTION_HEADER=0), or take it out of the client's system text.",
  'empty-think-tail':
    'Nothing is wrong with the client; it costs only the think block. Whoever serves the model may use a template that keeps the block in the history.',
  'history-edited':
    'The client should send back earlier messages as it sent them, and put what changes (reminders, documents, memory) into the newest message.',
  'history-truncated':
    'The client should send the reply back too, also an empty one; where it was given up on purpose there is nothing to do.',
  'reasoning-dropped':
    'Nothing is wrong with the client: most templates leave out the reasoning of earlier turns on purpose. Some can be told to keep it (chat_template_kwargs), which makes prompts longer.',
  retokenised: 'Nothing to do: a few tokens at the seam of two turns.',
  'salt-changed':
    'The client should keep one cache_salt for a conversation: one per tenant keeps tenants apart, one per request keeps every turn from its own cache.',
  'tools-changed':
    'If the set of tools must change in a conversation, change it seldom: most templates write the tools first, so that all after them is computed again.',
  'tools-reordered': 'The client should sort its tools by name, or keep the order of the first turn.',
  unknown:
    'Compare two renderings of the conversation: a template that writes a date, counts turns or drops parts of earlier turns does this.',
  'volatile-date': 'The client should move the date to the newest user message, or offer it as a tool.',
  'volatile-text':
    'The client should keep the system text as it was, and put what changes into the newest message.',
  'volatile-time': 'The client should move the clock to the newest user message, or offer it as a tool.',
};

/** A clause; of an unknown cause it says what little is known. */
export function breakEvidence(named: NamedBreak): string {
  const { cause, culprit, change, cut, leftReasoning, emptyThink } = named;
  if (cut === true)
    return 'the client has its prompts cut to a number of tokens, so that each begins elsewhere';
  if (change?.moved !== undefined) {
    return 'instructions that stood among the messages stand elsewhere now, or nowhere';
  }
  if (leftReasoning === true) return 'a message that was sent before came back without its reasoning';
  if (emptyThink === true)
    return 'the template leaves out an empty think block that it wrote in the earlier prompt';
  if (cause !== 'unknown') return evidence[cause];
  if (change?.part === 'tools') return 'a tool came with its JSON keys in another order';
  if (change?.part === 'options') return 'the template arguments or the response format changed';
  return culprit === 'client' ? 'the text of the prompt changed before its end' : evidence.unknown;
}

/** A sentence or two: what to change, and who must. */
export function breakAdvice({ cause, culprit, change, cut, leftReasoning }: NamedBreak): string {
  if (cut === true)
    return 'A conversation that has outgrown the limit is computed anew each turn: the client should drop or sum up several turns at once, and leave the rest as it was.';
  if (change?.moved !== undefined) {
    return 'The client should leave such a note where it stood, say it in the first system message, or put it into the newest message of the user: one at a fixed distance from the end moves with every turn.';
  }
  if (leftReasoning === true) {
    return 'The client should send the reasoning back with the message, as it did before: the template writes it there.';
  }
  if (cause !== 'unknown') return advice[cause];
  if (change?.part === 'tools')
    return 'The client should write each tool with its keys in the same order every time.';
  if (change?.part === 'options')
    return 'The client should keep template arguments the same within a conversation.';
  return culprit === 'client' ? advice['history-edited'] : advice.unknown;
}
