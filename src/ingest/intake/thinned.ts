// Rows of users and items that coins do not keep are left out before anything is remembered of them: memory follows what is
// kept of a table, not the table.

import { type IdShares, idDraws } from '../../math/id-draws.js';
import type { ReaderOptions } from '../options.js';
import type { RowFilter } from '../where/filter.js';
import { findColumn } from './columns.js';

/** The condition on rows of a table that is thinned while it is read. */
export function thinningFilter(shares: IdShares, { users = 1, items = 2 }: ReaderOptions): RowFilter {
  const coins = idDraws(shares);
  return {
    // The reader names them itself.
    named: false,
    nothing: 'the coins keep none of its rows; keep a larger share, or take another seed',
    find: (source, names, header) => [
      findColumn(source, users, 'users', names, header),
      findColumn(source, items, 'items', names, header),
    ],
    // An id that is missing is no reason to leave a row out: the reader says what is wrong with it.
    keeps(cells) {
      const user = cells.text(0);
      if (user !== undefined && !coins.keepsUser(user)) return false;
      const item = cells.text(1);
      return item === undefined || coins.keepsItem(item);
    },
  };
}
