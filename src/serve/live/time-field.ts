// Times in requests: ISO 8601 text, or seconds since 1970.

import { z } from '@hono/zod-openapi';

const LATEST = Date.UTC(9999, 11, 31);

export const time = z.union(
  [
    z.iso.datetime({ offset: true, local: true }),
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
  return Date.parse(/[zZ]$|[+-]\d\d:\d\d$/.test(given) || !given.includes('T') ? given : `${given}Z`);
}
