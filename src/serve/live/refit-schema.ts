// The schemas of refits and of the models that they have made.

import { z } from '@hono/zod-openapi';
import { object } from '../option-field.js';

const date = (description: string) => z.string().openapi({ description: `${description}, as an ISO date.` });

const ComparisonAnswer = object('Comparison', {
  metric: z.literal('ndcg'),
  n: z.number().int().openapi({ description: 'Length of the lists.' }),
  users: z.number().int().openapi({ description: 'Users whose last items were held back.' }),
  present: z.number().openapi({ description: 'Of the model that answered at that time.' }),
  candidate: z.number().openapi({ description: 'Of the new model.' }),
  difference: z.number().openapi({ description: 'Mean over users of candidate less present.' }),
  low: z.number().openapi({ description: 'The 95 % interval of the difference.' }),
  high: z.number(),
});

export const GenerationAnswer = object('Generation', {
  name: z.string().openapi({ description: 'Name of the model file.' }),
  time: date('When its refit began'),
  seconds: z.number(),
  users: z.number().int(),
  items: z.number().int(),
  edges: z.number().int(),
  accepted: z.boolean().openapi({ description: 'Whether it replaced the model before it.' }),
  against: z.string().openapi({ description: 'The model file that it was compared with.' }),
  comparison: ComparisonAnswer.optional().openapi({
    description: 'Absent if too few users had new items.',
  }),
});

export const RefitStatusAnswer = object('RefitStatus', {
  running: z.boolean(),
  progress: z.string().optional(),
  process: z.number().int().optional().openapi({ description: 'Id of the process that refits.' }),
  next: date('When the next one is due').optional(),
  last: z
    .strictObject({
      time: date('When it ended'),
      outcome: z.enum(['swapped', 'kept-aside', 'failed']),
      detail: z.string(),
    })
    .optional()
    .openapi({ description: 'The last refit since the server started.' }),
});

export const RefitRequest = object('RefitRequest', {});
export const RefitAnswer = object('RefitAnswer', {
  started: z.boolean().openapi({ description: 'False if a refit was running already.' }),
  requestId: z.string(),
});
export const ModelPath = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(255)
    .openapi({ description: 'Name of a model file.', example: 'model-20260101T030000Z.safetensors' }),
});

export const StatusAnswer = object('StatusAnswer', {
  model: z
    .strictObject({ file: z.string(), hash: z.string(), loaded: date('Time of loading') })
    .nullable()
    .openapi({ description: 'The current model.' }),
  queue: z.strictObject({ waiting: z.number().int(), working: z.number().int() }),
  activity: z.strictObject({
    eventsPerMinute: z.array(z.number()).openapi({ description: 'Of the last hour, the oldest first.' }),
    answersPerMinute: z.array(z.number()),
    p50: z.number().optional().openapi({ description: 'Milliseconds, of the last five minutes.' }),
    p99: z.number().optional(),
  }),
  store: z
    .strictObject({
      events: z.number().int().openapi({ description: 'Events stored since the server started.' }),
      waiting: z.number().int().openapi({ description: 'Events that wait for the disk.' }),
      failure: z.string().optional().openapi({ description: 'Why the last write failed.' }),
    })
    .optional(),
  refit: RefitStatusAnswer.optional(),
  generations: z.array(GenerationAnswer),
  files: z.array(z.string()),
  requestId: z.string(),
});
