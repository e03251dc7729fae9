// Requests and answers, declared once: what is checked at the door, what the OpenAPI document says, what TypeScript knows.

import { z } from '@hono/zod-openapi';
import { LIMITS } from './limits.js';

const idText = z.union([
  z.string().min(1).max(LIMITS.text),
  z.number().int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER),
]);
const ids = (meaning: string) => z.array(idText).max(LIMITS.ids).optional().openapi({ description: meaning });
const flag = (meaning: string) => z.boolean().optional().openapi({ description: meaning });

const howMany = z
  .number()
  .int()
  .min(1)
  .max(LIMITS.n)
  .optional()
  .openapi({ description: 'How many items to list, at most. Default 20.', example: 5 });

const who = {
  user: idText.optional().openapi({ description: 'A user whom the model knows.' }),
  likes: ids('What a new user has: ids, or titles where they are unambiguous.'),
  counts: z
    .array(z.number().int().min(1).max(4_294_967_295))
    .max(LIMITS.ids)
    .optional()
    .openapi({ description: 'How often, for each of the likes; for a model of counts.' }),
};

const ways = {
  unknown: z.enum(['refuse', 'ignore']).optional().openapi({
    description:
      'What to do with likes that the model does not know: refuse (404), or ignore and count. Default refuse.',
  }),
  explain: flag('Say how each score comes about. Default false.'),
  confidence: flag('Say how sure the scores and, where we choose it, the list are. Default false.'),
};

const deadlineMs = z
  .number()
  .int()
  .min(1)
  .max(LIMITS.deadline)
  .optional()
  .openapi({
    description: `Milliseconds after which the answer is of no use; a batch is given up then. Default ${LIMITS.patience}.`,
  });

const oneRequest = {
  ...who,
  n: howMany,
  include: ids('List only these items.'),
  exclude: ids('Never list these items.'),
  includeSeen: flag('List also what the user already has. Default false.'),
  ...ways,
};

/** With a user, or with likes, or with neither: then the popular items come. */
const onlyOne = (value: { user?: unknown; likes?: unknown }) =>
  value.user === undefined || value.likes === undefined;
const ONLY_ONE = { message: 'give user or likes, not both', path: ['user'] };

export const RecommendRequest = z
  .strictObject({ ...oneRequest, deadlineMs })
  .refine(onlyOne, ONLY_ONE)
  .openapi('RecommendRequest');

export const BatchRequest = z
  .strictObject({
    requests: z.array(z.strictObject(oneRequest).refine(onlyOne, ONLY_ONE)).min(1).max(LIMITS.batch),
    deadlineMs,
  })
  .openapi('BatchRequest');

export const RankRequest = z
  .strictObject({
    ...who,
    candidates: z
      .array(idText)
      .min(1)
      .max(LIMITS.ids)
      .openapi({ description: 'The items to put in order: all of them come back.' }),
    ...ways,
    deadlineMs,
  })
  .refine(onlyOne, ONLY_ONE)
  .openapi('RankRequest');

export const ExplainRequest = z
  .strictObject({
    ...who,
    item: idText.openapi({ description: 'The item whose score is to be explained.' }),
    unknown: ways.unknown,
    deadlineMs,
  })
  .refine(onlyOne, ONLY_ONE)
  .openapi('ExplainRequest');

export const ModelRequest = z
  .strictObject({
    file: z.string().min(1).max(255).optional().openapi({
      description: 'A file in the folder of models; without it the served file is read again.',
    }),
  })
  .openapi('ModelRequest');

const item = z.string().openapi({ description: 'Id of the item.' });
const title = z.string().optional().openapi({ description: 'Its title, where titles were given.' });

const share = {
  share: z.number(),
  usual: z.number().openapi({
    description: 'What this part would be of a score as large, were the item the user’s average one.',
  }),
};
const Share = z.strictObject({ item, title, ...share });

export const Explanation = z
  .strictObject({
    items: z.array(Share).openapi({
      description: 'The few of the user’s items that speak for it most beyond what they usually do.',
    }),
    others: z
      .strictObject({ count: z.number().int(), ...share })
      .openapi({ description: 'The user’s other items together.' }),
    features: z
      .array(
        z.strictObject({
          feature: z.number().int().openapi({ description: 'From 1, as under features.' }),
          about: z
            .array(z.strictObject({ item, title }))
            .openapi({ description: 'Items that stand out in it.' }),
          ...share,
        }),
      )
      .openapi({
        description:
          'The features that speak for it more than they usually do; where none does, the largest.',
      }),
    otherFeatures: z
      .strictObject({ count: z.number().int(), ...share })
      .openapi({ description: 'The model’s other features together.' }),
    direct: z.strictObject(share).openapi({
      description:
        'What the user’s items give this one directly, by weights between items and past all features.',
    }),
    rest: z.number().openapi({ description: 'What none of the user’s items explains.' }),
  })
  .openapi('Explanation', {
    description:
      'Items, others and rest add up to the score exactly; so do features, otherFeatures and direct, but of a model by popularity, which has none of them. Parts below 0 speak against the item.',
  });

