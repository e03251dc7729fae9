// Options of `graphex simulate` and of `simulate`.

import { decimal, flag, oneOf, outputFile, section, whole } from '../declare.js';
import { PROCESS_NAMES } from '../names.js';
import { FORCE, HYPER, hyper, SEED } from '../shared.js';

const sidePrior = (side: 'users' | 'items') => ({
  sigma: hyper('sigma', side, { default: 0.2, common: true }),
  tau: hyper('tau', side, { default: 1 }),
  size: decimal({
    above: 0,
    max: HYPER.size.max,
    default: 1200,
    common: true,
    meaning: `size of the process of the ${side}`,
    flag: `--size-${side}`,
  }),
  shape: hyper('shape', side, { default: 0.1 }),
  rate: hyper('rate', side, { default: 0.1 }),
});

/** A draw from the model; the defaults are those of the paper's simulated set. */
export const SIMULATE = {
  users: section(sidePrior('users'), 'the prior of the users'),
  items: section(sidePrior('items'), 'the prior of the items'),
  features: whole({
    min: 1,
    max: 65_536,
    default: 30,
    argument: 'k',
    common: true,
    meaning: 'number of features',
  }),
  multigraph: flag({
    default: false,
    flag: '--multi',
    common: true,
    meaning: 'keep the number of edges between two vertices',
  }),
  tolerance: decimal({
    above: 0,
    below: 1,
    default: 1e-4,
    argument: 'share',
    meaning: 'share of the vertices that the cut of small weights may miss',
  }),
  ...SEED,
  truth: flag({ default: false, flag: null, meaning: 'also return the parameters of the vertices' }),
};

export const SIMULATE_COMMAND = {
  output: outputFile({
    required: true,
    meaning: 'table of edges to write: .parquet, .csv or .tsv (also .gz)',
  }),
  process: oneOf(PROCESS_NAMES, {
    otherwise: 'the sparse Poisson matrix model',
    common: true,
    meaning: 'draw from a general graphex process instead',
    details: 'It has sizes of its own unless they are given.',
  }),
  ...FORCE,
};
