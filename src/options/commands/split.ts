// Options of `graphex split` and of `split`.

import { decimal, oneOf, output, whole } from '../declare.js';
import { SPLIT_METHODS } from '../names.js';
import { FORCE, SEED } from '../shared.js';
import { TIME } from './forecast.js';

const FRACTION = { above: 0, below: 1, default: 0.2, common: true } as const;

export const SPLIT = {
  testUsers: decimal({
    ...FRACTION,
    argument: 'p',
    meaning: 'fraction of the users to hold out',
    details: 'With the methods edges and time it is the fraction of the edges.',
  }),
  testItems: decimal({
    ...FRACTION,
    argument: 'q',
    meaning: 'fraction of the items to test on',
  }),
  method: oneOf(SPLIT_METHODS, {
    default: 'pq',
    common: true,
    meaning: 'pq, edges, time, last or new-items',
    details:
      'pq samples users and items and is unbiased. edges holds out edges at random, for comparison. time holds out the latest edges, last the last edges of each user, new-items all edges of some items.',
  }),
  last: whole({
    min: 1,
    argument: 'n',
    meaning: 'number of last edges of each user to test on, with the method last (default: 1)',
    details: 'Users who have no more edges than that stay in training.',
  }),
  ...SEED,
};

export const SPLIT_COMMAND = {
  output: output({
    flag: '-o, --output',
    argument: 'dir',
    required: true,
    common: true,
    meaning: 'folder for train, foldin and test (Parquet) and split.json',
  }),
  time: TIME,
  ...FORCE,
};
