// The sparsity picture of the paper's Figure 2: edge density of sampled graphs against the sampling level.

import * as Plot from '@observablehq/plot';
import { otherSide, SIDES } from '../../graph/graph.js';
import { mean } from '../../math/moments.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import type { CurvePoint } from '../../sparsity/curves.js';
import { percent, short } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { across, type Chart, cornerName, upward } from './chart.js';
import { INK } from './ink.js';

/** Curves by the side that is sampled, what the sides are called, and the verdict on each. */
export type DensityCurves = Pick<SparsityCheck, 'curves'> & Partial<Pick<SparsityCheck, 'names' | 'verdict'>>;

/**
 * Expected edges over expected pairs as lines, and the mean of the replicates with their range. Dropping vertices of one
 * side tests the other: a curve has the name and the colour of the side it tests.
 */
export function densityChart(found: DensityCurves): Chart {
  const { curves, names = USERS_AND_ITEMS } = found;
  const sides = SIDES.map((sampled) => ({
    points: curves[sampled],
    ink: INK[otherSide(sampled)].light,
    label: `${names[otherSide(sampled)].many}, tested by dropping ${names[sampled].many}`,
  }));
  const top = Math.max(...sides.flatMap(({ points }) => points.flatMap((p) => [p.expected, ...p.sampled])));
  return {
    title: 'Density when only a share is kept',
    subtitle: readingWords(found),
    description: sides
      .map(({ label, points }) => {
        const first = points[0];
        const last = points.at(-1)!;
        return `${capital(label)}: density ${short(first.expected)} with ${percent(first.level)} kept, ${short(last.expected)} with ${percent(last.level)}.`;
      })
      .join(' '),
    plot: {
      x: across('share kept', { domain: [0, 1] }),
      y: upward('density', {
        domain: [0, top * 1.25],
        tickFormat: (value: number) => short(value),
        ticks: 6,
      }),
      marks: sides.flatMap(({ label, ink, points }, row) => {
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
          Plot.dot(replicated, {
            x: 'level',
            y: (p: CurvePoint) => mean(p.sampled),
            r: 2.6,
            fill: ink,
          }),
          cornerName(label, ink, { frameAnchor: 'top-right', dx: -4, dy: 4, row }),
        ];
      }),
    },
  };
}

/** How to read the curves, and the verdict, which rests on more than them. Small samples raise every curve at its left end. */
function readingWords({ names = USERS_AND_ITEMS, verdict }: DensityCurves): string {
  const rule = 'Level except at the left end: dense. Falling all along: sparse.';
  if (!verdict) return rule;
  return `${rule} Here: ${SIDES.map((side) => `${names[side].many} ${verdict[side]}`).join(', ')}.`;
}
