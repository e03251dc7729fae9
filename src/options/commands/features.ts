// Options of `graphex features` and of `describeFeatures`.

import { whole } from '../declare.js';
import { ITEM_TITLES } from './similar.js';

/** What a model found. */
export const DESCRIBE = {
  n: whole({ min: 1, max: 1e6, default: 10, flag: '-n', meaning: 'items and users of each feature' }),
  leastDegree: whole({ min: 0, default: 3, meaning: 'edges that an item needs in the data to be named' }),
};

/** Features that are printed where nobody says how many: some screens full. */
export const FEATURES_PER_REQUEST = 20;

export const FEATURES_COMMAND = {
  ...ITEM_TITLES,
  top: whole({
    min: 1,
    otherwise: `${FEATURES_PER_REQUEST}; all with --json`,
    meaning: 'features to give, those that explain most',
  }),
};
