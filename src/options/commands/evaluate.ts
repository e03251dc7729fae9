// Options of `graphex evaluate`, and of the functions that rank, draw and evaluate.

import { column, flag, input, list, listOrOne, oneOf, repeated, whole } from '../declare.js';
import { DRAWS_GIVEN, ENGINE_NAMES, LIST_METRICS, PROTOCOLS, SIZE_MODES } from '../names.js';
import { SEED } from '../shared.js';

/** Fewer replicas do not show a spread. */
export const LEAST_REPLICAS = 5;

const MOST_DRAWS = 100_000;
const DEFAULT_DRAWS = 100;

/** How rankings and predictions are evaluated. */
export const EVALUATION = {
  n: whole({ min: 1, max: 1e6, default: 20, flag: '-n', meaning: 'length of the lists' }),
  depth: whole({ min: 1, max: 1e9, default: 1000, meaning: 'number of ranks that nDCG covers' }),
  draws: whole({
    min: 0,
    max: MOST_DRAWS,
    default: DEFAULT_DRAWS,
    common: true,
    meaning: 'posterior predictive draws; 0: none',
  }),
  drawsGiven: oneOf(DRAWS_GIVEN, {
    default: 'unconditional',
    meaning: 'what the predictive draws know of the test set',
    details: 'unconditional: nothing. paper: which users and items it contains.',
  }),
  calibrate: whole({
    min: 0,
    max: 10_000,
    default: 0,
    meaning: 'number of replicas to correct the intervals by; 0: none',
    details: `Each replica is drawn from the model and fitted again. At least ${LEAST_REPLICAS} are needed.`,
  }),
};

/** A ranking alone. */
export const RANK = { n: EVALUATION.n, depth: EVALUATION.depth };

const SIZES = oneOf(SIZE_MODES, {
  default: 'posterior',
  flag: null,
  meaning: 'sizes of the processes: drawn from their posterior, or as estimated',
});

/** Predictive draws alone. */
export const DRAW = {
  draws: whole({ min: 1, max: MOST_DRAWS, default: DEFAULT_DRAWS, meaning: 'number of draws' }),
  drawsGiven: EVALUATION.drawsGiven,
  sizes: SIZES,
  graphs: flag({ default: false, flag: null, meaning: 'also return the drawn graphs' }),
  ...SEED,
};

export const EVALUATE = {
  ...EVALUATION,
  ...SEED,
  correct: flag({
    otherwise: 'on for auto models that are not calibrated',
    meaning: 'correct means and intervals by the errors on training data',
    off: '--no-correct',
    offMeaning: 'show means and intervals as drawn',
  }),
  sizes: SIZES,
  engine: oneOf(ENGINE_NAMES, { default: 'auto', flag: null, meaning: 'engine of fold-in and rankings' }),
};

/** On the command line -n takes several lengths; a (p,q) split takes only one. */
export const EVALUATE_FLAGS = {
  ...EVALUATE,
  n: listOrOne(EVALUATION.n, {
    default: [20],
    flag: '-n',
    common: true,
    meaning: 'length of the lists, or several: 5,10,20',
    details: 'Several lengths need metrics of whole lists: see metrics.',
  }),
};

/** The parts of any split, as tables. */
export const SPLIT_TABLES = {
  train: input({ common: true, meaning: 'training part: a table of users and items' }),
  test: input({ common: true, meaning: 'test part' }),
  validation: input({ meaning: 'validation part, if there is one' }),
};

const METRIC = oneOf(LIST_METRICS, { meaning: 'a metric' });

/** Lists evaluated on the parts of any split. */
export const EVALUATE_TABLES = {
  metrics: list(METRIC, {
    default: LIST_METRICS,
    otherwise: 'all',
    meaning: `metrics to compute, of ${LIST_METRICS.join(', ')}`,
  }),
  n: listOrOne(whole({ min: 1, max: 1e6, meaning: 'a length' }), {
    default: [20],
    flag: '-n',
    meaning: 'lengths of the lists, as in 5,10,20',
  }),
  ...SEED,
};

export const EVALUATE_COMMAND = {
  ...SPLIT_TABLES,
  recommendations: input({
    common: true,
    meaning: 'lists made elsewhere: users, items, ranks',
    details:
      'A column of scores may stand for the ranks. Without either, rows are taken as ordered, best first.',
  }),
  rank: column({
    otherwise: 'found by its name',
    meaning: 'column of the ranks in these lists',
  }),
  score: column({
    otherwise: 'found by its name',
    meaning: 'column of the scores in these lists',
  }),
  protocol: oneOf(PROTOCOLS, {
    otherwise: 'split for a split folder, else all-items',
    common: true,
    meaning: 'what is ranked: split or all-items',
    details:
      'split: the items of the test part, with capped recall and predictive checks. all-items: every item that the user does not have. Lists made elsewhere and metrics imply all-items.',
  }),
  metrics: list(METRIC, {
    default: LIST_METRICS,
    otherwise: 'all',
    common: true,
    meaning: 'all-items: metrics to print',
    details: `Any of ${LIST_METRICS.join(', ')}.`,
  }),
  against: repeated(input({ meaning: 'a rival' }), {
    argument: 'file',
    common: true,
    meaning: 'model or table of lists to compare with, on the same users; may be repeated',
    details:
      'Models must be fitted to the same training part. Tables of lists imply the protocol all-items. Each difference has an interval.',
  }),
};
