/** What a path of the engine means. Closed set: the value is a metric label. `pass` generates nothing. */
export const routeKinds = ['chat', 'completion', 'messages', 'responses', 'infill', 'pass'] as const;
export type RouteKind = (typeof routeKinds)[number];

export interface Route {
  readonly kind: RouteKind;
  /** False for generation routes that are carried by our own sender but not read yet. */
  readonly inspected: boolean;
  /** Which error envelope and reply shape the route speaks. */
  readonly dialect: 'openai' | 'native' | 'anthropic' | 'responses';
}

export const passRoute: Route = { kind: 'pass', inspected: false, dialect: 'native' };
