/** Which raw prompts ask for the middle of a text: they open no answer, and their head is the model's own affair. */
import type { ModelFacts } from '../../exchange/model-facts.ts';
import type { RawPrompt } from '../../exchange/request/request.ts';
import { fillInMarkers } from '../../tokens/fill-in-markers.ts';

export function isFillIn(prompt: RawPrompt, { markers }: ModelFacts): boolean {
  const fillIn = fillInMarkers(markers);
  return itemsOf(prompt).some((item) =>
    fillIn.some(({ text, id }) => (typeof item === 'number' ? item === id : item.includes(text))),
  );
}

function itemsOf(prompt: RawPrompt): readonly (string | number)[] {
  switch (prompt.form) {
    case 'text':
      return [prompt.text];
    case 'ids':
      return prompt.ids;
    case 'mixed':
      return prompt.items;
    case 'media':
      return [];
  }
}
