// The schemas of requests and answers: checked on arrival, written into the OpenAPI document, known to TypeScript.

import { z } from '@hono/zod-openapi';
import { MAX_COUNT } from '../graph/build.js';
import { DESCRIBE } from '../options/commands/features.js';
import { RECOMMEND, RECOMMEND_COMMAND } from '../options/commands/recommend.js';
import { LIST } from '../options/commands/similar.js';
import { POPULAR, RECOMMEND_LISTS } from '../options/library.js';
import { capital } from '../text/phrases.js';
import { LIMITS } from './limits.js';
import { GenerationAnswer, RefitStatusAnswer } from './live/refit-schema.js';
import { time } from './live/time-field.js';
import { field, idText, object, queryFlag, serverAnswer } from './option-field.js';
import { type ProblemKind, wrongField } from './problems.js';

const id = z.union([
  z.string().min(1).max(LIMITS.text),
  z.int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER),
]);
const ids = (meaning: string) => z.array(id).max(LIMITS.ids).optional().describe(meaning);

const who = {
  user: id.optional().describe('A user of the model or of the store.'),
  likes: ids(
    'Items that a new user has: ids, titles, or whole words that only one title contains. Words of several titles are refused (404).',
  ),
  counts: z
    .array(z.int().min(1).max(MAX_COUNT))
    .max(LIMITS.ids)
    .optional()
    .describe('How often, for each of the likes; for a model of counts.'),
  times: z
    .array(time)
    .max(LIMITS.ids)
    .optional()
    .describe(
      'When, for each of the likes: ISO 8601 text (UTC unless it says otherwise), or seconds since 1970; for a model that weighs items by age. Default: all are equally new.',
    ),
  unknown: z
    .enum(['refuse', 'ignore'])
    .optional()
    .describe(
      'What to do with ids that the model does not know. Default: leave out unknown likes, list them under `unknown`, and refuse unknown candidates (404). An unknown user is refused (404) by a server without a store, and gets popular items from a server with one. `refuse` refuses all of them; `ignore` refuses none.',
    ),
};

const ways = {
  explain: field(RECOMMEND.explain),
  confidence: field(RECOMMEND_COMMAND.confidence),
};

const deadlineMs = z
  .int()
  .min(1)
  .max(LIMITS.deadline)
  .optional()
  .describe(
    `Milliseconds after which the answer is useless to the client: the server then stops. Default ${LIMITS.patience}.`,
  );

const oneRequest = {
  n: field(RECOMMEND.n, { max: LIMITS.n, example: 5 }),
  include: ids(`${capital(RECOMMEND_LISTS.include.meaning)}.`),
  exclude: ids(`${capital(RECOMMEND_LISTS.exclude.meaning)}.`),
  filter: field(RECOMMEND.filter, { example: "genre = 'Fantasy' and year >= 1990" }),
  includeSeen: field(RECOMMEND.includeSeen),
  ...ways,
};

/** A request names a user, or likes, or neither: then it gets the popular items. */
const notBoth = (value: { user?: unknown; likes?: unknown }) =>
  value.user === undefined || value.likes === undefined;

const aboutUser = <F extends z.ZodRawShape>(fields: F) =>
  z
    .strictObject({ ...who, ...fields })
    .refine(notBoth, { message: 'give user or likes, not both', path: ['user'] });

export const RecommendRequest = aboutUser({ ...oneRequest, deadlineMs }).openapi('RecommendRequest');

/** A request of a batch. */
const BatchEntry = aboutUser(oneRequest);
export const BatchRequest = object('BatchRequest', {
  requests: z.array(BatchEntry).min(1).max(LIMITS.batch),
  deadlineMs,
});

export const RankRequest = aboutUser({
  candidates: z.array(id).min(1).max(LIMITS.ids).describe('The items to rank. The answer has all of them.'),
  ...ways,
  deadlineMs,
}).openapi('RankRequest');

export const ExplainRequest = aboutUser({
  item: id.describe('The item whose score is explained.'),
  deadlineMs,
}).openapi('ExplainRequest');

export const ModelRequest = object('ModelRequest', {
  file: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('A file in the folder of models. Default: the current model’s file, read again.'),
});

const item = z.string().describe('Id of the item.');
const title = z.string().optional().describe('Its title, if the server has titles.');

const contribution = {
  contribution: z.number().describe('In units of the score.'),
  fraction: z
    .number()
    .describe('Of the score’s absolute value: 0 to 1, unless some contributions are negative.'),
  usual: z
    .number()
    .describe('The contribution to a score of the same size if the item were the user’s average one.'),
};

