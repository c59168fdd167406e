// Sends generated conversations and their faulty twins through the proxy to a real engine, and tells what was found.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLlamaServer } from '../support/llama-server/server.ts';
import { proxy, type ProxiedEngine } from '../support/proxied-engine.ts';
import { send, settled } from '../support/exchanges.ts';
import { cleanConversation } from './conversations.ts';
import type { PlannedRequest } from './requests.ts';
import { Dice } from './dice.ts';
import { engines, type ScaleEngine, type ScaleServer } from './engines.ts';
import type { ScaleFamily } from './families.ts';
import { faults, type Fault } from './faults.ts';

/** What was said of one conversation, as its log lines say it. */
export interface Judged {
  readonly family: string;
  /** The clean conversation's shape, or the injected fault's kind. */
  readonly name: string;
  /** Of the injected fault, where another would not be it. */
  readonly cause?: string;
  readonly seed: number;
  /** Findings of all its requests, e.g. `raw-prompt warning client`. */
  readonly findings: readonly Found[];
  /** Requests that were not inspected whole, with the reason. */
  readonly unknown: readonly string[];
  /** Kinds that are told once per engine process and were told of it, by whichever request came first. */
  readonly told: readonly string[];
}

export interface Found {
  readonly kind: string;
  readonly cause?: string;
  readonly severity: string;
  readonly field?: string;
  /** True for findings of the last request. */
  readonly last: boolean;
}

interface Rig {
  readonly engine: ScaleEngine;
  readonly family: ScaleFamily;
  readonly server: ScaleServer;
  readonly proxied: ProxiedEngine;
  sent: number;
}

async function openRig(engine: ScaleEngine, family: ScaleFamily, templateFile?: string): Promise<Rig> {
  const server = await engine.start(family, templateFile);
  return { engine, family, server, proxied: await proxy(server.url), sent: 0 };
}

async function closeRig({ server, proxied }: Rig): Promise<void> {
  await proxied.close();
  await server.stop();
}

interface Sent {
  readonly name: string;
  readonly cause?: string;
  readonly seed: number;
  readonly ids: readonly string[];
  readonly unknown: readonly string[];
}

/** Sends the requests in order, under ids that findings are told apart by. */
async function sendAll(
  rig: Rig,
  name: string,
  seed: number,
  requests: readonly PlannedRequest[],
): Promise<Sent> {
  const ids: string[] = [];
  const unknown: string[] = [];
  for (const { path, body } of requests.map((request) => rig.engine.adapt(request, rig.family))) {
    const id = `${name.replaceAll(' ', '-')}-${seed}-${ids.length}`;
    ids.push(id);
    const reply = await send(`${rig.proxied.url}${path}`, body, { headers: { 'x-request-id': id } });
    rig.sent += 1;
    if (reply.said.inspection !== 'ok') unknown.push(String(reply.said.inspection));
    if (reply.status !== 200) unknown.push(`status ${reply.status}`);
  }
  return { name, seed, ids, unknown };
}

/** Several at a time, as clients come; each conversation's own requests in order. */
async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = [...items.entries()];
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        results[next[0]] = await work(next[1]);
      }
    }),
  );
  return results;
}

async function judged(rig: Rig, all: readonly Sent[]): Promise<Judged[]> {
  await settled(rig.proxied, rig.sent);
  const lines = rig.proxied.lines.filter((line) => line['event'] === 'finding');
  const findings = lines as unknown as readonly (Found & { readonly requestId: string })[];
  const once = faults.filter(({ toldOnce }) => toldOnce === true).map(({ kind }) => kind);
  const told = once.filter((kind) => findings.some((found) => found.kind === kind));
  return all.map(({ name, cause, seed, ids, unknown }) => ({
    told,
    family: rig.family.name,
    name,
    ...(cause !== undefined && { cause }),
    seed,
    unknown,
    findings: ids.flatMap((id) =>
      findings
        .filter(({ requestId }) => requestId === id)
        .map((found) => ({ ...found, last: id === ids.at(-1) })),
    ),
  }));
}

/** @param seeds one per conversation */
export async function runClean(
  family: ScaleFamily,
  seeds: readonly number[],
  engine: ScaleEngine = engines['llama-server'],
): Promise<Judged[]> {
  const rig = await openRig(engine, family);
  try {
    const all = await inTurn(seeds, async (seed) => {
      const { shape, requests } = await cleanConversation(new Dice(seed), family, rig.server.questions);
      return sendAll(rig, shape, seed, requests);
    });
    return await judged(rig, all);
  } finally {
    await closeRig(rig);
  }
}

/** Each seed's fault is picked by the seed among those that fit the family and whose kind is known. */
export async function runFaulty(
  family: ScaleFamily,
  seeds: readonly number[],
  kinds: ReadonlySet<string>,
  engine: ScaleEngine = engines['llama-server'],
): Promise<Judged[]> {
  const fitting = faults.filter(
    (fault) => fault.fits(family) && kinds.has(fault.kind) && !isFaultless(fault, engine),
  );
  const planned = seeds.map((seed) => ({ seed, fault: new Dice(seed).pick(fitting) }));
  const results: Judged[] = [];
  for (const setUp of new Set(planned.map(({ fault }) => setUpOf(fault)))) {
    const some = planned.filter(({ fault }) => setUpOf(fault) === setUp);
    results.push(...(await runInjected(engine, family, some)));
  }
  return results;
}

function isFaultless({ kind, cause = '' }: Fault, { faultless }: ScaleEngine): boolean {
  return faultless.has(kind) || faultless.has(`${kind};${cause}`);
}

/** Faults of one set-up share an engine. */
function setUpOf({ templatePrefix, file }: Fault): Fault['templatePrefix'] | Fault['file'] {
  return file ?? templatePrefix;
}

async function runInjected(
  engine: ScaleEngine,
  family: ScaleFamily,
  planned: readonly { readonly seed: number; readonly fault: Fault }[],
): Promise<Judged[]> {
  const { templatePrefix, file } = planned[0]?.fault ?? {};
  const folder = await mkdtemp(join(tmpdir(), 'tokenweir-scale-'));
  let rig: Rig | undefined;
  try {
    const template = join(folder, 'template.jinja');
    if (templatePrefix !== undefined) await writeFile(template, templatePrefix + (await templateOf(family)));
    const served = file === undefined ? family : { ...family, file };
    rig = await openRig(engine, served, templatePrefix === undefined ? undefined : template);
    const opened = rig;
    const all = await inTurn(planned, async ({ seed, fault }) => {
      const requests = await fault.inject(new Dice(seed + 1), family, opened.server.questions);
      const { kind, cause } = fault;
      return { ...(await sendAll(opened, kind, seed, requests)), ...(cause !== undefined && { cause }) };
    });
    return await judged(opened, all);
  } finally {
    if (rig !== undefined) await closeRig(rig);
    await rm(folder, { recursive: true });
  }
}

async function templateOf(family: ScaleFamily): Promise<string> {
  const server = await startLlamaServer({ model: await family.file() });
  try {
    const props = (await (await fetch(`${server.url}/props`)).json()) as { chat_template: string };
    return props.chat_template;
  } finally {
    await server.stop();
  }
}
