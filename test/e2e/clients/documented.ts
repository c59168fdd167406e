// What docs/clients.md says that each client sends and gets: the blocks of its section, for tests to hold it to.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { expected } from '../../support/tested-engine.ts';

export interface DocumentedClient {
  /** Name and value, in the order in which the client sends them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: unknown;
  /** The error's message; the page has it as llama-server makes it. */
  readonly rejection: string;
}

/** @param client the section's heading */
export function documented(client: string): DocumentedClient {
  const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');
  const section = page.split('\n## ').find((text) => text.startsWith(`${client}\n`));
  assert.ok(section, `docs/clients.md has no section ${client}`);
  const block = (language: string): string => {
    const text = new RegExp('```' + language + '\\n([^]*?)\\n```').exec(section)?.[1];
    return text ?? assert.fail(`docs/clients.md, ${client}: no ${language} block`);
  };
  return {
    headers: block('http')
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
    body: JSON.parse(block('json')),
    rejection: block('text').replace(/send token ids\.$/, `send ${expected.withoutAddedBos}.`),
  };
}
