import type { Statistic } from '../evaluate/predictive.js';

/** The statistics of predictive checks, as tables of the command line call them. */
export const STATISTIC_NAMES: Readonly<Record<Statistic, string>> = {
  users: 'users',
  items: 'items',
  edges: 'edges',
  total: 'sum of counts',
  sigmaUsers: 'σ̂ users',
  sigmaItems: 'σ̂ items',
};
