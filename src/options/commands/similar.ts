// Options of `graphex similar` and of `similarItems`.

import { input, text, whole } from '../declare.js';

/** Which items may be listed. */
export const ITEM_FILTER = {
  filter: text({
    otherwise: 'all',
    argument: 'condition',
    common: true,
    meaning: 'items to list, as in "genre = \'Fantasy\' and year >= 1990"',
    details:
      'A condition on the attributes that the model stores. An item with several values needs one that fits.',
  }),
};

/** The length of a list. */
export const LENGTH = { min: 1, max: 1e6, flag: '-n', common: true } as const;

/** Lists of items alone. */
export const LIST = {
  n: whole({ ...LENGTH, default: 10, meaning: 'number of items to list' }),
  ...ITEM_FILTER,
};

/** What every command that shows or takes items has. */
export const ITEM_TITLES = {
  titles: input({
    common: true,
    meaning: 'titles of the items: a table of ids and titles',
    details: 'Items may then be named by title.',
  }),
};

export const SIMILAR_COMMAND = {
  item: text({ argument: 'id', common: true, meaning: 'the item that others are compared with' }),
  ...ITEM_TITLES,
};
