import { SIDES } from '../../graph/graph.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import { grouped, percent, short } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { type Html, table } from './html.js';

export function degreeTable({ degrees, names }: Pick<SparsityCheck, 'degrees' | 'names'>): Html {
  return table(
    [
      { label: 'Edges of' },
      { label: 'least', numeric: true },
      { label: 'median', numeric: true },
      { label: 'mean', numeric: true },
      { label: 'most', numeric: true },
      { label: 'with a single edge', numeric: true },
    ],
    SIDES.map((side) => {
      const d = degrees[side];
      return [
        capital(names[side].many),
        grouped(d.min),
        grouped(d.median),
        short(d.mean),
        grouped(d.max),
        percent(d.single),
      ];
    }),
  );
}
