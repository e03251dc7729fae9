// Options of `graphex similar` and of `similarItems`.

import { input, text, whole } from '../declare.js';

/** Lists of items alone. */
export const LIST = { n: whole({ min: 1, max: 1e6, default: 10, flag: '-n', meaning: 'items to list' }) };

/** Of whatever shows items or takes them. */
export const ITEM_TITLES = {
  titles: input({
    meaning: 'titles of the items: a table of ids and titles; items may then be named by title',
  }),
};

export const SIMILAR_COMMAND = {
  item: text({ argument: 'id', meaning: 'the item that others are compared with' }),
  ...ITEM_TITLES,
};