const Explanation = object(
  'Explanation',
  {
    items: z
      .array(z.strictObject({ item, title, ...contribution }))
      .describe('The few of the user’s items that contribute most beyond their usual contribution.'),
    others: z.strictObject({ count: z.int(), ...contribution }).describe('The user’s other items together.'),
    features: z
      .array(
        z.strictObject({
          feature: z.int().describe('From 1, as under features.'),
          about: z.array(z.strictObject({ item, title })).describe('Items that stand out in it.'),
          ...contribution,
        }),
      )
      .describe('The features that contribute more than usual; if none does, the largest.'),
    otherFeatures: z
      .strictObject({ count: z.int(), ...contribution })
      .describe('The model’s other features together.'),
    direct: z
      .strictObject(contribution)
      .describe('What the user’s items contribute directly, by weights between items instead of features.'),
    attributes: z
      .array(
        z.strictObject({
          column: z.string(),
          value: z.string(),
          fraction: z.number(),
          items: z.array(item).optional(),
          times: z.number().optional(),
        }),
      )
      .optional()
      .describe(
        'For an item with few edges or none: attributes that it shares with these items, which of them have it, and its part of the similarity. For a user without items: attributes of the user, and how often users with them have the item, as a multiple of what its popularity says.',
      ),
    rest: z.number().describe('The contribution that none of the user’s items explains.'),
  },
  'Items, others and rest add up to the score exactly; so do features, otherFeatures and direct, except for a model by popularity, which has none of them. Negative contributions speak against the item.',
);

const Listed = object('Listed', {
  item,
  title,
  score: z.number(),
  low: z.number().optional().describe('With confidence: the 90 % interval of the score.'),
  high: z.number().optional(),
  explanation: Explanation.optional(),
});

const Confidence = object('Confidence', {
  overlap: z
    .number()
    .describe(
      'Expected share of the list that would be recommended again with another history of the same taste and length.',
    ),
  text: z.string(),
});

const basis = z
  .enum(['personal', 'few', 'attributes', 'popular'])
  .describe(
    'What the list is based on: the user’s items, fewer than five of them, attributes of a user who has no items, or overall popularity if nothing is known of the user.',
  );

const answered = {
  items: z.array(Listed),
  basis,
  confidence: Confidence.optional(),
  unknown: z
    .array(z.string())
    .describe('Likes (or the user) that the model does not know, at most 20 of them.'),
  didYouMean: z
    .record(z.string(), z.string())
    .optional()
    .describe('For unknown likes that are numbers: known ids that differ in leading zeros or .0 alone.'),
};

const signed = {
  model: z.string().describe('Hash of the model that answered.'),
  requestId: z.string(),
  milliseconds: z.number(),
};

export const RecommendAnswer = object('RecommendAnswer', { ...answered, ...signed });
export const BatchAnswer = object(
  'BatchAnswer',
  {
    answers: z.array(
      z.union([
        z.strictObject(answered),
        z.strictObject({ error: z.string(), field: z.string().optional() }),
      ]),
    ),
    ...signed,
  },
  'One answer for each request, in order. A request that fails does not affect the others.',
);
export const ExplainAnswer = object('ExplainAnswer', {
  item,
  title,
  score: z.number(),
  explanation: Explanation,
  unknown: answered.unknown,
  didYouMean: answered.didYouMean,
  ...signed,
});
/** Items, each with more fields. */
const listAnswer = <F extends z.ZodRawShape>(name: string, fields: F) =>
  object(name, { items: z.array(z.strictObject({ item, title, ...fields })), ...signed });
export const SimilarAnswer = listAnswer('SimilarAnswer', { similarity: z.number() });
export const PopularAnswer = listAnswer('PopularAnswer', { users: z.int() });
export const SearchAnswer = listAnswer('SearchAnswer', {});

const Feature = z.strictObject({
  feature: z.int().min(1).openapi({ description: 'Number of the feature, from 1.', example: 1 }),
  share: z.number().describe('Fraction of the edges that it explains.'),
  items: z.array(z.strictObject({ item, title, weight: z.number() })),
  users: z
    .array(z.strictObject({ user: z.string(), weight: z.number() }))
    .optional()
    .describe('Only with an admin key, or if the server was started with listUsers.'),
});
export const FeaturesAnswer = object('FeaturesAnswer', { features: z.array(Feature), ...signed });
export const FeatureAnswer = object('FeatureAnswer', { feature: Feature, ...signed });

