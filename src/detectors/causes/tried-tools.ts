/** Whether a template was seen to write a conversation with tools: some refuse every one that they are tried with. */
import type { TemplateReading } from '../../exchange/model-facts.ts';

/** @param part `tools`, `call` or `tool-result`; true where the template was seen to write it */
export function wroteIn(
  reading: TemplateReading | undefined,
  part: 'tools' | 'call' | 'tool-result',
): boolean {
  if (reading === undefined || reading.dropped.includes(part)) return false;
  const { dropped, droppedFields, reasoningMembers } = reading;
  // All but these come of conversations with tools alone.
  const hasTold = dropped.some((sort) => sort !== 'later-instructions');
  return hasTold || droppedFields.length > 0 || reasoningMembers.length > 0;
}
