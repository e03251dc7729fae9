// Six small graphs whose exact posteriors are kept in posteriors.json (made by bench/trust.ts).

import type { ModelParameters } from '../../src/process/parameters.js';

export interface SmallGraph {
  readonly parameters: ModelParameters & { readonly seed?: number; readonly multigraph?: boolean };
}

const side = (sigma: number, size: number, shape = 0.5) => ({ sigma, tau: 1, shape, rate: shape, size });

export const SMALL_GRAPHS: Record<string, SmallGraph> = {
  'dense, simple': {
    parameters: { users: side(-0.5, 36), items: side(-0.5, 36), features: 3, multigraph: false, seed: 1 },
  },
  'dense, multi': {
    parameters: { users: side(-0.5, 30), items: side(-0.5, 30), features: 3, multigraph: true, seed: 2 },
  },
  'sparse, simple': {
    parameters: { users: side(0.2, 20), items: side(0.2, 20), features: 3, multigraph: false, seed: 3 },
  },
  'sparse, multi': {
    parameters: { users: side(0.2, 18), items: side(0.2, 18), features: 3, multigraph: true, seed: 4 },
  },
  'very sparse': {
    parameters: { users: side(0.5, 18), items: side(0.5, 18), features: 2, multigraph: false, seed: 5 },
  },
  'dense users, sparse items': {
    parameters: {
      users: side(-0.5, 20, 0.3),
      items: side(0.4, 8, 0.3),
      features: 4,
      multigraph: false,
      seed: 6,
    },
  },
};
