// One port for several vLLMs, as operators have it: each question goes to the engine that serves its `model`, and the models
// of all are listed.
import { text as textOf } from 'node:stream/consumers';
import { localServer, type LocalServer } from '../local-server.ts';

/** @param engines URLs by the model's name; the first answers what names no model */
export function routerTo(engines: Readonly<Record<string, string>>): Promise<LocalServer> {
  const [first = ''] = Object.values(engines);
  return localServer((request, response) => {
    void (async () => {
      const path = request.url ?? '/';
      const body = await textOf(request);
      const asked = body === '' ? {} : (JSON.parse(body) as { model?: string });
      const method = request.method ?? 'GET';
      const headers = { 'content-type': 'application/json' };
      const ask = (engine: string) =>
        fetch(engine + path, { method, ...(method === 'POST' && { body, headers }) });
      if (path === '/v1/models') {
        const lists = await Promise.all(Object.values(engines).map(ask));
        const all = (await Promise.all(lists.map((list) => list.json()))) as { data: object[] }[];
        response.end(JSON.stringify({ object: 'list', data: all.flatMap(({ data }) => data) }));
        return;
      }
      const reply = await ask(asked.model === undefined ? first : (engines[asked.model] ?? first));
      response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
      response.end(await reply.text());
    })();
  });
}
