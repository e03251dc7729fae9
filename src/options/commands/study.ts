// Options of `graphex study` and of `study`: its own and those of its steps.

import {
  column,
  flag,
  inGroup,
  input,
  listOrAll,
  listOrOne,
  oneOf,
  outputFolder,
  repeated,
  text,
  whole,
} from '../declare.js';
import { BASELINES, MODEL_KINDS, PROTOCOLS } from '../names.js';
import { BASELINE_TRIALS, FORCE, SEED, SIDE_INFO } from '../shared.js';
import { EVALUATION, SPLIT_TABLES } from './evaluate.js';
import { AUTO, BOUND, FEATURES, METHODS, ONE_FEATURES } from './fit.js';
import { ABOUT_TIME } from './forecast.js';
import { ITEM_TITLES } from './similar.js';
import { SPLIT } from './split.js';

const { restarts, counts } = METHODS.ascent;
const { tolerance, start, sizes, learn, users, items } = BOUND;
/** The same option, which the short help of a study leaves to `--help-all`. */
const rarely = <O extends { readonly common?: boolean }>(option: O): O => ({ ...option, common: false });
const [engine, iterations] = [rarely(METHODS.ascent.engine), rarely(BOUND.iterations)];

export const STUDY = {
  ...inGroup('Study', {
    features: listOrOne(ONE_FEATURES, {
      flag: FEATURES.flag,
      default: [30],
      common: true,
      meaning: 'number of features, or several, as in 10,30',
      details: `${AUTO}: chosen by the evidence.`,
    }),
    model: oneOf([...MODEL_KINDS, 'paper', 'all'], {
      default: 'all',
      argument: 'kind',
      common: true,
      meaning: 'auto, sparse, dense, paper or all',
      details: 'paper: sparse and dense. all: auto, sparse and dense.',
    }),
    repeats: whole({
      min: 1,
      max: 1000,
      default: 1,
      common: true,
      meaning: 'number of splits to repeat on',
    }),
    topicItems: whole({ min: 1, max: 1000, default: 10, meaning: 'items shown of each feature' }),
  }),
  ...inGroup('Split', { testUsers: rarely(SPLIT.testUsers), testItems: rarely(SPLIT.testItems) }),
  ...inGroup('Evaluation', {
    ...EVALUATION,
    protocol: oneOf(PROTOCOLS, {
      default: 'split',
      otherwise: 'split; all-items with tables and lists',
      common: true,
      meaning: 'what is ranked: split or all-items',
      details:
        'split: the items of the test part, for users with a history. all-items: every item that the user does not have, and nDCG within the list.',
    }),
    baselines: listOrAll(oneOf(BASELINES, { meaning: 'a baseline' }), {
      default: BASELINES,
      otherwise: 'all',
      common: true,
      meaning: 'baselines to compare with, or none',
      details: `Some of ${BASELINES.join(', ')}.`,
    }),
    trials: whole({
      ...BASELINE_TRIALS,
      otherwise: '20; 14 from 2 million edges',
      meaning: 'maximum number of settings to try for one baseline',
    }),
    ranker: flag({
      off: '--no-ranker',
      offMeaning: 'do not fit a ranker',
      otherwise: 'up to 2 million edges',
      meaning: 'also fit a ranker',
      details: 'On larger data it takes longer than everything else.',
    }),
    halfLife: text({
      argument: METHODS.ranking.halfLife.argument,
      default: 'never',
      meaning: 'ranker: weigh edges by age, a span such as 90d, auto or never',
      details: METHODS.ranking.halfLife.details,
    }),
  }),
  ...inGroup('Fit', { engine, iterations, tolerance, start, restarts, sizes, counts }),
  ...SEED,
  ...inGroup('Fit', { learn, users, items }),
};

export const STUDY_COMMAND = {
  output: outputFolder({
    required: true,
    meaning: 'folder for report.html, results.json and figures/',
  }),
  from: input({
    common: true,
    meaning: 'results.json of a study to repeat',
  }),
  ...inGroup('Split', SPLIT_TABLES),
  ...inGroup('Evaluation', {
    lists: repeated(text({ meaning: 'a name and a table' }), {
      argument: 'name=file',
      common: true,
      meaning: 'lists made elsewhere, to compare with; may be repeated',
      details:
        'A table of users, items and ranks or scores. It needs a split that is given: two tables, or a split folder.',
    }),
  }),
  ...inGroup('Study', ITEM_TITLES),
  ...inGroup('Evaluation', {
    itemInfo: input({
      meaning: 'table about the items: a ranker with attributes joins the comparison',
      details: 'Any table, with a row for each item, or for each item and attribute.',
    }),
    infoColumns: SIDE_INFO.infoColumns,
  }),
  time: column({
    ...ABOUT_TIME,
    common: false,
    meaning: 'column of the times, for weights by age',
    details: 'Dates, or seconds since 1970. A split folder keeps the times of its data.',
  }),
  open: flag({ default: false, meaning: 'open the report when it is written' }),
  ...FORCE,
};
