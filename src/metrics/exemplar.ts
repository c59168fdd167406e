/** Exemplars: which request moved a metric. An id that came from outside is used only if it can't break the scrape. */
import type { ExemplarLabels } from './instruments.ts';
import type { RequestIds } from './meter-type.ts';

/** Request ids may be the client's own `x-request-id`; OpenMetrics allows 128 characters for all names and values. */
const plainRequestId = /^[\w.:@/+-]{1,64}$/;
const traceIdShape = /^[0-9a-f]{32}$/;

export function exemplarOf(request: RequestIds | undefined): ExemplarLabels | undefined {
  if (request === undefined) return undefined;
  const labels = {
    ...(plainRequestId.test(request.id) && { request_id: request.id }),
    ...(request.traceId !== undefined && traceIdShape.test(request.traceId) && { trace_id: request.traceId }),
  };
  return Object.keys(labels).length === 0 ? undefined : labels;
}
