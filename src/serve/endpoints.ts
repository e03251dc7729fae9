// The table of endpoints: route, request and answer of each. The app, the OpenAPI document and /docs follow from it. A new
// endpoint is an entry here and, if a model computes its answer, a function in answers.ts.

import { createRoute, type RouteConfig, type z } from '@hono/zod-openapi';
import {
  BatchAnswer,
  BatchRequest,
  ExplainAnswer,
  ExplainRequest,
  FeatureAnswer,
  FeaturePath,
  FeaturesAnswer,
  FeaturesQuery,
  ItemPath,
  ModelInfo,
  ModelRequest,
  ModelsAnswer,
  PopularAnswer,
  PopularQuery,
  ProblemAnswer,
  RankRequest,
  RecommendAnswer,
  RecommendRequest,
  SearchAnswer,
  SearchQuery,
  SimilarAnswer,
  SimilarQuery,
} from './http-schema.js';

const problem = (description: string) => ({
  content: { 'application/problem+json': { schema: ProblemAnswer } },
  description,
});

/** Problems that any endpoint may answer with. */
const REFUSALS = {
  400: problem('The request is wrong; `field` names the field.'),
  401: problem('A key is missing or unknown.'),
  403: problem('The key is not marked admin.'),
  404: problem('The model does not know a user, an item or a feature.'),
  413: problem('The body is too large.'),
  415: problem('The body is not JSON.'),
  422: problem('The model cannot answer this, or the answer would be too large.'),
  429: problem('Too many requests from one client; `Retry-After` says how many seconds to wait.'),
  503: problem(
    'The server is overloaded, too slow for the deadline, stopping, or without a model; see `Retry-After`.',
  ),
};

interface Declared<Params, Query, Body, Answer> {
  readonly method: 'get' | 'post' | 'put';
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** A body, or the path with its query, as a client may send it. */
  readonly example: object | string;
  readonly answer: Answer;
  /** What the answer holds. */
  readonly about: string;
}

function endpoint<
  Params extends z.ZodObject = never,
  Query extends z.ZodObject = never,
  Body extends z.ZodType = never,
  Answer extends z.ZodType = never,
>({ method, path, summary, ...more }: Declared<Params, Query, Body, Answer>): Endpoint<Params, Query, Body> {
  const { params, query, body, example, answer, about } = more;
  return createRoute({
    method,
    path,
    summary,
    ...(more.description && { description: more.description }),
    // Applies if the server has keys.
    security: [{ key: [] }],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(body && {
        body: { content: { 'application/json': { schema: body, example } }, required: true },
      }),
    },
    responses: {
      200: { content: { 'application/json': { schema: answer } }, description: about },
      ...REFUSALS,
    },
    ...(typeof example === 'string' && { 'x-example': example }),
  } as RouteConfig);
}

/** The types of a request, for the compiler alone. */
interface Typed<Params, Query, Body> {
  readonly types?: { readonly params: Params; readonly query: Query; readonly body: Body };
}

/** An interface, so that declarations name it instead of writing out the route's type. */
export interface Endpoint<Params, Query, Body> extends RouteConfig, Typed<Params, Query, Body> {}

