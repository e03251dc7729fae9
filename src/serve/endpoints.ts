// The tables of endpoints: route, request and answer of each. The app, the OpenAPI document and /docs follow from them. A new
// endpoint is an entry here, and a function in answers.ts if a model computes its answer, else in live/live-routes.ts.

import { createRoute, type RouteConfig, type z } from '@hono/zod-openapi';
import * as http from './http-schema.js';
import * as live from './live/live-schema.js';
import * as refit from './live/refit-schema.js';

const problem = (description: string) => ({
  content: { 'application/problem+json': { schema: http.ProblemAnswer } },
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

const ADMIN = 'Needs an admin key if the server has keys.';

interface Declared<Params, Query, Body> {
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** A body, or the path with its query, as a client may send it. */
  readonly example: object | string;
  readonly answer: z.ZodType;
  /** What the answer holds. */
  readonly about: string;
  /** The status of a success. Default 200. */
  readonly status?: 200 | 202;
  /** Whether it needs an admin key if the server has keys. */
  readonly admin?: boolean;
}

type Inferred<S> = [S] extends [never] ? unknown : S extends z.ZodType ? z.infer<S> : unknown;

/** An interface, so that declarations name it instead of writing out the route's type. */
interface Endpoint<Request> extends RouteConfig {
  /** The type of a request, for the compiler alone: path, query and body in one object, or a body that is a list. */
  readonly takes?: Request;
}

function endpoint<
  Params extends z.ZodObject = never,
  Query extends z.ZodObject = never,
  Body extends z.ZodType = never,
>(
  at: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
  declared: Declared<Params, Query, Body>,
): Endpoint<Inferred<Params> & Inferred<Query> & Inferred<Body>> {
  const { summary, description, params, query, body, example, answer, about, status = 200, admin } = declared;
  const [method, path] = at.split(' ');
  return createRoute({
    method: method.toLowerCase(),
    path,
    summary,
    ...((description || admin) && { description: [description, admin && ADMIN].filter(Boolean).join(' ') }),
    // Applies if the server has keys.
    security: [{ key: [] }],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(body && { body: { content: { 'application/json': { schema: body, example } }, required: true } }),
    },
    responses: {
      [status]: { content: { 'application/json': { schema: answer } }, description: about },
      ...REFUSALS,
    },
    ...(typeof example === 'string' && { 'x-example': example }),
    ...(admin && { 'x-admin': true }),
  } as RouteConfig);
}

/** Endpoints whose answers a model computes, in a worker. */
export const MODEL_ENDPOINTS = {
  recommend: endpoint('POST /v1/recommend', {
    summary: 'Items for a user of the model or for a new user',
    body: http.RecommendRequest,
    example: { likes: ['112', '235'], n: 5, explain: true },
    answer: http.RecommendAnswer,
    about: 'The best items, best first.',
  }),
  recommendUser: endpoint('GET /v1/recommend', {
    summary: 'Items for a user, in short: as POST, without a body',
    query: http.RecommendQuery,
    example: '/v1/recommend?user=7&n=5',
    answer: http.RecommendAnswer,
    about: 'The best items, best first.',
  }),
  batch: endpoint('POST /v1/recommend/batch', {
    summary: 'Items for many users, with the same answers as one by one',
    body: http.BatchRequest,
    example: { requests: [{ user: '7', n: 5 }, { likes: ['112'] }] },
    answer: http.BatchAnswer,
    about: 'One answer for each request, in order.',
  }),
  rank: endpoint('POST /v1/rank', {
    summary: 'The client’s candidates, ranked for a user',
    body: http.RankRequest,
    example: { user: '7', candidates: ['112', '235', '4081'] },
    answer: http.RecommendAnswer,
    about: 'The candidates, best first.',
  }),
  explain: endpoint('POST /v1/explain', {
    summary: 'What contributes to the score of an item',
    body: http.ExplainRequest,
    example: { likes: ['112', '235'], item: '4081' },
    answer: http.ExplainAnswer,
    about: 'The score and its contributions.',
  }),
  similar: endpoint('GET /v1/items/{id}/similar', {
    summary: 'Items similar to an item',
    params: http.ItemPath,
    query: http.SimilarQuery,
    example: '/v1/items/42/similar?n=5',
    answer: http.SimilarAnswer,
    about: 'The most similar items first.',
  }),
  search: endpoint('GET /v1/items', {
    summary: 'Items whose id or title contains a text',
    query: http.SearchQuery,
    example: '/v1/items?search=matrix&n=5',
    answer: http.SearchAnswer,
    about: 'Popular items first.',
  }),
  popular: endpoint('GET /v1/popular', {
    summary: 'The items that most users have',
    query: http.PopularQuery,
    example: '/v1/popular?n=5',
    answer: http.PopularAnswer,
    about: 'The most popular items first.',
  }),
  features: endpoint('GET /v1/features', {
    summary: 'The features of the model',
    query: http.FeaturesQuery,
    example: '/v1/features?n=5',
    answer: http.FeaturesAnswer,
    about: 'The largest feature first.',
  }),
  feature: endpoint('GET /v1/features/{k}', {
    summary: 'One feature of the model',
    params: http.FeaturePath,
    query: http.FeaturesQuery,
    example: '/v1/features/1?n=5',
    answer: http.FeatureAnswer,
    about: 'The feature.',
  }),
} as const;

/** Endpoints that the server answers itself, without a worker. */
export const SERVER_ENDPOINTS = {
  models: endpoint('GET /v1/models', {
    summary: 'The current model, and the files that can replace it',
    example: '/v1/models',
    answer: http.ModelsAnswer,
    about: 'The current model.',
  }),
  swap: endpoint('PUT /v1/models/current', {
    summary: 'Load a model file, then answer from it',
    admin: true,
    description: 'The old model answers until the new one is ready, and no answer mixes the two.',
    body: http.ModelRequest,
    example: { file: 'new.safetensors' },
    answer: http.SwapAnswer,
    about: 'The new current model.',
  }),
  events: endpoint('POST /v1/events', {
    summary: 'Stores one event or many',
    description:
      'Needs a store. It answers when the events are on the disk; they count in the next answer. After a problem they may not be stored: send them again. Events with ids are never stored twice. An item that the model does not know counts from the next refit on; no answer reports it.',
    body: live.EventsRequest,
    example: [{ user: '7', item: '112', id: 'order-1-item-112' }],
    answer: live.EventsAnswer,
    about: 'The events are on the disk.',
    status: 202,
  }),
  putItem: endpoint('PUT /v1/items/{id}', {
    summary: 'Stores the title and attributes of an item, or hides it',
    description: 'Needs a store.',
    params: live.StoredItemPath,
    body: live.ItemBody,
    example: { title: 'The Hobbit', hidden: false },
    answer: live.ItemsAnswer,
    about: 'The item is on the disk.',
    admin: true,
  }),
  putItems: endpoint('POST /v1/items', {
    summary: 'Stores the titles and attributes of many items, or hides them',
    description: 'Needs a store.',
    body: live.ItemsRequest,
    example: [{ item: '112', hidden: true }],
    answer: live.ItemsAnswer,
    about: 'The items are on the disk.',
    admin: true,
  }),
  userEvents: endpoint('GET /v1/users/{id}/events', {
    summary: 'The events of a user',
    description: 'Needs a store.',
    params: live.UserPath,
    query: live.UserEventsQuery,
    example: '/v1/users/7/events?n=10',
    answer: live.UserEventsAnswer,
    about: 'The newest events first.',
    admin: true,
  }),
  eraseUser: endpoint('DELETE /v1/users/{id}', {
    summary: 'Erases all events of a user',
    description:
      'Needs a store. From then on the user is new to the current model. The model file holds what it learned until the next refit.',
    params: live.UserPath,
    example: '/v1/users/7',
    answer: live.ErasedAnswer,
    about: 'The events are erased.',
    admin: true,
  }),
  refit: endpoint('POST /v1/refit', {
    summary: 'Starts a refit',
    description: 'Needs a store or data. GET /v1/models says what became of it.',
    body: refit.RefitRequest,
    example: {},
    answer: refit.RefitAnswer,
    about: 'A refit is running.',
    status: 202,
    admin: true,
  }),
  status: endpoint('GET /v1/status', {
    summary: 'Model, queue, times, events and refits, as the page /admin shows them',
    example: '/v1/status',
    answer: refit.StatusAnswer,
    about: 'The state of the server.',
    admin: true,
  }),
  activate: endpoint('POST /v1/models/{name}/activate', {
    summary: 'Go back to an earlier model',
    params: refit.ModelPath,
    body: refit.RefitRequest,
    example: {},
    answer: http.SwapAnswer,
    about: 'The new current model.',
    admin: true,
  }),
} as const;

export const ENDPOINTS = { ...MODEL_ENDPOINTS, ...SERVER_ENDPOINTS };
export type Endpoints = typeof ENDPOINTS;

export type ServerEndpoint = keyof typeof SERVER_ENDPOINTS;
/** A request in short is a request as POST. */
export type ModelEndpoint = Exclude<keyof typeof MODEL_ENDPOINTS, 'recommendUser'>;

export type RequestOf<E extends keyof Endpoints> = NonNullable<Endpoints[E]['takes']>;
