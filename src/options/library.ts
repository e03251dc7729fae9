// Options that only library functions take, each declared once. Options whose types belong to other rooms are declared with their
// functions.

import { RANK } from './commands/evaluate.js';
import { FEATURES } from './commands/fit.js';
import { RECOMMEND } from './commands/recommend.js';
import { ITEM_FILTER, LIST } from './commands/similar.js';
import { decimal, flag, oneOf, section, value, whole } from './declare.js';
import { ENGINE_NAMES, PRECISIONS, USER_STORAGE } from './names.js';
import { BASELINE_TRIALS, edgeTimes, HYPER, hyper, SEED } from './shared.js';

/** An id, as programs write it. */
type Id = string | number;

const isIds = (given: unknown) =>
  Array.isArray(given) && given.every((id) => typeof id === 'string' || typeof id === 'number');
const ids = (meaning: string) =>
  value<readonly Id[]>('object', meaning, { only: { is: isIds, words: 'a list of ids' } });
const bytes = (meaning: string) =>
  value<Uint8Array>('object', meaning, {
    only: { is: (given) => given instanceof Uint8Array, words: 'a Uint8Array' },
  });

const ENGINE = { engine: oneOf(ENGINE_NAMES, { default: 'auto', flag: null, meaning: 'what computes' }) };

/** New vertices of a graph. */
export const FOLD_IN = {
  side: oneOf(['users', 'items'], { default: 'users', meaning: 'the side of the new vertices' }),
  /**
   * `geometric`: the edge pass uses exp(E log ·), which ascends the bound. `mean`: it uses posterior means, which do not
   * shrink the weights of vertices that meet most of what they could; predictive draws need them. Default geometric.
   */
  activity: oneOf(['geometric', 'mean'], { default: 'geometric', meaning: 'what the edge pass uses' }),
  tolerance: decimal({ min: 0, max: 1, default: 1e-4, meaning: 'stop when a half-step changes less' }),
  iterations: whole({ min: 1, max: 1e9, default: 300, meaning: 'most half-steps' }),
  /**
   * Vertices of the fixed side that the new ones could have met: 1 for each such vertex of the model, for instance the items of the
   * training part. Default: all.
   */
  eligible: bytes('1 for each vertex of the fixed side that the new ones could have met'),
  unseenShare: decimal({
    min: 0,
    max: 1,
    default: 1,
    meaning: 'share of the unseen atoms that could be met',
  }),
  ...ENGINE,
};

const prior = (side: 'users' | 'items') =>
  section(
    {
      sigma: hyper('sigma', side, { required: true }),
      tau: hyper('tau', side, { required: true }),
      shape: hyper('shape', side, { required: true }),
      rate: hyper('rate', side, { required: true }),
      size: decimal({ ...HYPER.size, meaning: 'not checked' }),
    },
    `the prior of the ${side}`,
  );

/** Estimating sizes by simulation. */
export const ESTIMATE_SIZES = {
  users: prior('users'),
  items: prior('items'),
  features: whole({ ...FEATURES, max: 65_536, required: true }),
  ...SEED,
};

const SIZE = { above: 0, max: HYPER.size.max, required: true } as const;

/** A general graphex process; its intensities are declared in process/. */
export const GRAPHEX = {
  /** s and α: labels run from 0 to these. */
  sizes: section(
    {
      users: decimal({ ...SIZE, meaning: 'labels of the users run from 0 to this' }),
      items: decimal({ ...SIZE, meaning: 'labels of the items run from 0 to this' }),
    },
    'sizes of the two sides',
  ),
  probability: value<(x: number, y: number) => number>('function', 'W(x, y), from 0 to 1', {
    required: true,
  }),
  /**
   * Promises that W does not increase along the item points of an infinite measure. The sampler then skips items without an edge, so
   * millions of items cost nothing. Default false.
   */
  decreasing: flag({ default: false, meaning: 'W does not increase along the item points' }),
  ...SEED,
};

/** The time of each edge, for a split by time. */
export const SPLIT_TIMES = {
  times: edgeTimes('the time of each edge, in the order of graph.users.neighbors'),
};

const LEVEL = { min: 0, max: 1, required: true } as const;

/** (p,q)-sampling. */
export const LEVELS = {
  users: decimal({ ...LEVEL, meaning: 'probability with which each user is kept' }),
  items: decimal({ ...LEVEL, meaning: 'probability with which each item is kept' }),
};

/** Thinning by random draws of ids. */
export const THIN = {
  users: decimal({ ...LEVEL, default: 1, meaning: 'share of the users that is kept' }),
  items: decimal({ ...LEVEL, default: 1, meaning: 'share of the items that is kept' }),
  ...SEED,
};

/** A graph from pairs. */
export const PAIRS = {
  multigraph: flag({ default: false, meaning: 'keep the number of equal pairs' }),
};

/** How a ranker is stored. */
export const STORAGE = {
  precision: oneOf(PRECISIONS, { otherwise: 'float32', meaning: 'how exactly tables are stored' }),
  /**
   * `stored`: the users' tables. `folded`: the items they have, from which they are folded in on demand. `none`: nothing; users name what
   * they like. Default stored.
   */
  users: oneOf(USER_STORAGE, { otherwise: 'stored', meaning: 'what is stored of the users' }),
};

/** The metrics of a ranking. */
export const RANKING_LISTS = { ...RANK, ...ENGINE };

const UNKNOWN = {
  /** Liked items that the model does not know are left out and reported here; without it they are an InputError. */
  onUnknown: value<(ids: readonly Id[], query: number) => void>(
    'function',
    'called with liked items that the model does not know',
  ),
};

/** Lists for users. */
export const RECOMMEND_LISTS = {
  ...RECOMMEND,
  include: ids('list only these items; unknown ones are ignored'),
  /** Ids that are not to be listed. Ids that the model does not know could not be listed anyway. */
  exclude: ids('not to be listed'),
  ...UNKNOWN,
  /** What computes lists for many users. auto: a GPU if there is one and enough work, else the threads. Default auto. */
  ...ENGINE,
};

/** Ranking the caller's candidates. */
export const CANDIDATES = {
  explain: RECOMMEND.explain,
  ...UNKNOWN,
  /** Candidates that the model does not know are left out and reported here; without it they are an InputError. */
  onUnknownCandidates: value<(ids: readonly Id[]) => void>(
    'function',
    'called with candidates that the model does not know',
  ),
};

/** Explaining one item for one user. */
export const ONE_ITEM = UNKNOWN;

/** The confidence of a list. */
export const CONFIDENCE = {
  ...UNKNOWN,
  /** The condition that the list was made with. */
  ...ITEM_FILTER,
};

export const POPULAR = {
  n: whole({ min: LIST.n.min, max: LIST.n.max, default: 20, meaning: LIST.n.meaning }),
  ...ITEM_FILTER,
  exclude: ids('not to be listed'),
};

/** A baseline as a model. */
export const FIT_BASELINE = {
  ...SEED,
  trials: whole({ ...BASELINE_TRIALS, default: 30, meaning: 'settings tried, at most' }),
  setting: value<Readonly<Record<string, number>>>('object', 'a setting, instead of a search'),
};
