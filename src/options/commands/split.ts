// Options of `graphex split` and of `split`.

import { column, decimal, oneOf, outputFolder, whole } from '../declare.js';
import { SPLIT_FORMATS, SPLIT_METHODS } from '../names.js';
import { FORCE, SEED } from '../shared.js';
import { ABOUT_TIME } from './forecast.js';

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
      'pq samples users and items and is unbiased. edges holds out edges at random, for comparison. time holds out the latest edges. last holds out the last edges of each user. new-items holds out all edges of some items.',
  }),
  last: whole({
    min: 1,
    meaning: 'number of last edges of each user to test on, with the method last (default: 1)',
    details: 'Users who have no more edges than that stay in training.',
  }),
  ...SEED,
};

/** Bounds on the number of folds. */
export const FOLDS = whole({
  min: 2,
  max: 100,
  otherwise: 'one split',
  argument: 'k',
  common: true,
  meaning: 'number of folds of the users; each fold has a split that holds it out',
  details: 'Each user is held out once. It replaces the fraction of users, and needs the method pq.',
});

/** How the parts of a split are written. */
export const SAVE_SPLIT = {
  format: oneOf(SPLIT_FORMATS, {
    default: 'parquet',
    common: true,
    meaning: 'format of train, foldin and test: parquet or csv',
  }),
  ...FORCE,
};

export const SPLIT_COMMAND = {
  output: outputFolder({
    required: true,
    meaning: 'folder for train, foldin, test and split.json',
  }),
  time: column({
    ...ABOUT_TIME,
    details: 'The methods time and last need it. With any method the parts keep the times.',
  }),
  folds: FOLDS,
  ...SAVE_SPLIT,
};
