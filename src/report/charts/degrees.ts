// Degree distributions of both sides: the share of vertices by least number of edges, log-log, with the fitted distribution.

import * as Plot from '@observablehq/plot';
import { type BySide, bySide, SIDES, type SideName } from '../../graph/graph.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import { type DegreeFit, logProbability } from '../../sparsity/degree-likelihood.js';
import type { StudyCheck } from '../../study/results.js';
import { grouped } from '../../text/numbers.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { across, type Chart, cornerName, drawChart, logarithmic, upward } from './chart.js';
import { densityChart } from './density.js';
import { INK } from './ink.js';

/** How often each degree occurs on one side, and the distribution fitted to it. */
export interface DegreeCurve {
  /** [degree, vertices], ascending. */
  readonly histogram: readonly (readonly [number, number])[];
  readonly fit?: DegreeFit | undefined;
}

/** The degrees of a check, with the distributions fitted to them. */
export function checkedDegreesChart({ degrees, sigma, names }: SparsityCheck | StudyCheck): Chart {
  const curve = (side: SideName): DegreeCurve => {
    const { likelihood } = sigma[side];
    const fit = likelihood && { ...likelihood, standardError: likelihood.standardError ?? undefined };
    return { histogram: degrees[side].histogram, fit: fit ?? undefined };
  };
  return degreesChart(bySide(curve), names);
}

export function checkPictures(document: Document, check: SparsityCheck) {
  return {
    density: drawChart(document, densityChart(check)),
    degrees: drawChart(document, checkedDegreesChart(check)),
  };
}

/** Points per curve, at most: a screen cannot show more. */
const MOST_POINTS = 160;

/** Both sides' degrees with the fitted distributions; a curve ends at one vertex. */
export function degreesChart(sides: BySide<DegreeCurve>, names: SideNames = USERS_AND_ITEMS): Chart {
  const curves = SIDES.map((side) => {
    const { histogram, fit } = sides[side];
    const points = thin(survival(histogram));
    const maxDegree = points.at(-1)!.degree;
    const minShare = 1 / histogram.reduce((sum, [, n]) => sum + n, 0);
    const fitted = fit ? fittedSurvival(fit, maxDegree, minShare) : [];
    return { side, points, fitted, maxDegree, minShare };
  });
  const maxDegree = Math.max(...curves.map((curve) => curve.maxDegree));
  const minShare = Math.min(...curves.map((curve) => curve.minShare));
  return {
    title: `How many edges ${names.users.many} and ${names.items.many} have`,
    subtitle: 'Dots: the data. Dashed: the distribution fitted to all degrees.',
    description: curves
      .map(
        ({ side, points, maxDegree: most }) =>
          `The ${names[side].many} have between ${grouped(points[0].degree)} and ${grouped(most)} edges.`,
      )
      .join(' '),
    plot: {
      x: across('edges', logarithmic([0.9, Math.max(10, maxDegree) * 1.15], 1, maxDegree)),
      y: upward('share with at least that many', logarithmic([minShare / 1.6, 1.3], minShare, 1)),
      marks: curves.flatMap(({ side, points, fitted }, row) => {
        const ink = INK[side].light;
        const dashed = { strokeDasharray: '5 4', strokeWidth: 1.6, strokeOpacity: 0.8 };
        return [
          Plot.line(fitted, { x: 'degree', y: 'share', stroke: ink, ...dashed }),
          Plot.dot(points, { x: 'degree', y: 'share', r: 2.2, fill: ink }),
          cornerName(names[side].many, ink, { frameAnchor: 'bottom-left', dx: 8, dy: -30, row }),
        ];
      }),
    },
  };
}

/** Share of the vertices of each degree or more. */
function survival(histogram: readonly (readonly [number, number])[]) {
  const total = histogram.reduce((sum, [, n]) => sum + n, 0);
  let left = total;
  return histogram.map(([degree, n]) => {
    const share = left / total;
    left -= n;
    return { degree, share };
  });
}

type Point = ReturnType<typeof survival>[number];

/** At most MOST_POINTS of them, evenly on the log axis; the first and the last stay. */
function thin(points: readonly Point[]): Point[] {
  const step = Math.log(points.at(-1)!.degree / points[0].degree) / MOST_POINTS;
  let next = 0;
  return points.filter(({ degree }, i) => {
    const at = Math.log(degree);
    if (i > 0 && i < points.length - 1 && at < next) return false;
    next = at + step;
    return true;
  });
}

/** The survival function of the fitted distribution at degrees evenly on the log axis, down to the least share shown. */
function fittedSurvival(fit: DegreeFit, maxDegree: number, least: number): Point[] {
  const points: Point[] = [];
  const ratio = Math.max(1.02, maxDegree ** (1 / MOST_POINTS));
  let share = 1;
  let next = 1;
  let term = Math.exp(logProbability(fit, 1));
  for (let n = 1; n <= maxDegree && share > least; n++) {
    if (n >= next || n === maxDegree) {
      points.push({ degree: n, share });
      next = n * ratio;
    }
    share -= term;
    term *= (fit.r * (n - fit.estimate)) / (n + 1);
  }
  return points;
}
