// Llama 3.1 on a real vLLM: its tokenizer adds BOS, and so does its template.
import { describe } from 'node:test';
import { realVllm } from '../support/vllm/real-vllm.ts';
import { itAddsBos } from './added-bos.ts';

const engine = await realVllm('llama3.1');

describe('Llama 3.1 on a real vLLM', { skip: engine.skip }, () => {
  itAddsBos(engine, { id: 128_000, text: '<|begin_of_text|>' });
});
