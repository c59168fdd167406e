/** What the operator knows and the engine can't tell: names for clients, kinds of models. */
import { z } from 'zod';
import { oneOf, section, text } from '../value-types.ts';

const headerName = text('an HTTP header name', (value) => /^[\w!#$%&'*+.^`|~-]+$/.test(value));
const sha256Hex = text('a SHA-256 digest: 64 lower-case hexadecimal digits', (value) =>
  /^[0-9a-f]{64}$/.test(value),
);
// The name becomes a metric label value.
const clientName = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, {
  error: '1 to 64 letters, digits, dots, dashes or underscores',
});

const client = section({
  header: section({
    name: headerName.describe('Header that the client sends.'),
    value: text('the value of the header')
      .exactOptional()
      .describe('Value that it must have; any value if left out.'),
  })
    .exactOptional()
    .describe('Recognise the client by a request header.'),
  keyHash: sha256Hex
    .exactOptional()
    .describe(
      'Recognise the client by the SHA-256 digest (hexadecimal) of its API key: `printf %s KEY | sha256sum`.',
    ),
}).refine((entry) => Object.keys(entry).length > 0, {
  error: 'at least one of the keys "header" and "keyHash"',
});

const model = section({
  kind: oneOf(['instruct', 'base']).describe('`base` models are fed raw text on purpose.'),
});

export const clients = z
  .record(clientName, client, { error: 'a mapping of client names' })
  .default({})
  .describe('Names for clients, for metrics and findings. Each has a `header`, a `keyHash` or both.');

export const models = z
  .record(z.string(), model, { error: 'a mapping of model names' })
  .default({})
  .describe("What you know about models, by the engine's name: `kind` is `instruct` or `base`.");
