// The sparsity picture of the paper's Figure 2: edge density of sampled graphs against the sampling level.

import * as Plot from '@observablehq/plot';
import type { CurvePoint } from '../../sparsity/curves.js';
import { type Chart, INK } from './chart.js';

export interface DensityCurves {
  /** Users sampled, all items kept: speaks of the items. */
  readonly users: readonly CurvePoint[];
  readonly items: readonly CurvePoint[];
}

/** Exact lines, and the mean of the replicates with their range. A curve has the colour of the side it speaks of. */
export function densityChart(curves: DensityCurves): Chart {
  const sides = [
    { sampled: 'users', speaksOf: 'items', ink: INK.items.light, points: curves.users },
    { sampled: 'items', speaksOf: 'users', ink: INK.users.light, points: curves.items },
  ] as const;
  const top = Math.max(...sides.flatMap(({ points }) => points.flatMap((p) => [p.expected, ...p.sampled])));
  return {
    title: 'Edge density of sampled graphs',
    subtitle: 'Flat: that side is dense. Rising towards the left: that side is sparse.',
    description: sides
      .map(({ sampled, speaksOf, points }) => {
        const first = points[0];
        const last = points.at(-1)!;
        return (
          `With ${sampled} sampled, which speaks of the ${speaksOf}, the density is ${precise(first.expected)} at level ` +
          `${first.level} and ${precise(last.expected)} at level ${last.level}.`
        );
      })
      .join(' '),
    plot: {
      x: {
        domain: [0, 1],
        label: 'share of the sampled side that is kept →',
        labelAnchor: 'right',
        labelArrow: 'none',
      },
      y: {
        domain: [0, top * 1.25],
        label: '↑ edge density',
        labelArrow: 'none',
        grid: true,
        tickFormat: precise,
        ticks: 6,
      },
      marks: sides.flatMap(({ sampled, speaksOf, ink, points }, i) => {
        const replicated = points.filter((p) => p.sampled.length > 0);
        return [
          Plot.line(points, { x: 'level', y: 'expected', stroke: ink, strokeWidth: 2, curve: 'monotone-x' }),
          Plot.ruleX(replicated, {
            x: 'level',
            y1: (p: CurvePoint) => Math.min(...p.sampled),
            y2: (p: CurvePoint) => Math.max(...p.sampled),
            stroke: ink,
            strokeOpacity: 0.55,
          }),
          Plot.dot(replicated, { x: 'level', y: meanSampled, r: 2.6, fill: ink }),
          Plot.text([`${sampled} sampled: speaks of the ${speaksOf}`], {
            frameAnchor: 'top-right',
            fill: ink,
            fontWeight: 600,
            dy: 4 + 18 * i,
            dx: -4,
          }),
        ];
      }),
    },
  };
}

function meanSampled(point: CurvePoint): number {
  return point.sampled.reduce((sum, density) => sum + density, 0) / point.sampled.length;
}

/** Densities span many orders: three significant digits, without an exponent down to 1e-6. */
function precise(value: number): string {
  if (value === 0) return '0';
  return value >= 1e-6 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
}
