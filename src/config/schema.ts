/**
 * Every configuration key: its type, default and description, once, here and in `sections/`. The JSON schema, the option
 * tables in docs/configuration.md, the environment names and the error messages are read off this. It must not do I/O.
 */
import { z } from 'zod';
import { parseListenAddress } from './addresses.ts';
import { detectors } from './sections/detectors.ts';
import { inspection } from './sections/inspection.ts';
import { clients, models } from './sections/known-parties.ts';
import { limits, sessions } from './sections/limits.ts';
import { engine, upstream } from './sections/upstream.ts';
import { flag, oneOf, ratio, section, text, wholeNumber } from './value-types.ts';

const modes = ['observe', 'strict'] as const;

const listenAddress = text(
  'HOST:PORT, such as 127.0.0.1:9930, 0.0.0.0:9930 or [::1]:9930',
  (value) => parseListenAddress(value) !== undefined,
);

export const configSchema = section({
  upstream,
  engine,
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
  inspection,
  detectors,
  policies: section({
    maxRejectedRatio: ratio()
      .default(0.5)
      .describe('Share of rejected requests in a window above which blocking stops and an alert is raised.'),
    windowRequests: wholeNumber(10, 1_000_000, 'requests')
      .default(100)
      .describe('Length of that window; nothing is switched off before it is full.'),
  }).prefault({}),
  clients,
  models,
  limits,
  sessions,
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
