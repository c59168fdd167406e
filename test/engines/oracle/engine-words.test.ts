// What is kept of an engine's refusal: its reason, and nothing of the request.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { engineWords } from '../../../src/engines/oracle/engine-words.ts';
import type { Json } from '../../../src/exchange/request/request.ts';

const trace = (head: string, said: string): string =>
  `${head}\n------------\nWhile executing CallExpression at line 19, column 27 in source:\n...% 2 == 0) -%}↵        {{ raise_exception("Conv...\n                    ^\nError: ${said}`;

// Of llama-server b11669 and vLLM 0.32, but for the pages.
const answers: readonly (readonly [string, Json | undefined, string | undefined])[] = [
  [
    'a template that raises',
    { error: { message: trace('Unable to generate parser for this template.', 'Jinja Exception: No.') } },
    'Jinja Exception: No.',
  ],
  [
    'the same without a head',
    { error: { message: trace('', 'Jinja Exception: No.') } },
    'Jinja Exception: No.',
  ],
  [
    'a rule of the engine',
    { error: { message: "All non-assistant messages must contain 'content'" } },
    "All non-assistant messages must contain 'content'",
  ],
  [
    'an empty list in the words',
    { error: { message: 'unsupported content[].type' } },
    'unsupported content[].type',
  ],
  [
    'a message that is quoted',
    { error: { message: 'Failed to parse messages: Missing \'role\' in message: {"content":"secret"}' } },
    "Failed to parse messages: Missing 'role' in message",
  ],
  [
    'all messages quoted',
    { error: { message: 'Failed to parse messages: No role; messages = [\n  {"content": "secret"}]' } },
    'Failed to parse messages: No role',
  ],
  [
    'JSON that is none',
    { error: { message: 'Bad arguments: parse error: invalid literal; last read: \'"secret": no\'' } },
    'Bad arguments: parse error: invalid literal',
  ],
  ['a text for an error', { error: 'no such thing' }, 'no such thing'],
  ['a detail', { detail: 'Method Not Allowed' }, 'Method Not Allowed'],
  ['details about the input', { detail: [{ msg: 'Field required', input: 'secret' }] }, undefined],
  ['nothing', undefined, undefined],
  ['an answer', { tokens: [1, 2] }, undefined],
  ['very many words', { error: { message: 'x '.repeat(500) } }, `${'x '.repeat(150)}…`],
];

describe("an engine's words of why it refuses", () => {
  for (const [name, answer, words] of answers) {
    it(`${name}: ${words === undefined ? 'none' : words.slice(0, 40)}`, () => {
      assert.equal(engineWords(answer), words);
    });
  }
});
