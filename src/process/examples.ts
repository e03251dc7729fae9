// Named graphex processes, for simulations by name and for pictures.

import type { ProcessName } from '../options/names.js';
import type { FiniteIntensity, InfiniteIntensity, SampleGraphexOptions } from './graphex.js';

interface NamedProcess {
  readonly description: string;
  readonly process: Pick<SampleGraphexOptions, 'users' | 'items' | 'sizes' | 'probability' | 'decreasing'>;
}

const unit: FiniteIntensity = { mass: 1, sample: (random) => random.uniform() };

/** Positions on the half-line; 0 is the most active point. Edges beyond the depth are lost: at most 1/(1 + depth) of them. */
const halfLine: InfiniteIntensity = { inverseTail: (mass) => mass, depth: 2e4 };

export const NAMED_PROCESSES: Readonly<Record<ProcessName, NamedProcess>> = Object.freeze({
  dense: {
    description: 'finite activity on both sides (Figure 2a): x, y uniform on [0, 1], W = 1/(1 + 2x + 4y)²',
    process: {
      users: unit,
      items: unit,
      sizes: { users: 1000, items: 1000 },
      probability: (x, y) => (1 + 2 * x + 4 * y) ** -2,
    },
  },
  'sparse-items': {
    description:
      'finite users, infinitely many items (Figure 2b): x uniform on [0, 1], y on [0, ∞), W = 1/(1 + (1 + x)y)²',
    process: {
      users: unit,
      items: halfLine,
      sizes: { users: 1000, items: 100 },
      probability: (x, y) => (1 + (1 + x) * y) ** -2,
      decreasing: true,
    },
  },
  'power-law': {
    description:
      'power-law degrees of index 1/2 on both sides: x, y on [0, ∞), W = 1 − exp(−1/((1 + x)(1 + y))²)',
    process: {
      users: halfLine,
      items: halfLine,
      sizes: { users: 200, items: 200 },
      probability: (x, y) => -Math.expm1(-(((1 + x) * (1 + y)) ** -2)),
      decreasing: true,
    },
  },
});
