// Options of `graphex study` and of `study`.

import { flag, inGroup, input, listOrAll, listOrOne, oneOf, output, whole } from '../declare.js';
import { BASELINES, MODEL_KINDS } from '../names.js';
import { BASELINE_TRIALS, FORCE, SEED } from '../shared.js';
import { JUDGING } from './evaluate.js';
import { AUTO, BOUND, FEATURES, METHODS, ONE_FEATURES } from './fit.js';
import { SPLIT } from './split.js';

const { engine, restarts, counts } = METHODS.ascent;
const { iterations, tolerance, start, sizes, learn, users, items } = BOUND;

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

export const STUDY_COMMAND = {
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
