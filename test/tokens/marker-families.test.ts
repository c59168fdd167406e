// The families' markers against the published templates that they are named after.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { familyMarkers, markerFamilies } from '../../src/tokens/marker-families.ts';
import { publishedTemplates } from '../support/templates/published.ts';

const published = await publishedTemplates();
const templates = 'missing' in published ? [] : published;

/** Those that the folder has no template of are in llama.cpp's `src/llama-chat.cpp`. */
const sources: Readonly<Record<string, string>> = {
  ChatML: 'Qwen-Qwen3-0.6B',
  'Meta 3': 'meta-llama-Llama-3.1-8B-Instruct',
  'Gemma 2 and 3': 'google-gemma-2-2b-it',
  'Gemma 4': 'google-gemma-4-31B-it',
  INST: 'unsloth-mistral-Devstral-Small-2507',
  'Phi, Zephyr and GLM': 'microsoft-Phi-3.5-mini-instruct',
  DeepSeek: 'deepseek-ai-DeepSeek-V3.1',
  'Command R': 'CohereForAI-c4ai-command-r7b-12-2024-tool_use',
  Granite: 'ibm-granite-granite-4.0',
  'gpt-oss': 'openai-gpt-oss-120b',
  'Kimi K2': 'moonshotai-Kimi-K2',
  'Seed-OSS': 'ByteDance-Seed-OSS',
  'MiniMax M2': 'MiniMax-M2',
  Apertus: 'Apertus-8B-Instruct',
  'Solar Open': 'upstage-Solar-Open-100B',
  'Nemotron Nano 2': 'NVIDIA-Nemotron-Nano-v2',
  Apriel: 'Apriel-1.6-15b-Thinker-fixed',
};

describe('families of markers', () => {
  for (const { family, openings } of markerFamilies) {
    const source = sources[family];
    if (source === undefined) continue;
    it(
      `${family} opens turns as ${source} does`,
      { skip: 'missing' in published && published.missing },
      () => {
        const text = templates.find(({ name }) => name === source)?.text ?? '';
        assert.deepEqual(
          openings.map(({ start }) => start).filter((start) => !text.includes(start)),
          [],
        );
      },
    );
  }

  it('have names of their own, and no marker is asked for twice', () => {
    assert.equal(new Set(markerFamilies.map(({ family }) => family)).size, markerFamilies.length);
    assert.equal(new Set(familyMarkers).size, familyMarkers.length);
  });

  it('open turns in ways of their own', () => {
    const starts = markerFamilies.flatMap(({ openings }) => [...new Set(openings.map(({ start }) => start))]);
    assert.deepEqual(starts, [...new Set(starts)]);
  });
});