export const Listed = z
  .strictObject({
    item,
    title,
    score: z.number(),
    low: z.number().optional().openapi({ description: 'With confidence: the 90 % interval of the score.' }),
    high: z.number().optional(),
    explanation: Explanation.optional(),
  })
  .openapi('Listed');

export const Confidence = z
  .strictObject({
    overlap: z.number().openapi({
      description:
        'Share of the list that is expected to stay if the same taste had shown in another history of this length.',
    }),
    text: z.string(),
  })
  .openapi('Confidence');

const basis = z.enum(['personal', 'few', 'popular']).openapi({
  description:
    'What the list rests on: the user’s items, few of them, or popularity because nothing is known.',
});

const answered = {
  items: z.array(Listed),
  basis,
  confidence: Confidence.optional(),
  unknown: z
    .array(z.string())
    .openapi({ description: 'Likes that the model does not know, at most 20 of them.' }),
};

const signed = {
  model: z.string().openapi({ description: 'Hash of the model that answered.' }),
  requestId: z.string(),
  milliseconds: z.number(),
};

export const RecommendAnswer = z.strictObject({ ...answered, ...signed }).openapi('RecommendAnswer');
export const BatchAnswer = z
  .strictObject({
    answers: z.array(
      z.union([
        z.strictObject(answered),
        z.strictObject({ error: z.string(), field: z.string().optional() }),
      ]),
    ),
    ...signed,
  })
  .openapi('BatchAnswer', {
    description: 'One answer for each request, in order; one that is wrong loses no other.',
  });
export const ExplainAnswer = z
  .strictObject({
    item,
    title,
    score: z.number(),
    explanation: Explanation,
    unknown: answered.unknown,
    ...signed,
  })
  .openapi('ExplainAnswer');
export const SimilarAnswer = z
  .strictObject({ items: z.array(z.strictObject({ item, title, similarity: z.number() })), ...signed })
  .openapi('SimilarAnswer');
export const PopularAnswer = z
  .strictObject({ items: z.array(z.strictObject({ item, title, users: z.number().int() })), ...signed })
  .openapi('PopularAnswer');
export const SearchAnswer = z
  .strictObject({ items: z.array(z.strictObject({ item, title })), ...signed })
  .openapi('SearchAnswer');

const Feature = z.strictObject({
  feature: z.number().int(),
  share: z.number(),
  items: z.array(z.strictObject({ item, title, weight: z.number() })),
  users: z.array(z.strictObject({ user: z.string(), weight: z.number() })),
});
export const FeaturesAnswer = z
  .strictObject({ features: z.array(Feature), ...signed })
  .openapi('FeaturesAnswer');
export const FeatureAnswer = z.strictObject({ feature: Feature, ...signed }).openapi('FeatureAnswer');

export const ModelInfo = z
  .strictObject({
    hash: z.string(),
    kind: z.string(),
    features: z.number().int(),
    users: z.number().int(),
    items: z.number().int(),
    names: z.strictObject({ users: z.string(), items: z.string() }),
    titles: z.number().int().openapi({ description: 'Items that have a title.' }),
    loaded: z.string().openapi({ description: 'When, as an ISO date.' }),
  })
  .openapi('ModelInfo');
export const ModelsAnswer = z
  .strictObject({ current: ModelInfo.nullable(), files: z.array(z.string()), requestId: z.string() })
  .openapi('ModelsAnswer');

export const ProblemAnswer = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    instance: z.string(),
    field: z.string().optional(),
  })
  .openapi('Problem', { description: 'RFC 9457.' });

const page = (meaning: string, most: number, usual: number) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(most)
    .optional()
    .openapi({ description: `${meaning} Default ${usual}.` });

export const ListQuery = z.strictObject({ n: page('How many items.', LIMITS.n, 20) });
export const SearchQuery = z.strictObject({
  search: z.string().min(1).max(LIMITS.text).openapi({ description: 'Part of an id or a title.' }),
  n: page('How many items.', LIMITS.n, 20),
});
export const FeaturesQuery = z.strictObject({ n: page('Items and users of each feature.', 100, 10) });
export const ItemPath = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(LIMITS.text)
    .openapi({ description: 'Id or title, percent-encoded.', example: '42' }),
});
export const FeaturePath = z.strictObject({
  k: z
    .string()
    .regex(/^\d{1,6}$/, 'expected the number of a feature')
    .transform(Number)
    .openapi({ type: 'integer', example: 0 }),
});

export type OneRequest = Omit<z.infer<typeof RecommendRequest>, 'deadlineMs'>;
export type Rank = Omit<z.infer<typeof RankRequest>, 'deadlineMs'>;
export type Explain = Omit<z.infer<typeof ExplainRequest>, 'deadlineMs'>;
export type Answered = Omit<z.infer<typeof RecommendAnswer>, keyof typeof signed>;
export type Information = z.infer<typeof ModelInfo>;
