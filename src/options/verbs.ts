// What the other verbs can be told, one declaration each.

import { AUTO, BOUND, FEATURES, FIT, FIT_COMMAND, METHODS, ONE_FEATURES } from './fit.js';
import { FORECAST, FORECAST_COMMAND, TIME } from './forecast.js';
import {
  type Decimal,
  type Declaration,
  decimal,
  flag,
  inGroup,
  input,
  list,
  listOrAll,
  listOrOne,
  oneOf,
  output,
  repeated,
  section,
  text,
  whole,
} from './kinds.js';
import { MERGE_COMMAND } from './merge.js';
import {
  BASELINES,
  ENGINE_NAMES,
  MODEL_KINDS,
  PROCESS_NAMES,
  PROTOCOLS,
  SIZE_MODES,
  SPLIT_METHODS,
} from './names.js';
import { PARTITION, PARTITION_COMMAND } from './partition.js';
import { type ObjectSchema, toJsonSchema } from './schema.js';
import { SERVE } from './serve.js';
import { BASELINE_TRIALS, COMMON, FORCE, HYPER, READ, READ_TABLES, SEED } from './shared.js';
import { AUDIT, AUDIT_COMMAND, EVALUATE_COMMAND } from './tables.js';

const lawOf = (side: 'users' | 'items') => {
  const one = (name: keyof typeof HYPER, usual: number): Decimal & { readonly default: number } =>
    decimal({
      ...HYPER[name],
      default: usual,
      meaning: HYPER[name].meaning.replaceAll('$', side),
      flag: `--${name}-${side}`,
    });
  return {
    sigma: one('sigma', 0.2),
    tau: one('tau', 1),
    size: decimal({
      above: 0,
      max: HYPER.size.max,
      default: 1200,
      meaning: `size of the GGP of the ${side}`,
      flag: `--size-${side}`,
    }),
    shape: one('shape', 0.1),
    rate: one('rate', 0.1),
  };
};

/** A draw from the model; the defaults are the paper's simulated set. */
export const SIMULATE = {
  users: section(lawOf('users'), 'the law of the users'),
  items: section(lawOf('items'), 'the law of the items'),
  features: whole({ min: 1, max: 65_536, default: 30, argument: 'k', meaning: 'number of features' }),
  multigraph: flag({
    default: false,
    flag: '--multi',
    meaning: 'keep the number of edges between two vertices',
  }),
  tolerance: decimal({
    above: 0,
    below: 1,
    default: 1e-4,
    argument: 'share',
    meaning: 'share of the vertices that the cut of small weights may miscount',
  }),
  ...SEED,
  truth: flag({ default: false, flag: null, meaning: 'also return the parameters of the vertices' }),
};

const SIMULATE_COMMAND = {
  output: output({
    flag: '-o, --output',
    required: true,
    meaning: 'edges as .parquet, .csv or .tsv, the latter two also .gz',
  }),
  process: oneOf(PROCESS_NAMES, {
    otherwise: 'the sparse Poisson matrix model',
    meaning: 'a general graphex process instead, with sizes of its own unless given',
  }),
  ...FORCE,
};

export const CHECK = {
  replicates: whole({
    min: 0,
    max: 1000,
    default: 10,
    meaning: 'sampled points per level; 0: the exact line alone',
  }),
  levels: list(decimal({ above: 0, max: 1, meaning: 'a sampling level' }), {
    flag: null,
    otherwise: '0.05, 0.1 … 1',
    meaning: 'sampling levels, at most 127',
  }),
  ...SEED,
};

const CHECK_COMMAND = {
  output: output({
    flag: '-o, --output',
    argument: 'dir',
    meaning: 'write density.svg, degrees.svg and check.html into DIR',
  }),
  model: input({ meaning: 'a model fitted to this data: also show its evidence for sparsity' }),
  ...FORCE,
};

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

const SPLIT_COMMAND = {
  output: output({
    flag: '-o, --output',
    argument: 'dir',
    required: true,
    meaning: 'folder for train, foldin and test (Parquet), coins and split.json',
  }),
  time: TIME,
  ...FORCE,
};

/** Fewer replicas than this do not tell a spread. */
export const LEAST_REPLICAS = 5;

const MOST_DRAWS = 100_000;

