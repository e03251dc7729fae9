// Options of `graphex features` and of `describeFeatures`.

import { whole } from '../declare.js';
import { ITEM_TITLES, LENGTH } from './similar.js';

export const DESCRIBE = {
  n: whole({ ...LENGTH, default: 10, meaning: 'number of items and users of each feature' }),
  leastDegree: whole({
    min: 0,
    default: 3,
    common: true,
    meaning: 'minimum number of edges of a listed item',
  }),
};

/** Features that are printed by default: a few screens. */
export const FEATURES_PER_REQUEST = 20;

export const FEATURES_COMMAND = {
  ...ITEM_TITLES,
  top: whole({
    min: 1,
    otherwise: `${FEATURES_PER_REQUEST}; all with --json`,
    common: true,
    meaning: 'number of features, those that explain most',
  }),
};
