/** How long a request waits for its inspection, what becomes of it if that fails, and which are not inspected. */
import { z } from 'zod';
import { routeKinds, type RouteKind } from '../../exchange/request/route.ts';
import { oneOf, section, text, wholeNumber } from '../value-types.ts';

const DAY_MS = 86_400_000;

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

export const inspection = section({
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
}).prefault({});
