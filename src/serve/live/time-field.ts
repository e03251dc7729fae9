// Times in requests: ISO 8601 text, or seconds since 1970.

import { z } from '@hono/zod-openapi';

const LATEST = Date.UTC(9999, 11, 31);

/** Day, time of day and offset, all that ISO 8601 allows: seconds and the minutes of an offset may be left out. */
const ISO_TIME =
  /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/i;

export const time = z.union(
  [
    z
      .string()
      .regex(ISO_TIME)
      .refine((text) => z.iso.date().safeParse(text.slice(0, 10)).success)
      .openapi({ format: 'date-time' }),
    z.iso.date(),
    z
      .number()
      .min(0, 'expected seconds since 1970')
      .max(LATEST / 1000, 'expected seconds since 1970, not milliseconds'),
  ],
  { message: 'expected ISO 8601 text, or seconds since 1970' },
);

/** Milliseconds since 1970. */
export function timeOf(given: z.infer<typeof time>): number {
  if (typeof given === 'number') return 1000 * given;
  // A text without an offset is UTC, wherever the server runs.
  const [, day = given, clock = '00:00', offset = 'Z'] = ISO_TIME.exec(given) ?? [];
  const [, hours, minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(offset) ?? [];
  return Date.parse(`${day}T${clock}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
}
