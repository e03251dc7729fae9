// Options of `graphex split` and of `split`.

import { decimal, oneOf, output } from '../declare.js';
import { SPLIT_METHODS } from '../names.js';
import { FORCE, SEED } from '../shared.js';
import { TIME } from './forecast.js';

const FRACTION = { above: 0, below: 1, default: 0.2 } as const;

export const SPLIT = {
  testUsers: decimal({
    ...FRACTION,
    argument: 'p',
    meaning: 'held-out fraction of the users (with methods edges and time: of the edges)',
  }),
  testItems: decimal({
    ...FRACTION,
    argument: 'q',
    meaning: 'fraction of the items that are test for held-out users',
  }),
  method: oneOf(SPLIT_METHODS, {
    default: 'pq',
    meaning: 'pq; edges: the naive uniform hold-out, for comparison; time: the latest edges, by --time',
  }),
  ...SEED,
};

export const SPLIT_COMMAND = {
  output: output({
    flag: '-o, --output',
    argument: 'dir',
    required: true,
    meaning: 'folder for train, foldin and test (Parquet), coins and split.json',
  }),
  time: TIME,
  ...FORCE,
};