export const ENDPOINTS = {
  recommend: endpoint({
    method: 'post',
    path: '/v1/recommend',
    summary: 'Items for a user of the model or for a new user',
    body: RecommendRequest,
    example: { likes: ['112', '235'], n: 5, explain: true },
    answer: RecommendAnswer,
    about: 'The best items, best first.',
  }),
  batch: endpoint({
    method: 'post',
    path: '/v1/recommend/batch',
    summary: 'Items for many users, with the same answers as one by one',
    body: BatchRequest,
    example: { requests: [{ user: '7', n: 5 }, { likes: ['112'] }] },
    answer: BatchAnswer,
    about: 'One answer for each request, in order.',
  }),
  rank: endpoint({
    method: 'post',
    path: '/v1/rank',
    summary: 'The client’s candidates, ranked for a user',
    body: RankRequest,
    example: { user: '7', candidates: ['112', '235', '4081'] },
    answer: RecommendAnswer,
    about: 'The candidates, best first.',
  }),
  explain: endpoint({
    method: 'post',
    path: '/v1/explain',
    summary: 'What contributes to the score of an item',
    body: ExplainRequest,
    example: { likes: ['112', '235'], item: '4081' },
    answer: ExplainAnswer,
    about: 'The score and its contributions.',
  }),
  similar: endpoint({
    method: 'get',
    path: '/v1/items/{id}/similar',
    summary: 'Items similar to an item',
    params: ItemPath,
    query: SimilarQuery,
    example: '/v1/items/42/similar?n=5',
    answer: SimilarAnswer,
    about: 'The most similar items first.',
  }),
  search: endpoint({
    method: 'get',
    path: '/v1/items',
    summary: 'Items whose id or title contains a text',
    query: SearchQuery,
    example: '/v1/items?search=matrix&n=5',
    answer: SearchAnswer,
    about: 'Popular items first.',
  }),
  popular: endpoint({
    method: 'get',
    path: '/v1/popular',
    summary: 'The items that most users have',
    query: PopularQuery,
    example: '/v1/popular?n=5',
    answer: PopularAnswer,
    about: 'The most popular items first.',
  }),
  features: endpoint({
    method: 'get',
    path: '/v1/features',
    summary: 'The features of the model',
    query: FeaturesQuery,
    example: '/v1/features?n=5',
    answer: FeaturesAnswer,
    about: 'The largest feature first.',
  }),
  feature: endpoint({
    method: 'get',
    path: '/v1/features/{k}',
    summary: 'One feature of the model',
    params: FeaturePath,
    query: FeaturesQuery,
    example: '/v1/features/1?n=5',
    answer: FeatureAnswer,
    about: 'The feature.',
  }),
  models: endpoint({
    method: 'get',
    path: '/v1/models',
    summary: 'The current model, and the files that can replace it',
    example: '/v1/models',
    answer: ModelsAnswer,
    about: 'The current model.',
  }),
  swap: endpoint({
    method: 'put',
    path: '/v1/models/current',
    summary: 'Load a model file, then answer from it',
    description:
      'Needs an admin key if the server has keys. The old model answers until the new one is ready, and no answer mixes the two.',
    body: ModelRequest,
    example: { file: 'new.safetensors' },
    answer: ModelInfo,
    about: 'The new current model.',
  }),
} as const;

type Endpoints = typeof ENDPOINTS;

/** Endpoints whose answers a model computes, in a worker. */
export type ModelEndpoint = Exclude<keyof Endpoints, 'models' | 'swap'>;

type Inferred<S> = [S] extends [never] ? unknown : S extends z.ZodType ? z.infer<S> : unknown;
type TypesOf<E extends keyof Endpoints> = NonNullable<Endpoints[E]['types']>;

/** The request of an endpoint: path, query and body in one object. */
export type RequestOf<E extends keyof Endpoints> = Inferred<TypesOf<E>['params']> &
  Inferred<TypesOf<E>['query']> &
  Inferred<TypesOf<E>['body']>;

/** Paths that need no key: they reveal nothing of the model or its users. */
export const OPEN_PATHS: ReadonlySet<string> = new Set([
  '/health/live',
  '/health/ready',
  '/openapi.json',
  '/docs',
]);

const ROUTES = Object.values(ENDPOINTS).map(({ method, path }) => ({
  method: method.toUpperCase(),
  name: path.replace(/\{(\w+)\}/g, ':$1'),
  segments: path.split('/'),
}));

function routesAt(path: string): typeof ROUTES {
  const given = path.split('/');
  return ROUTES.filter(
    ({ segments }) =>
      segments.length === given.length &&
      segments.every((segment, i) => segment.startsWith('{') || segment === given[i]),
  );
}

/** The route at a path, as logs and metrics name it: /v1/items/:id/similar. */
export function routeOf(path: string): string | undefined {
  if (OPEN_PATHS.has(path) || path === '/metrics') return path;
  return routesAt(path)[0]?.name;
}

/** The methods that the endpoints at a path take. */
export function methodsAt(path: string): string[] {
  return [...new Set(routesAt(path).map(({ method }) => method))];
}
