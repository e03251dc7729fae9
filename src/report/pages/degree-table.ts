import type { SparsityCheck } from '../../sparsity/check.js';
import { type Html, table } from './html.js';
import { count, percent, short } from './page.js';

export const SIDE_NAMES = [
  ['users', 'Users'],
  ['items', 'Items'],
] as const;

export function degreeTable({ degrees }: Pick<SparsityCheck, 'degrees'>): Html {
  return table(
    [
      { label: 'Edges per vertex' },
      { label: 'least', numeric: true },
      { label: 'median', numeric: true },
      { label: 'mean', numeric: true },
      { label: 'most', numeric: true },
      { label: 'with a single edge', numeric: true },
    ],
    SIDE_NAMES.map(([side, name]) => {
      const d = degrees[side];
      return [name, count(d.min), count(d.median), short(d.mean), count(d.max), percent(d.single)];
    }),
  );
}
