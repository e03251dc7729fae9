// Options of `graphex recommend` and of `recommend`.

import { flag, input, outputFile, repeated, text, whole } from '../declare.js';
import { FORCE } from '../shared.js';
import { ITEM_FILTER, ITEM_TITLES, LENGTH } from './similar.js';

/** Lists for one user or for many. */
export const RECOMMEND = {
  n: whole({ ...LENGTH, default: 20, flag: '-n, --count', meaning: 'number of items to list' }),
  ...ITEM_FILTER,
  includeSeen: flag({ default: false, common: true, meaning: 'also list items that the user has' }),
  explain: flag({
    default: false,
    common: true,
    meaning: 'show which of the user’s items each score comes from',
    details: 'It takes about 15 times the work of a list.',
  }),
};

export const RECOMMEND_COMMAND = {
  user: text({ argument: 'id', common: true, meaning: 'a user of the model' }),
  likes: repeated(text({ meaning: 'an item, or several separated by commas' }), {
    argument: 'items',
    common: true,
    meaning: 'a new user who likes these items: ids or titles',
    details:
      'Separate items by commas, or repeat the option. An id or title that holds commas itself is recognised. Unknown items are left out with a warning. If all are unknown, the list has popular items.',
  }),
  batch: input({
    common: true,
    meaning: 'many users: a table of ids, or of users and items',
    details:
      'Any table that can be fitted, or - for standard input. The items of a known user are added to those of the model.',
  }),
  allUsers: flag({ default: false, common: true, meaning: 'lists for every user of the model' }),
  output: outputFile({
    meaning: 'file for lists of many: .csv, .jsonl, .parquet',
    details: 'Also .tsv, and text formats as .gz; - writes CSV to standard output.',
  }),
  ...FORCE,
  exclude: input({ common: true, meaning: 'items not to list: a file with an id per line' }),
  ...ITEM_TITLES,
  confidence: flag({
    default: false,
    common: true,
    meaning: 'show intervals of the scores, and how stable the list is',
    details:
      'The confidence of a list says how much of it another history would give again, not how good it is. It takes about 30 times the work of a list.',
  }),
};
