// Options of `graphex evaluate`, and of the functions that rank, draw and evaluate.

import { column, flag, input, list, listOrOne, oneOf, whole } from '../declare.js';
import { DRAWS_GIVEN, ENGINE_NAMES, LIST_METRICS, PROTOCOLS, SIZE_MODES } from '../names.js';
import { SEED } from '../shared.js';

/** Fewer replicas than this do not tell a spread. */
export const LEAST_REPLICAS = 5;

const MOST_DRAWS = 100_000;

/** How rankings and predictions are judged. */
export const JUDGING = {
  n: whole({
    min: 1,
    max: 1e6,
    default: 20,
    flag: '-n',
    meaning: 'length of the lists that recall looks at',
  }),
  depth: whole({ min: 1, max: 1e9, default: 1000, meaning: 'ranks that nDCG looks at' }),
  draws: whole({
    min: 0,
    max: MOST_DRAWS,
    default: 100,
    meaning: 'posterior predictive draws; 0: no predictive check',
  }),
  drawsGiven: oneOf(DRAWS_GIVEN, {
    default: 'unconditional',
    meaning: 'what predictive draws are given: unconditional, nothing of the test set; paper, its vertices',
  }),
  calibrate: whole({
    min: 0,
    max: 10_000,
    default: 0,
    meaning: `correct the intervals by n replicas of the model, at least ${LEAST_REPLICAS}, each a fit of its own; 0: none`,
  }),
};

/** A ranking alone. */
export const RANK = { n: JUDGING.n, depth: JUDGING.depth };

const SIZES = oneOf(SIZE_MODES, {
  default: 'posterior',
  flag: null,
  meaning: 'whether the sizes of the unseen processes are drawn with their uncertainty',
});

/** Predictive draws alone. */
export const DRAW = {
  draws: whole({ min: 1, max: MOST_DRAWS, default: 100, meaning: 'number of draws' }),
  drawsGiven: JUDGING.drawsGiven,
  sizes: SIZES,
  graphs: flag({ default: false, flag: null, meaning: 'also return the drawn graphs' }),
  ...SEED,
};

export const EVALUATE = {
  ...JUDGING,
  ...SEED,
  correct: flag({
    otherwise: 'for auto models that are not calibrated',
    meaning: 'move and rescale means and intervals by how far off draws are on known data',
    off: '--no-correct',
    offMeaning: 'show means and intervals as drawn',
  }),
  sizes: SIZES,
  engine: oneOf(ENGINE_NAMES, { default: 'auto', flag: null, meaning: 'of the fold-in and of the rankings' }),
};

/** On the command line -n takes several lengths, of which a split of users and items takes one. */
export const EVALUATE_FLAGS = {
  ...EVALUATE,
  n: listOrOne(JUDGING.n, { default: [20], flag: '-n', meaning: JUDGING.n.meaning }),
};

/** Anybody's parts, as tables. */
export const PART_TABLES = {
  train: input({ meaning: 'the training part: a table of users and items' }),
  test: input({ meaning: 'the test part' }),
  validation: input({ meaning: 'the validation part, if there is one' }),
};

const METRIC = oneOf(LIST_METRICS, { meaning: 'a metric' });

/** Lists judged on anybody's parts. */
export const EVALUATE_TABLES = {
  metrics: list(METRIC, {
    default: LIST_METRICS,
    otherwise: 'all',
    meaning: `which metrics, of ${LIST_METRICS.join(',')}`,
  }),
  n: listOrOne(whole({ min: 1, max: 1e6, meaning: 'a length' }), {
    default: [20],
    flag: '-n',
    meaning: 'lengths of the lists that recall looks at, as in 5,10,20',
  }),
  ...SEED,
};

export const EVALUATE_COMMAND = {
  ...PART_TABLES,
  recommendations: input({
    meaning:
      'lists made elsewhere: a table of user, item and rank or score, best first where there is neither',
  }),
  rank: column({ otherwise: 'by its name', argument: 'col', meaning: 'column of the ranks in them' }),
  score: column({ otherwise: 'by its name', argument: 'col', meaning: 'column of the scores in them' }),
  protocol: oneOf(PROTOCOLS, {
    otherwise: 'split for a model on a split folder, all-items for tables, lists made elsewhere and metrics',
    meaning:
      'what is ranked: split, the items of the test part, with capped recall and predictive checks; all-items, every item that the user does not have yet',
  }),
  metrics: list(METRIC, {
    default: LIST_METRICS,
    otherwise: 'all',
    meaning: `metrics of protocol all-items to print, of ${LIST_METRICS.join(',')}`,
  }),
  against: input({
    argument: 'model',
    meaning: 'another model of the same training part: the difference on the same users, with its interval',
  }),
};
