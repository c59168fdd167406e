/** A JSON reply; `T` is what the test expects, not checked: a wrong shape fails in the assertion on it. */
export interface JsonReply<T> {
  status: number;
  headers: Headers;
  body: T;
}

/**
 * Posts `body` as JSON and reads a JSON reply, of any status.
 * @throws SyntaxError if the reply is not JSON
 */
export async function postJson<T>(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonReply<T>> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as T };
}
