// Records real replies of a vLLM as fixtures: `npm run record:vllm [-- FAMILY …]`.
// A fixture is one line of JSON (what was asked, status, headers), an empty line, and the reply's bytes.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { modelFolder } from '../../support/vllm/model-folder.ts';
import { startVllm } from '../../support/vllm/server.ts';
import { recordedServers, type Asked, type RecordedServer } from './cases.ts';

/** Where the models lie on this machine is nobody's business. */
const modelsAs = '/models';
/** Different in each reply; the length is that of the bytes that we keep, where no path was replaced. */
const volatileHeaders = new Set(['date', 'content-length']);

async function record(server: RecordedServer): Promise<void> {
  const model = await modelFolder(server.family);
  const folder = new URL(`./${server.family}/`, import.meta.url);
  const vllm = await startVllm({ model, args: server.args });
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    for (const [name, asked] of Object.entries(server.asked)) {
      const { told, bytes } = await ask(vllm.url, asked, server.headers);
      const text = `${JSON.stringify(told)}\n\n${bytes}`.replaceAll(dirname(model), modelsAs);
      await writeFile(new URL(`${name}.txt`, folder), text);
    }
  } finally {
    await vllm.stop();
  }
}

async function ask(url: string, asked: Asked, headers: RecordedServer['headers']) {
  const { path, body } = asked;
  const reply = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
      ...asked.headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const kept = [...reply.headers].filter(([name]) => !volatileHeaders.has(name));
  return {
    told: { path, sent: body, status: reply.status, headers: Object.fromEntries(kept) },
    bytes: await reply.text(),
  };
}

const chosen = process.argv.slice(2);
for (const server of recordedServers) {
  if (chosen.length === 0 || chosen.includes(server.family)) await record(server);
}
