// Options of `graphex recommend` and of `recommend`.

import { flag, input, list, output, repeated, text, whole } from '../declare.js';
import { FORCE } from '../shared.js';

/** Lists for a user or for many. */
export const RECOMMEND = {
  n: whole({ min: 1, max: 1e6, default: 20, flag: '-n, --count', meaning: 'items to list' }),
  includeSeen: flag({ default: false, meaning: 'list also what the user already has' }),
  explain: flag({
    default: false,
    meaning: 'say which of the user’s items each score comes from; about 15 times the work of a list',
  }),
};

export const RECOMMEND_COMMAND = {
  user: text({ argument: 'id', meaning: 'a user of the model; items that the user has are left out' }),
  likes: list(text({ meaning: 'an item' }), {
    argument: 'ids',
    meaning:
      'a new user who likes these items, separated by commas; unknown ones are left out with a warning',
  }),
  like: repeated(text({ meaning: 'an item' }), {
    argument: 'id',
    meaning: 'the same, one item each time: ids may hold commas',
  }),
  batch: input({
    meaning:
      'many users, in any table that fit reads or -: a column of ids, or users and items, joined to what the model knows of them',
  }),
  allUsers: flag({ default: false, meaning: 'lists for every user of the model' }),
  output: output({
    flag: '-o, --output',
    meaning: 'lists of many as .csv, .tsv, .jsonl (also .gz) or .parquet; -: CSV on standard output',
  }),
  ...FORCE,
  exclude: input({ meaning: 'items not to list, an id per line' }),
  titles: input({ meaning: 'titles of the items: a table of ids and titles; likes may then be titles' }),
  confidence: flag({
    default: false,
    meaning: 'say how sure each score and the whole list are; about 30 times the work of a list',
  }),
};