/** How rankings and predictions are judged. */
const JUDGING = {
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
  protocol: oneOf(PROTOCOLS, {
    default: 'unconditional',
    meaning: 'unconditional: draws know nothing of the test set; paper: they know its vertices',
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
  protocol: JUDGING.protocol,
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
const EVALUATE_FLAGS = {
  ...EVALUATE,
  n: listOrOne(JUDGING.n, { default: [20], flag: '-n', meaning: JUDGING.n.meaning }),
};

/** Lists for a user or for many. */
export const RECOMMEND = {
  n: whole({ min: 1, max: 1e6, default: 20, flag: '-n, --count', meaning: 'items to list' }),
  includeSeen: flag({ default: false, meaning: 'list also what the user already has' }),
  explain: flag({
    default: false,
    meaning: 'say which of the user’s items each score comes from; about 15 times the work of a list',
  }),
};

/** Lists of items alone. */
export const LIST = { n: whole({ min: 1, max: 1e6, default: 10, flag: '-n', meaning: 'items to list' }) };

/** What a model found. */
export const DESCRIBE = {
  n: whole({ min: 1, max: 1e6, default: 10, flag: '-n', meaning: 'items and users of each feature' }),
  leastDegree: whole({ min: 0, default: 3, meaning: 'edges that an item needs in the data to be named' }),
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

/** Features that are printed where nobody says how many: some screens full. */
export const FEATURES_PER_REQUEST = 20;

/** Of whatever shows items or takes them. */
const ITEM_TITLES = {
  titles: input({
    meaning: 'titles of the items: a table of ids and titles; items may then be named by title',
  }),
};

export const SIMILAR_COMMAND = {
  item: text({ argument: 'id', meaning: 'the item that others are compared with' }),
  ...ITEM_TITLES,
};

const { engine, restarts, counts } = METHODS.ascent;
const { iterations, tolerance, start, sizes, learn, users, items } = BOUND;

export const FEATURES_COMMAND = {
  ...ITEM_TITLES,
  top: whole({
    min: 1,
    otherwise: `${FEATURES_PER_REQUEST}; all with --json`,
    meaning: 'features to give, those that explain most',
  }),
};

/** The whole study: its own options and those of its parts. */
export const STUDY = {
  ...inGroup('Study', {
    features: listOrOne(ONE_FEATURES, {
      flag: FEATURES.flag,
      default: [30],
      meaning: `numbers of features, as in 10,30,60; ${AUTO}: the one that the evidence speaks for`,
    }),
    model: oneOf([...MODEL_KINDS, 'both', 'all'], {
      default: 'all',
      argument: 'kind',
      meaning: 'which models to fit; both: sparse and dense; all: auto, sparse and dense',
    }),
    repeats: whole({ min: 1, max: 1000, default: 1, meaning: 'repeat on n splits: mean and spread' }),
    topicItems: whole({ min: 1, max: 1000, default: 10, meaning: 'items shown of each feature' }),
  }),
  ...inGroup('Split', { testUsers: SPLIT.testUsers, testItems: SPLIT.testItems }),
  ...inGroup('Evaluation', {
    ...JUDGING,
    baselines: listOrAll(oneOf(BASELINES, { meaning: 'a baseline' }), {
      default: BASELINES,
      otherwise: 'all',
      meaning: `all, none, or some of ${BASELINES.join(',')}`,
    }),
    trials: whole({
      ...BASELINE_TRIALS,
      otherwise: '20; 14 from 2 million edges',
      meaning: 'settings tried for one baseline, at most',
    }),
    ranker: flag({
      off: '--no-ranker',
      offMeaning: 'leave out the fit made for ranking',
      otherwise: 'up to 2 million edges, above which it takes longest',
      meaning: 'also fit for ranking',
    }),
  }),
  ...inGroup('Fit', { engine, iterations, tolerance, start, restarts, sizes, counts }),
  ...SEED,
  ...inGroup('Fit', { learn, users, items }),
};

const STUDY_COMMAND = {
  output: output({
    flag: '-o, --output',
    argument: 'dir',
    required: true,
    meaning: 'folder for report.html, results.json and figures/',
  }),
  from: input({ meaning: 'repeat the study of a results.json, to the same numbers' }),
  titles: input({
    group: 'Study',
    meaning: 'titles of the items, for the view of the features: a table of ids and titles',
  }),
  open: flag({ default: false, meaning: 'open the report when it is written' }),
  ...FORCE,
};

export const TITLES = { titles: STUDY_COMMAND.titles };

/**
 * Every command, as declarations by whose they are: `own` is what only the command line knows, `read` goes to the
 * reader of DATA, `options` to the library's function, `common` is everyone's.
 */
export const COMMANDS = {
  simulate: { own: SIMULATE_COMMAND, options: SIMULATE, common: COMMON },
  check: { own: CHECK_COMMAND, options: CHECK, read: READ, common: COMMON },
  split: { own: SPLIT_COMMAND, options: SPLIT, read: READ, common: COMMON },
  partition: { own: PARTITION_COMMAND, options: PARTITION, read: READ, common: COMMON },
  fit: { own: FIT_COMMAND, options: FIT, read: READ, common: COMMON },
  merge: { own: MERGE_COMMAND, options: {}, common: COMMON },
  evaluate: { own: EVALUATE_COMMAND, options: EVALUATE_FLAGS, read: READ_TABLES, common: COMMON },
  forecast: { own: FORECAST_COMMAND, options: FORECAST, read: READ, common: COMMON },
  audit: { own: AUDIT_COMMAND, options: AUDIT, read: READ_TABLES, common: COMMON },
  recommend: { own: RECOMMEND_COMMAND, options: RECOMMEND, common: COMMON },
  similar: { own: SIMILAR_COMMAND, options: LIST, common: COMMON },
  features: { own: FEATURES_COMMAND, options: DESCRIBE, common: COMMON },
  serve: { options: SERVE, common: COMMON },
  study: { own: STUDY_COMMAND, options: STUDY, read: READ, common: COMMON },
} as const satisfies Record<string, Readonly<Record<string, Declaration>>>;
/** The names of the commands. */
export type CommandName = keyof typeof COMMANDS;

/**
 * What the library's function behind a command takes, as a JSON Schema: optionsSchema('split').
 * Commands of several methods, as fit, take all of them together.
 */
export function optionsSchema(command: CommandName): ObjectSchema {
  return toJsonSchema(COMMANDS[command].options);
}
