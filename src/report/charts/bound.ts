// The bound of a fit by iteration, drawn while the fit runs.

import * as Plot from '@observablehq/plot';
import { grouped } from '../../text/numbers.js';
import { across, type Chart, upward } from './chart.js';
import { INK } from './ink.js';

/** [iteration, bound] of each evaluation; the first few are far lower and are left out once there are more. */
export function boundChart(bounds: readonly (readonly [number, number])[]): Chart {
  const shown = bounds.length > 6 ? bounds.slice(Math.min(3, bounds.length - 4)) : bounds;
  const [, first] = bounds[0] ?? [0, 0];
  const [iteration, last] = bounds.at(-1) ?? [0, 0];
  const longest = Math.max(...shown.map(([, bound]) => grouped(bound).length), 0);
  return {
    title: 'Progress of the fit',
    subtitle: 'The bound rises until the fit converges.',
    description: `The bound rose from ${grouped(first)} to ${grouped(last)} by iteration ${grouped(iteration)}.`,
    height: 240,
    plot: {
      marginLeft: Math.max(84, 18 + 8.5 * longest),
      x: across('iteration', { nice: true }),
      y: upward('bound', { ticks: 4, tickFormat: (value: number) => grouped(value) }),
      marks: [
        Plot.line(shown, { x: '0', y: '1', stroke: INK.sparse.light, strokeWidth: 2 }),
        Plot.dot(shown.slice(-1), { x: '0', y: '1', r: 4, fill: INK.sparse.light }),
      ],
    },
  };
}
