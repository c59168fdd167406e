// Templates that raise on a system message, rendered as they are: llama-server hides that by putting the text into the first
// question, vLLM answers with an error.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Template } from '@huggingface/jinja';
import { readTemplate } from '../../../src/engines/facts/template-reading.ts';
import { publishedTemplates } from '../../support/templates/published.ts';

const refusal = '{% if messages[0].role == "system" %}{{ raise_exception("no system role") }}{% endif %}';
const shouting =
  '{% if tools %}{{ tools|tojson }}{% endif %}' +
  '{% for m in messages %}{{ "<|" + m.role + "|>" }}{{ (m.content or "")|upper }}' +
  '{% for c in m.tool_calls or [] %}{{ c.function.name + c.function.arguments }}{% endfor %}{% endfor %}';

/** @returns a renderer that answers as an engine does, and what it was asked */
function rendererOf(text: string): {
  readonly render: (body: object) => Promise<string | undefined>;
  readonly asked: object[];
} {
  const template = new Template(text);
  const asked: object[] = [];
  return {
    asked,
    render: (body) => {
      asked.push(body);
      try {
        return Promise.resolve(template.render({ ...body, bos_token: '', add_generation_prompt: true }));
      } catch {
        return Promise.resolve(undefined);
      }
    },
  };
}

describe('a template that refuses instructions', () => {
  it('is read without them: how it writes, and what it leaves out', async () => {
    const { render } = rendererOf(refusal + shouting);
    const reading = await readTemplate(render);
    assert.deepEqual(reading?.dropped, ['loop-reasoning', 'reasoning']);
    const form = reading.forms?.find(({ places }) => places.includes('question'));
    assert.equal(form?.letters, 'upper');
    assert.ok(form.places.includes('tool-result') && !form.places.includes('instructions'));
    assert.equal(reading.developerAsSystem, false);
    assert.equal(reading.mergesInstructions, false);
    // But for what it says of instructions it is read as the same template is that takes them.
    const { forms = [], ...other } = (await readTemplate(rendererOf(shouting).render)) ?? {};
    const withoutPlace = forms.map((one) => ({
      ...one,
      places: one.places.filter((place) => place !== 'instructions'),
    }));
    assert.deepEqual(reading, { ...other, forms: withoutPlace });
  });

  it('is not asked about them again', async () => {
    const { render, asked } = rendererOf(refusal + shouting);
    await readTemplate(render);
    const withThem = asked.filter((body) => JSON.stringify(body).includes('"role":"system"'));
    assert.equal(withThem.length, 1);
  });

  it('is read as far as it goes where it refuses tools, too', async (t) => {
    const found = await publishedTemplates();
    if ('missing' in found) {
      t.skip(found.missing);
      return;
    }
    const gemma = found.find(({ name }) => name.startsWith('google-gemma-2'));
    const reading = await readTemplate(rendererOf(gemma?.text ?? '').render);
    const places = reading?.forms?.flatMap((form) => form.places) ?? [];
    assert.deepEqual(places.filter((place) => place !== 'text-part').toSorted(), ['answer', 'question']);
  });

  it('is not read where it refuses a question as well', async () => {
    assert.equal(await readTemplate(() => Promise.resolve(undefined)), undefined);
  });
});
