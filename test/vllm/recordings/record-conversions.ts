// Records how the adapter reads bodies of `/v1/messages` and `/v1/responses` on a vLLM that does not let it render, and what
// that vLLM renders itself.
import { writeFile } from 'node:fs/promises';
import { VllmEngine } from '../../../src/engines/vllm.ts';
import { openAdapter } from '../../engines/engine-under-test.ts';
import { gatedEngine } from '../../support/gated-engine.ts';
import { gatewayTo } from '../../support/vllm/gateway.ts';
import { idsByAdapter, idsByRendering, post } from '../conversions/reading.ts';
import { allCases, recordedAt, type Conversion } from '../conversions/recorded.ts';

/** @param url a vLLM that may render (`--enable-scale-out`) */
export async function recordConversions(url: string): Promise<void> {
  const gateway = await gatewayTo(url);
  gateway.block(/render$/);
  const watched = await gatedEngine(gateway.url);
  const { engine } = openAdapter(watched.url, { adapter: VllmEngine, timeoutMs: 60_000 });
  try {
    await engine.facts(undefined, { credentials: {}, signal: new AbortController().signal });
    const lines: string[] = [];
    for (const one of allCases) {
      const before = watched.bodies('/tokenize').length;
      await idsByAdapter(engine, one);
      const questions = watched.bodies('/tokenize').slice(before).map(String);
      const conversion: Conversion = {
        kind: one.kind,
        name: one.name,
        rendered: (await idsByRendering(url, one)) ?? null,
        asked: await Promise.all(questions.map((body) => answerTo(url, body))),
      };
      lines.push(JSON.stringify(conversion));
    }
    await writeFile(recordedAt, `${lines.join('\n')}\n`);
  } finally {
    await engine.close();
    await watched.close();
    await gateway.close();
  }
}

async function answerTo(url: string, body: string): Promise<Conversion['asked'][number]> {
  const { status, json } = await post(`${url}/tokenize`, body);
  return { body, status, ids: status === 200 ? (json as { tokens: number[] }).tokens : null };
}
