// Every endpoint, declared once: method, path, what it takes and gives. The app, the OpenAPI document and the page that
// describes it all follow from these.

import { createRoute, type z } from '@hono/zod-openapi';
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
  ListQuery,
  ModelInfo,
  ModelRequest,
  ModelsAnswer,
  PopularAnswer,
  ProblemAnswer,
  RankRequest,
  RecommendAnswer,
  RecommendRequest,
  SearchAnswer,
  SearchQuery,
  SimilarAnswer,
} from './schema.js';

const json = <Schema extends z.ZodType>(schema: Schema) => ({ 'application/json': { schema } });
const problem = (description: string) => ({
  content: { 'application/problem+json': { schema: ProblemAnswer } },
  description,
});

/** What any endpoint may answer besides what was asked for. */
const REFUSALS = {
  400: problem('The request is wrong; `field` names where.'),
  401: problem('A key is needed, or the one sent is not known.'),
  404: problem('A user, an item or a feature that the model does not know.'),
  413: problem('The body is too large.'),
  415: problem('The body is not JSON.'),
  422: problem('The model cannot answer that.'),
  429: problem('Too many requests from one client; `Retry-After` says when to come back.'),
  503: problem(
    'Busy, late, stopping or without a model; `Retry-After`, where there is one, says when to come back.',
  ),
};

/** Where a server has keys. */
const security = [{ key: [] }];

const post = <Body extends z.ZodType, Answer extends z.ZodType>(
  path: string,
  summary: string,
  body: Body,
  answer: Answer,
) =>
  createRoute({
    method: 'post',
    path,
    summary,
    security,
    request: { body: { content: json(body), required: true } },
    responses: { 200: { content: json(answer), description: 'The answer.' }, ...REFUSALS },
  });

export const ROUTES = {
  recommend: post('/v1/recommend', 'Items for a known or a new user', RecommendRequest, RecommendAnswer),
  batch: post(
    '/v1/recommend/batch',
    'Items for many users; the same answers as one by one',
    BatchRequest,
    BatchAnswer,
  ),
  rank: post('/v1/rank', 'Your candidates, put in order', RankRequest, RecommendAnswer),
  explain: post('/v1/explain', 'Why a score is what it is', ExplainRequest, ExplainAnswer),
  similar: createRoute({
    method: 'get',
    path: '/v1/items/{id}/similar',
    summary: 'Items like this one',
    security,
    request: { params: ItemPath, query: ListQuery },
    responses: { 200: { content: json(SimilarAnswer), description: 'Most similar first.' }, ...REFUSALS },
  }),
  search: createRoute({
    method: 'get',
    path: '/v1/items',
    summary: 'Items whose id or title contains a text',
    security,
    request: { query: SearchQuery },
    responses: { 200: { content: json(SearchAnswer), description: 'Popular ones first.' }, ...REFUSALS },
  }),
  popular: createRoute({
    method: 'get',
    path: '/v1/popular',
    summary: 'The items that most users have',
    security,
    request: { query: ListQuery },
    responses: { 200: { content: json(PopularAnswer), description: 'Most popular first.' }, ...REFUSALS },
  }),
  features: createRoute({
    method: 'get',
    path: '/v1/features',
    summary: 'What the model found',
    security,
    request: { query: FeaturesQuery },
    responses: { 200: { content: json(FeaturesAnswer), description: 'Largest feature first.' }, ...REFUSALS },
  }),
  feature: createRoute({
    method: 'get',
    path: '/v1/features/{k}',
    summary: 'One feature',
    security,
    request: { params: FeaturePath, query: FeaturesQuery },
    responses: { 200: { content: json(FeatureAnswer), description: 'Its items and users.' }, ...REFUSALS },
  }),
  models: createRoute({
    method: 'get',
    path: '/v1/models',
    summary: 'The model that answers, and the files that could',
    security,
    responses: { 200: { content: json(ModelsAnswer), description: 'The current model.' }, ...REFUSALS },
  }),
  swap: createRoute({
    method: 'put',
    path: '/v1/models/current',
    summary: 'Load a model beside the current one, then let it answer',
    description:
      'Needs a key marked admin where the server has keys. No request is lost, and none sees both models.',
    security,
    request: { body: { content: json(ModelRequest), required: true } },
    responses: {
      200: { content: json(ModelInfo), description: 'The model that answers from now on.' },
      403: problem('The key is not marked admin.'),
      ...REFUSALS,
    },
  }),
} as const;
