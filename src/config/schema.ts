/**
 * Every configuration key: its type, default and description, once. The JSON schema, the option tables in
 * docs/configuration.md, the environment names and the error messages are read off this. It must not do I/O.
 */
import { z } from 'zod';
import { severities, type FindingKind } from '../exchange/finding.ts';
import type { Action } from '../exchange/exchange.ts';
import { routeKinds, type RouteKind } from '../exchange/route.ts';
import { parseListenAddress, parseUpstreamUrl } from './addresses.ts';
import { actionsFor } from './detector-actions.ts';
import { byteSize, flag, oneOf, ratio, section, text, wholeNumber } from './value-types.ts';

const modes = ['observe', 'strict'] as const;
/** `auto` asks the upstream what it is; the others say it. */
const engineKinds = ['auto', 'llama-server', 'vllm'] as const;

const KiB = 1024;
const MiB = 1024 * KiB;
const DAY_MS = 86_400_000;

const httpUrl = text(
  'http://HOST:PORT[/BASE], https://HOST:PORT[/BASE] or unix:/PATH.sock[:/BASE], without credentials, query or fragment',
  (value) => parseUpstreamUrl(value) !== undefined,
);
const listenAddress = text(
  'HOST:PORT, such as 127.0.0.1:9930, 0.0.0.0:9930 or [::1]:9930',
  (value) => parseListenAddress(value) !== undefined,
);
const headerName = text('an HTTP header name', (value) => /^[\w!#$%&'*+.^`|~-]+$/.test(value));
const sha256Hex = text('a SHA-256 digest: 64 lower-case hexadecimal digits', (value) =>
  /^[0-9a-f]{64}$/.test(value),
);
// The name becomes a metric label value.
const clientName = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, {
  error: '1 to 64 letters, digits, dots, dashes or underscores',
});
const inspectableRoutes = routeKinds.filter((kind) => kind !== 'pass') as [Exclude<RouteKind, 'pass'>];

const exemption = section({
  route: oneOf(inspectableRoutes).exactOptional().describe('Requests on this kind of route.'),
  client: text('the name of a client under "clients"').exactOptional().describe('Requests of this client.'),
  model: text("a model name as in the engine's own list")
    .exactOptional()
    .describe('Requests for this model.'),
}).refine((entry) => Object.keys(entry).length > 0, {
  error: 'at least one of the keys "route", "client" and "model"',
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

function detector(kind: FindingKind) {
  return section({
    action: oneOf(actionsFor(kind) as [Action])
      .exactOptional()
      .describe('What strict mode does with an exchange that has this finding. Observe mode always passes.'),
    severity: oneOf(severities)
      .exactOptional()
      .describe("Replaces the detector's own severity; findings that it reports as `info` stay `info`."),
  });
}

export const configSchema = section({
  upstream: section({
    url: httpUrl
      .exactOptional()
      .describe('The inference server. A base path is put in front of every path. `serve` needs it.'),
    apiKey: text('the API key as text; quote one that is all digits')
      .exactOptional()
      .describe(
        "Key for tokenweir's own calls to the engine, used only where the client sent no credentials.",
      ),
    injectApiKey: flag()
      .default(false)
      .describe('Add `apiKey` to forwarded requests that carry no credentials.'),
    ca: text('the path of a PEM file')
      .exactOptional()
      .describe('PEM file with the certificate authorities to trust for an https upstream.'),
    insecureTls: flag()
      .default(false)
      .describe('Accept any certificate from the upstream. Only for a network that you own.'),
  }).prefault({}),
  engine: section({
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
  }).prefault({}),
  listen: listenAddress.default('127.0.0.1:9930').describe('Where clients connect.'),
  admin: section({
    listen: listenAddress
      .default('127.0.0.1:9939')
      .describe('Where metrics, health and the inspector page are served.'),
    token: text('the token as text; quote one that is all digits')
      .exactOptional()
      .describe('Bearer token for the findings, sessions and configuration pages. Needed off loopback.'),
    allowedHosts: z
      .array(text('a host name'), { error: 'a list of host names' })
      .default([])
      .describe(
        "`Host` header values to accept beside localhost, loopback addresses and the listener's own.",
      ),
  }).prefault({}),
  mode: oneOf(modes)
    .default('observe')
    .describe('`observe` never changes or blocks a request. `strict` applies the detectors’ actions.'),
  inspection: section({
    timing: oneOf(['before', 'alongside'])
      .default('before')
      .describe('Inspect before forwarding, within `budgetMs`, or forward at once and inspect in parallel.'),
    budgetMs: wholeNumber(0, DAY_MS, 'milliseconds')
      .default(100)
      .describe('How long a request may wait for its inspection; then it is forwarded and counted as late.'),
    blockingMs: wholeNumber(1, DAY_MS, 'milliseconds')
      .default(2000)
      .describe(
        'How long a request may wait for a detector that can block it, or for a repair, in strict mode.',
      ),
    onUnknown: oneOf(['forward', 'reject'])
      .default('forward')
      .describe('What to do where a blocking detector lacked what it needs. `reject` answers 503.'),
    exempt: z
      .array(exemption, { error: 'a list of mappings with the keys "route", "client" and "model"' })
      .default([])
      .describe('Requests that are not inspected: those that match every key of an entry.'),
  }).prefault({}),
  detectors: section({
    'context-overflow': detector('context-overflow').prefault({}),
    'control-token-in-content': detector('control-token-in-content').prefault({}),
    'count-mismatch': detector('count-mismatch').prefault({}),
    'double-bos': detector('double-bos')
      .safeExtend({
        rejectWhen: oneOf(['client', 'always'])
          .default('client')
          .describe('Block only what the client did, or a doubled BOS of the template or the engine too.'),
      })
      .prefault({}),
    'missing-bos': detector('missing-bos').prefault({}),
    'missing-generation-prompt': detector('missing-generation-prompt').prefault({}),
    'nested-template': detector('nested-template').prefault({}),
    'output-truncated': detector('output-truncated').prefault({}),
    'parameter-ignored': detector('parameter-ignored').prefault({}),
    'prefix-break': detector('prefix-break')
      .safeExtend({
        attributionLine: oneOf(['keep', 'freeze', 'cut'])
          .default('keep')
          .describe(
            "What strict mode does with a client's attribution line: `freeze` it as the conversation began with it, or `cut` it.",
          ),
      })
      .prefault({}),
    'prompt-truncated': detector('prompt-truncated').prefault({}),
    'raw-prompt': detector('raw-prompt').prefault({}),
    'runaway-reply': detector('runaway-reply').prefault({}),
    'trailing-assistant': detector('trailing-assistant').prefault({}),
    'unwanted-bos': detector('unwanted-bos').prefault({}),
  } satisfies Record<FindingKind, z.ZodType>).prefault({}),
  policies: section({
    maxRejectedRatio: ratio()
      .default(0.5)
      .describe('Share of rejected requests in a window above which blocking stops and an alert is raised.'),
    windowRequests: wholeNumber(10, 1_000_000, 'requests')
      .default(100)
      .describe('Length of that window; nothing is switched off before it is full.'),
  }).prefault({}),
  clients: z
    .record(clientName, client, { error: 'a mapping of client names' })
    .default({})
    .describe('Names for clients, for metrics and findings. Each has a `header`, a `keyHash` or both.'),
  models: z
    .record(z.string(), model, { error: 'a mapping of model names' })
    .default({})
    .describe("What you know about models, by the engine's name: `kind` is `instruct` or `base`."),
  limits: section({
    requestBytes: byteSize(KiB)
      .prefault('64MiB')
      .describe('Largest request body that is held for inspection. Larger ones are forwarded uninspected.'),
    heldBytesTotal: byteSize(KiB)
      .prefault('512MiB')
      .describe('Request bytes held at once over all requests. Beyond it bodies are forwarded uninspected.'),
    retainedBytes: byteSize(KiB)
      .prefault('256KiB')
      .describe('Reply bytes kept per exchange to read counts from. Replies always pass whole.'),
    workerBytes: byteSize(KiB)
      .prefault('1MiB')
      .describe('Bodies above this size are parsed in a worker thread.'),
    oracleConcurrency: wholeNumber(1, 1024)
      .default(4)
      .describe("How many of tokenweir's own calls to the engine may run at once."),
    oracleTimeoutMs: wholeNumber(1, DAY_MS, 'milliseconds')
      .default(10_000)
      .describe('Deadline of one such call.'),
    segmentCacheBytes: byteSize(MiB).prefault('128MiB').describe('Memory for tokenized segments of prompts.'),
    modelLabels: wholeNumber(1, 10_000)
      .default(50)
      .describe('Model names that get a metric label of their own; the rest share one.'),
    findingsKept: wholeNumber(1, 100_000).default(500).describe('Newest findings that the admin port shows.'),
  }).prefault({}),
  sessions: section({
    maxBytes: byteSize(MiB).prefault('256MiB').describe('Memory for the token ids of remembered turns.'),
    ttlSeconds: wholeNumber(1, 31_536_000, 'seconds')
      .default(3600)
      .describe('How long an idle session is remembered.'),
    heads: wholeNumber(1, 64).default(4).describe('Live branches kept per session.'),
  }).prefault({}),
  privacy: section({
    showText: flag()
      .default(false)
      .describe('Show prompt text in findings and on the inspector page. Off: ordinary tokens are masked.'),
  }).prefault({}),
  headers: section({
    findings: flag().default(true).describe('Name the findings in the response header `tokenweir-findings`.'),
  }).prefault({}),
  log: section({
    level: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
      .default('info')
      .describe('Least severe log lines to write.'),
    foldSeconds: wholeNumber(0, 86_400, 'seconds')
      .default(60)
      .describe('Equal findings of one client within this time are one log line with a count.'),
  }).prefault({}),
  drain: section({
    timeoutSeconds: wholeNumber(0, 86_400, 'seconds')
      .default(30)
      .describe('How long running requests may take to finish after SIGTERM.'),
  }).prefault({}),
});

type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** The effective configuration: every default filled in, sizes in bytes. Never changed in place. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;
