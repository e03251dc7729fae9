// The schemas of refits and of the models that they have made.

import { z } from '@hono/zod-openapi';
import { Comparison, GenerationRecord } from '../../refit/generations.js';
import { object, serverAnswer } from '../option-field.js';

const date = (description: string) => z.string().describe(`${description}, as an ISO date.`);

export const GenerationAnswer = object('Generation', {
  ...GenerationRecord.shape,
  comparison: object('Comparison', Comparison.shape)
    .optional()
    .describe('Absent if too few users had new items.'),
});

export const RefitStatusAnswer = object('RefitStatus', {
  running: z.boolean(),
  progress: z.string().optional(),
  process: z.int().optional().describe('Id of the process that refits.'),
  next: date('When the next one is due').optional(),
  last: z
    .strictObject({
      time: date('When it ended'),
      outcome: z
        .enum(['swapped', 'kept-aside', 'unchanged', 'failed'])
        .describe('unchanged: the data are those of the present model.'),
      detail: z.string(),
    })
    .optional()
    .describe('The last refit since the server started.'),
});

export const RefitRequest = object('RefitRequest', {});
export const RefitAnswer = serverAnswer('RefitAnswer', {
  started: z.boolean().describe('False if a refit was running already.'),
});
export const ModelPath = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(255)
    .openapi({ description: 'Name of a model file.', example: 'model-20260101T030000Z.safetensors' }),
});

export const StatusAnswer = serverAnswer('StatusAnswer', {
  model: z
    .strictObject({ file: z.string(), hash: z.string(), loaded: date('Time of loading') })
    .nullable()
    .describe('The current model.'),
  queue: z.strictObject({ waiting: z.int(), working: z.int() }),
  activity: z.strictObject({
    eventsPerMinute: z.array(z.number()).describe('Of the last hour, the oldest first.'),
    answersPerMinute: z.array(z.number()),
    p50: z.number().optional().describe('Milliseconds, of the last five minutes.'),
    p99: z.number().optional(),
  }),
  store: z
    .strictObject({
      events: z.int().describe('Events stored since the server started.'),
      waiting: z.int().describe('Events that wait for the disk.'),
      failure: z.string().optional().describe('Why the last reads or writes failed.'),
    })
    .optional(),
  refit: RefitStatusAnswer.optional(),
  generations: z.array(GenerationAnswer),
  files: z.array(z.string()),
});
