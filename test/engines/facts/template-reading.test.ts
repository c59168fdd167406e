// What templates leave out, as the real server renders them: published ones of which each is known to be unlike the others.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { TemplateReading } from '../../../src/exchange/model-facts.ts';
import { modelOf } from '../../families/vocabulary.ts';
import { byteModelFile } from '../../support/gguf/byte-model.ts';
import { realEngine } from '../../support/real-engine.ts';
import { publishedTemplates } from '../../support/templates/published.ts';
import { context, openAdapter } from '../engine-under-test.ts';

const expected: Readonly<Record<string, Partial<TemplateReading>>> = {
  'Qwen-Qwen3-0.6B': {
    dropped: ['reasoning'],
    droppedFields: ['tool-member'],
    mergesInstructions: false,
    developerAsSystem: true,
    reasoningMembers: ['reasoning_content'],
    writesNames: false,
  },
  'meta-llama-Llama-3.1-8B-Instruct': {
    dropped: ['loop-reasoning', 'reasoning', 'text-beside-calls'],
    reasoningMembers: [],
  },
  'HuggingFaceTB-SmolLM3-3B': {
    dropped: ['call', 'later-instructions', 'loop-reasoning', 'reasoning', 'tools'],
  },
  'llama-cpp-rwkv-world': {
    dropped: ['call', 'later-instructions', 'loop-reasoning', 'reasoning', 'tool-result', 'tools'],
  },
  // One writes them in the place of roles, the other beside them.
  'Kimi-K2-Instruct': { writesNames: true },
  'Kimi-K3': { writesNames: true },
  'deepseek-ai-DeepSeek-V3.2': { dropped: ['reasoning'], mergesInstructions: true },
  'openai-gpt-oss-120b': {
    dropped: ['later-instructions', 'reasoning', 'text-beside-calls'],
    droppedFields: [
      '$defs',
      'anyOf',
      'examples',
      'format',
      'maxLength',
      'maximum',
      'minLength',
      'minimum',
      'pattern',
      'title',
      'tool-member',
    ],
  },
  'poolside-Laguna-S-2.1': { dropped: [], droppedFields: ['tool-member'] },
};

const found = await publishedTemplates();
const templates = 'missing' in found ? [] : found.filter(({ name }) => name in expected);
const engines = new Map(
  await Promise.all(
    templates.map(async (one) => [one.name, await realEngine(() => byteModelFile(modelOf(one)))] as const),
  ),
);
const skip = 'missing' in found ? found.missing : [...engines.values()][0]?.skip;

describe('what a template was seen to leave out', { skip: skip ?? false }, () => {
  for (const [name, reading] of Object.entries(expected)) {
    it(name, async () => {
      const { url } = await engines.get(name)!.server();
      const { engine } = openAdapter(url);
      const read = await engine.facts(undefined, context);
      assert.ok(read.known, read.known ? '' : read.reason);
      assert.deepEqual({ ...read.facts.reading, ...reading }, read.facts.reading);
      await engine.close();
    });
  }
});
