import { SIDES } from '../../graph/graph.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import { grouped, percent, short } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { type Html, numbers, table } from './html.js';

export function degreeTable({ degrees, names }: Pick<SparsityCheck, 'degrees' | 'names'>): Html {
  return table(
    [{ label: 'Edges of' }, ...numbers('least', 'median', 'mean', 'most', 'with a single edge')],
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
