/** The inference server: where it is, how it is reached and what it is. */
import { parseUpstreamUrl } from '../addresses.ts';
import { flag, oneOf, section, text } from '../value-types.ts';

/** `auto` asks the upstream what it is; the others say it. */
const engineKinds = ['auto', 'llama-server', 'vllm'] as const;

const httpUrl = text(
  'http://HOST:PORT[/BASE], https://HOST:PORT[/BASE] or unix:/PATH.sock[:/BASE], without credentials, query or fragment',
  (value) => parseUpstreamUrl(value) !== undefined,
);

export const upstream = section({
  url: httpUrl
    .exactOptional()
    .describe('The inference server. A base path is put in front of every path. `serve` needs it.'),
  apiKey: text('the API key as text; quote one that is all digits')
    .exactOptional()
    .describe("Key for tokenweir's own calls to the engine, used only where the client sent no credentials."),
  injectApiKey: flag()
    .default(false)
    .describe('Add `apiKey` to forwarded requests that carry no credentials.'),
  ca: text('the path of a PEM file')
    .exactOptional()
    .describe('PEM file with the certificate authorities to trust for an https upstream.'),
  insecureTls: flag()
    .default(false)
    .describe('Accept any certificate from the upstream. Only for a network that you own.'),
}).prefault({});

export const engine = section({
  kind: oneOf(engineKinds)
    .default('auto')
    .describe(
      'Which engine the upstream is; `auto` asks it. An engine that is not recognised is passed through.',
    ),
  requestIds: flag()
    .default(false)
    .describe(
      "Ask the engine for the ids of each prompt and reply, by a field added to the client's request, and take them out of the reply again. vLLM only.",
    ),
}).prefault({});