const ModelInfo = object('ModelInfo', {
  file: z.string().describe('Name of the model file.'),
  hash: z.string().describe('First half of the SHA-256 of the file.'),
  kind: z.string(),
  features: z.int(),
  users: z.int(),
  items: z.int(),
  names: z.strictObject({ users: z.string(), items: z.string() }),
  titles: z.int().describe('Number of items with a title.'),
  attributes: z
    .array(
      z.strictObject({
        name: z.string(),
        kind: z.enum(['text', 'category', 'number']),
        values: z
          .array(z.strictObject({ value: z.string(), items: z.int() }))
          .optional()
          .describe('Of a category: its most common values, at most 10.'),
        range: z
          .strictObject({ low: z.number(), median: z.number(), high: z.number() })
          .optional()
          .describe('Of numbers: the smallest, the one in the middle, and the largest.'),
      }),
    )
    .describe('Columns that a filter can name; none if the model stores no attributes.'),
  loaded: z.string().describe('Time of loading, as an ISO date.'),
});
export const SwapAnswer = ModelInfo.extend({ requestId: z.string() }).openapi('SwapAnswer');
export const ModelsAnswer = serverAnswer('ModelsAnswer', {
  current: ModelInfo.nullable(),
  files: z.array(z.string()).describe('Files that can be loaded or activated.'),
  refit: RefitStatusAnswer.optional().describe('Absent if the server does not refit.'),
  generations: z
    .array(GenerationAnswer)
    .optional()
    .describe('Models of refits, the newest first; files of old ones are removed.'),
});

export const ProblemAnswer = object(
  'Problem',
  {
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    field: z.string().optional(),
  },
  'RFC 9457.',
);

const inQuery = { max: LIMITS.n, inQuery: true } as const;
export const RecommendQuery = z.strictObject({
  user: idText('A user of the model or of the store.', '7'),
  n: field(RECOMMEND.n, inQuery),
  filter: field(RECOMMEND.filter),
  includeSeen: queryFlag(RECOMMEND.includeSeen),
  explain: queryFlag(RECOMMEND.explain),
  confidence: queryFlag(RECOMMEND_COMMAND.confidence),
  unknown: who.unknown,
});
export const SimilarQuery = z.strictObject({ n: field(LIST.n, inQuery), filter: field(LIST.filter) });
export const PopularQuery = z.strictObject({ n: field(POPULAR.n, inQuery), filter: field(POPULAR.filter) });
export const SearchQuery = z.strictObject({
  search: z.string().min(1).max(LIMITS.text).describe('Part of an id or a title.'),
  n: field(POPULAR.n, inQuery),
});
export const FeaturesQuery = z.strictObject({
  n: field(DESCRIBE.n, { max: LIMITS.described, inQuery: true }),
});
export const ItemPath = z.strictObject({ id: idText('Id or title, percent-encoded.', '42') });
export const FeaturePath = z.strictObject({
  k: z
    .string()
    .regex(/^\d{1,6}$/, 'expected the number of a feature, from 1')
    .transform(Number)
    .openapi({ type: 'integer', minimum: 1, description: 'Number of a feature, from 1.', example: 1 }),
});

export type OneRequest = Omit<z.infer<typeof RecommendRequest>, 'deadlineMs'>;
export type Rank = Omit<z.infer<typeof RankRequest>, 'deadlineMs'>;
export type Explain = Omit<z.infer<typeof ExplainRequest>, 'deadlineMs'>;
export type Answered = Omit<z.infer<typeof RecommendAnswer>, keyof typeof signed>;
export type ModelInformation = z.infer<typeof ModelInfo>;

/** What is in place of a request that does not fit its schema. */
export interface RefusedRequest {
  readonly refused: {
    readonly problem: ProblemKind;
    readonly detail: string;
    readonly field?: string | undefined;
  };
}

/** A batch with each request checked alone; undefined if more than single requests are wrong. `error`: of the whole body. */
export function checkedAlone(body: unknown, error: z.core.$ZodError): object | undefined {
  if (!error.issues.every(({ path }) => path[0] === 'requests' && path.length > 1)) return undefined;
  const { requests, ...batch } = body as { readonly requests: readonly unknown[] };
  if (requests.length > LIMITS.batch) return undefined;
  return { ...batch, requests: requests.map(checked) };
}

function checked(request: unknown): OneRequest | RefusedRequest {
  const { data, error } = BatchEntry.safeParse(request);
  if (!error) return data;
  const { kind: problem, message: detail, field } = wrongField(error);
  return { refused: { problem, detail, field } };
}
