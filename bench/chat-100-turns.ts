// A 100-turn chat to about 30k tokens: what is asked of the engine for it, and whether the ids are true.
// The counting relay and the engine are processes of their own. Run: npm run bench -- chat-100-turns
import { modelFile } from '../test/support/gguf/families.ts';
import { startLlamaServer } from '../test/support/llama-server/server.ts';
import { proxy } from '../test/support/proxied-engine.ts';
import { chat } from './conversation.ts';
import { startCountingRelay } from './counting-relay.ts';

const turns = 100;
const messages = chat(turns, 112);
const engine = await startLlamaServer({ model: await modelFile('qwen3') });
const relay = await startCountingRelay(engine.url);
const subject = await proxy(relay.url, { INSPECTION_BUDGET_MS: '100' });

async function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

// The facts are learnt first, and what that asks is told apart.
while (!(await (await fetch(`${subject.adminUrl}/metrics`)).text()).includes('tokenweir_model_info{')) {
  await new Promise(setImmediate);
}
const factTokens = await relay.takeTokens();

let finalPrompt = 0;
const results = new Map<string, number>();
for (let turn = 1; turn <= turns; turn += 1) {
  const body = { messages: messages.slice(0, turn * 2), max_tokens: 1, temperature: 0 };
  const reply = await post(`${subject.url}/v1/chat/completions`, body);
  const { usage } = (await reply.json()) as { usage: { prompt_tokens: number } };
  finalPrompt = usage.prompt_tokens;
  const result = reply.headers.get('tokenweir-inspection') ?? 'none';
  results.set(result, (results.get(result) ?? 0) + 1);
}
const asked = await relay.takeTokens();
const matches = await subject.metric('tokenweir_count_checks_total', { result: 'match' });
const breaks = await subject.metric('tokenweir_prefix_breaks_total');
const checks = await subject.metric('tokenweir_tokenized_tokens_total', { source: 'check' });

console.log(`final prompt            ${finalPrompt} tokens`);
console.log(`learning the facts      ${factTokens} tokens, once per model`);
console.log(`/tokenize answered      ${asked} tokens over ${turns} turns, ${checks} of them window checks`);
console.log(
  `ratio to final prompt   ${(asked / finalPrompt).toFixed(3)}   (with the facts ${((asked + factTokens) / finalPrompt).toFixed(3)})`,
);
console.log(
  `inspections             ${[...results].map(([name, count]) => `${count} × ${name}`).join(', ')}`,
);
console.log(`count checks            ${matches} × match, ${breaks} breaks`);

await subject.close();
relay.close();
await engine.stop();
