/** What the transport measures about itself; the composition root binds it to the metrics catalogue. */
import type { RouteKind } from '../exchange/request/route.ts';

export interface TransportMeter {
  /** Bytes of request bodies held now, over all requests. */
  heldBytes(bytes: number): void;
  /** Requests being carried now, WebSockets left out. */
  inFlight(requests: number): void;
  /** From the request's head to the first byte of the engine's reply body, generation routes only. */
  timeToFirstByte(route: RouteKind, seconds: number): void;
}
