// Options of `graphex check` and of `checkSparsity`.

import { decimal, input, list, outputFolder, whole } from '../declare.js';
import { FORCE, SEED } from '../shared.js';

export const CHECK = {
  replicates: whole({
    min: 0,
    max: 1000,
    default: 10,
    common: true,
    meaning: 'sampled points per level; 0: only the exact line',
  }),
  levels: list(decimal({ above: 0, max: 1, meaning: 'a sampling level' }), {
    flag: null,
    otherwise: '0.05, 0.1 … 1',
    meaning: 'sampling levels, at most 127',
  }),
  ...SEED,
};

export const CHECK_COMMAND = {
  output: outputFolder({
    meaning: 'folder for density.svg, degrees.svg and check.html',
  }),
  model: input({
    common: true,
    meaning: 'a model of these data: also show its evidence for sparsity',
  }),
  ...FORCE,
};
