// Keeps random shares of the users and items while a table is read. Rows of the others are left out before their ids are
// stored, so memory grows with what is kept, not with the table.

import { type IdShares, idDraws } from '../../math/id-draws.js';
import type { ReaderOptions } from '../options.js';
import type { RowFilter } from '../where/row-filter.js';
import { findColumn } from './columns.js';

/** A condition that keeps the rows whose user and item are both drawn. */
export function shareFilter(shares: IdShares, { users = 1, items = 2 }: ReaderOptions): RowFilter {
  const keptIds = idDraws(shares);
  return {
    named: false,
    nothing: 'the random draws keep none of its rows; keep a larger share, or take another seed',
    find: (source, names, header) => [
      findColumn(source, users, 'users', names, header),
      findColumn(source, items, 'items', names, header),
    ],
    // A row with a missing id is kept: the reader says what is wrong with it.
    keeps(cells) {
      const user = cells.text(0);
      if (user !== undefined && !keptIds.users(user)) return false;
      const item = cells.text(1);
      return item === undefined || keptIds.items(item);
    },
  };
}
