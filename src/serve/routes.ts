// Which endpoint a path belongs to, for keys, logs and metrics.

import { ENDPOINTS, type Endpoints } from './endpoints.js';

/** Paths that are no endpoints of the OpenAPI document. */
const OTHER_PATHS = new Set([
  '/health/live',
  '/health/ready',
  '/openapi.json',
  '/docs',
  '/admin',
  '/metrics',
]);

const ROUTES = Object.entries(ENDPOINTS).map(([endpoint, { method, path, ...route }]) => ({
  endpoint: endpoint as keyof Endpoints,
  method: method.toUpperCase(),
  name: path.replace(/\{(\w+)\}/g, ':$1'),
  segments: path.split('/'),
  admin: 'x-admin' in route,
}));

function routesAt(path: string): typeof ROUTES {
  const given = path.split('/');
  return ROUTES.filter(
    ({ segments }) =>
      segments.length === given.length &&
      segments.every((segment, i) => (segment.startsWith('{') ? given[i] !== '' : segment === given[i])),
  );
}

/** The endpoint at a path, and whether it needs an admin key. HEAD is answered like GET. */
export function endpointAt(path: string, method: string) {
  const asked = method === 'HEAD' ? 'GET' : method;
  return routesAt(path).find((route) => route.method === asked);
}

/** The route at a path, as logs and metrics name it: /v1/items/:id/similar. */
export function routeOf(path: string): string | undefined {
  return OTHER_PATHS.has(path) ? path : routesAt(path)[0]?.name;
}

/** A path or a query without percent-encoding; undefined if it is not UTF-8. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The methods that the endpoints at a path take. */
export function methodsAt(path: string): string[] {
  return [...new Set(routesAt(path).map(({ method }) => method))];
}
