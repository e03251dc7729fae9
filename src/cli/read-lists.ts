// Lists made elsewhere, read from a table.

import { InputError } from '../errors.js';
import type { GivenRecommendations } from '../evaluate/make-lists.js';
import { NoColumnError } from '../ingest/intake/columns.js';
import { parseNumber, type ValueColumn } from '../ingest/intake/value-column.js';
import type { ReadOptions } from '../ingest/options.js';
import { readWithValues } from '../ingest/read.js';
import type { EVALUATE_COMMAND } from '../options/commands/evaluate.js';
import type { OptionsOf } from '../options/declare.js';

/** Reads lists by rank or by score, whichever column is named or found; otherwise rows are in order. */
export async function readLists(
  source: string,
  reading: ReadOptions,
  { rank, score }: Pick<OptionsOf<typeof EVALUATE_COMMAND>, 'rank' | 'score'> = {},
): Promise<{ readonly given: GivenRecommendations; readonly duplicates: number }> {
  if (rank !== undefined && score !== undefined) {
    throw new InputError('--rank and --score are both given; give the one by which lists are ordered');
  }
  // Column numbers of the parts do not apply to this file; column names may.
  const named = (column: string | number | undefined) =>
    typeof column === 'string' && !/^\d+$/.test(column) ? column : undefined;
  const { threads, signal, onProgress } = reading;
  const options = { users: named(reading.users), items: named(reading.items), threads, signal, onProgress };
  const column = (role: 'rank' | 'score', at: string | number | undefined): ValueColumn => ({
    column: at,
    role,
    parse: parseNumber(role),
    keep: role === 'rank' ? 'least' : 'largest',
  });
  const tries: readonly ValueColumn[] =
    rank !== undefined
      ? [column('rank', rank)]
      : score !== undefined
        ? [column('score', score)]
        : [column('rank', 'rank'), column('score', 'score'), column('rank', undefined)];
  for (const [at, value] of tries.entries()) {
    try {
      const { graph, values, read } = await readWithValues(source, options, value);
      return { given: { graph, values, first: value.keep }, duplicates: read.merged };
    } catch (error) {
      if (!(error instanceof NoColumnError) || at === tries.length - 1) throw error;
    }
  }
  throw new Error('no way of reading the lists returned or threw');
}
