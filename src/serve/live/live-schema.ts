// The schemas of the endpoints that need a store.

import { z } from '@hono/zod-openapi';
import { grouped } from '../../text/numbers.js';
import { LIMITS } from '../limits.js';
import { idText, object, serverAnswer } from '../option-field.js';
import { time } from './time-field.js';

/**
 * A fit refuses an id with a zero byte or half a character, and one such event would stop every refit. The store would write half
 * characters as one and the same character.
 */
const storedText = z
  .string()
  .max(LIMITS.text)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), {
    message: 'expected a text without zero bytes and half characters',
  });
const storedId = storedText.min(1);

const id = (description: string) =>
  z
    .union([storedId, z.int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER)], {
      message: 'expected a text or a whole number',
    })
    .describe(description);

const EventBody = object('Event', {
  user: id('The user, who need not be known.'),
  item: id('The item, which need not be known.'),
  time: time
    .optional()
    .describe(
      'When it happened: ISO 8601 text (UTC unless it says otherwise), or seconds since 1970. A time in the future becomes the present. Default: now.',
    ),
  weight: z
    .number()
    .positive()
    .max(1e9)
    .optional()
    .describe('How much it counts, for a model of counts and for popularity. Default 1.'),
  id: storedId
    .optional()
    .describe(
      'An id of the event. An event whose id is known is not stored again, so a retry is harmless. An id that is known with another user or item is refused.',
    ),
});

const oneOrMore = <S extends z.ZodType>(one: S, name: string, description: string) =>
  z
    .union([
      one,
      z
        .array(one)
        .min(1, 'the list is empty; send at least one')
        .max(
          LIMITS.events,
          `the list has more than ${grouped(LIMITS.events)} entries; send them in several requests`,
        ),
    ])
    .openapi(name, { description });

export const EventsRequest = oneOrMore(
  EventBody,
  'EventsRequest',
  `One event, or a list of at most ${LIMITS.events} events: objects with user, item and, if wanted, time, weight and id.`,
);

export const EventsAnswer = serverAnswer('EventsAnswer', {
  accepted: z.int().describe('Events of the request; all are on the disk.'),
  duplicates: z
    .int()
    .describe('How many of them were there already, with the same id; they were not stored again.'),
});

const itemFields = {
  title: storedText.optional().describe('Shown in answers, found by search.'),
  hidden: z.boolean().optional().describe('A hidden item is never recommended. false shows it again.'),
  attributes: z
    .record(z.string(), z.unknown())
    .refine((given) => JSON.stringify(given).length <= LIMITS.attributes, {
      message: `expected at most ${LIMITS.attributes} characters as JSON`,
    })
    .optional()
    .describe(
      'Whatever else is known of the item, as a JSON object: texts, numbers, true, false or lists of them, by the names of columns. It replaces the former attributes. A column without a name is written by its number: 3 or #3. A value that does not fit a column of the model is refused (400).',
    ),
};

export const ItemBody = z
  .strictObject(itemFields)
  .openapi('Item', { description: 'Fields that are left out keep their values.' });
const ItemWithId = z.strictObject({ item: id('The item, which need not be known.'), ...itemFields });
export const ItemsRequest = oneOrMore(
  ItemWithId,
  'ItemsRequest',
  `One item, or a list of at most ${LIMITS.events} items: objects with item and, if wanted, title, hidden and attributes.`,
);
export const ItemsAnswer = serverAnswer('ItemsAnswer', {
  stored: z.int().describe('Items of the request.'),
  unknown: z
    .array(z.string())
    .describe(
      'Attributes that the current model does not know, at most 20 of them. They are stored, and count from the next refit on.',
    ),
});

export const StoredItemPath = z.strictObject({
  id: storedId.openapi({ description: 'Id of the item, percent-encoded.', example: '42' }),
});
export const UserPath = z.strictObject({ id: idText('Id of the user, percent-encoded.', '7') });
export const UserEventsQuery = z.strictObject({
  n: z.coerce.number().int().min(1).max(LIMITS.events).optional().describe('Number of events. Default 100.'),
});
export const UserEventsAnswer = serverAnswer('UserEventsAnswer', {
  user: z.string(),
  total: z.int().describe('Stored events of the user, listed or not.'),
  events: z
    .array(
      z.strictObject({
        item: z.string(),
        time: z.string().describe('As an ISO date.'),
        weight: z.number(),
        id: z.string().optional(),
      }),
    )
    .describe('The newest first.'),
});
export const ErasedAnswer = serverAnswer('ErasedAnswer', {
  user: z.string(),
  erased: z.int().describe('Number of events that were erased.'),
});

export type EventFields = z.infer<typeof EventBody>;
export type ItemFields = z.infer<typeof ItemWithId>;
