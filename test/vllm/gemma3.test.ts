// Gemma 3 on a real vLLM: its tokenizer adds BOS, and so does its template.
import { describe } from 'node:test';
import { realVllm } from '../support/vllm/real-vllm.ts';
import { itAddsBos } from './added-bos.ts';

const engine = await realVllm('gemma3');

describe('Gemma 3 on a real vLLM', { skip: engine.skip }, () => {
  itAddsBos(engine, { id: 2, text: '<bos>' });
});
