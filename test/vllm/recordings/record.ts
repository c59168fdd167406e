// Records real replies of a vLLM as fixtures: `npm run record:vllm [-- PART …]`, where a part is a family, one of its recordings
// (`qwen3/chat-ids`) or `conversions`.
// A fixture is one line of JSON (what was asked, status, headers), an empty line, and the reply's bytes.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { modelFolder } from '../../support/vllm/model-folder.ts';
import { startVllm } from '../../support/vllm/server.ts';
import { recordedServers, renderingServer, type Asked, type RecordedServer } from './cases.ts';
import { recordConversions } from './record-conversions.ts';

/** Where the models lie on this machine is nobody's business. */
const modelsAs = '/models';
/** Different in each reply; the length is that of the bytes that we keep, where no path was replaced. */
/** A longer body is told by its case alone. */
const mostSent = 4096;
const volatileHeaders = new Set(['date', 'content-length']);

async function started(server: RecordedServer, use: (url: string) => Promise<void>): Promise<void> {
  const vllm = await startVllm({ model: await modelFolder(server.family), args: server.args });
  try {
    await use(vllm.url);
  } finally {
    await vllm.stop();
  }
}

async function record(server: RecordedServer, url: string): Promise<void> {
  const folder = new URL(`./${server.family}/`, import.meta.url);
  const models = dirname(await modelFolder(server.family));
  if (isWanted(server.family)) await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, asked] of Object.entries(server.asked)) {
    if (!isWanted(server.family) && !isWanted(`${server.family}/${name}`)) continue;
    const { told, bytes } = await ask(url, asked, server.headers);
    const text = `${JSON.stringify(told)}\n\n${bytes}`.replaceAll(models, modelsAs);
    await writeFile(new URL(`${name}.txt`, folder), text);
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
    told: {
      path,
      ...(isShort(body) && { sent: body }),
      status: reply.status,
      headers: Object.fromEntries(kept),
    },
    bytes: await reply.text(),
  };
}

function isShort(body: object | undefined): boolean {
  return JSON.stringify(body ?? {}).length <= mostSent;
}

const chosen = process.argv.slice(2);
const isWanted = (part: string): boolean => chosen.length === 0 || chosen.includes(part);
for (const server of recordedServers) {
  const isPartOf = (part: string): boolean => part.split('/')[0] === server.family;
  if (isWanted(server.family) || chosen.some(isPartOf)) await started(server, (url) => record(server, url));
}
if (isWanted('conversions')) await started(renderingServer, recordConversions);
