// Are ranks uniform? Shows the difference of their distribution function from the uniform one. If they are uniform, the whole
// curve lies within the band in 95 % of cases (simultaneous, after Säilynoja, Bürkner and Vehtari 2022, by simulation).

import * as Plot from '@observablehq/plot';
import { randomStream } from '../src/math/random.js';
import type { Chart } from '../src/report/charts/chart.js';
import { INK } from '../src/report/charts/ink.js';

/** The rank of a truth among draws of one simulated set. */
export interface Rank {
  readonly set: number;
  /** Fraction of the draws below the truth; ties count half. */
  readonly rank: number;
}

export interface EcdfLine {
  readonly name: string;
  readonly ink: string;
  readonly ranks: readonly Rank[];
}

export interface EcdfPanel {
  readonly column: string;
  readonly row: string;
  readonly lines: readonly EcdfLine[];
}

interface Point {
  readonly x: number;
  readonly difference: number;
}

/** ECDF minus uniform at k/(draws + 1): there the uniform rank has exactly that probability of being lower. */
export function ecdfDifference(ranks: readonly Rank[], draws: number): Point[] {
  const at = (k: number) => {
    let below = 0;
    for (const { rank } of ranks) {
      const r = rank * draws; // 0 … draws
      if (r < k - 0.75) below++;
      else if (r < k - 0.25) below += 0.5; // a tie: half of it below
    }
    return { x: k / (draws + 1), difference: below / ranks.length - k / (draws + 1) };
  };
  return [
    { x: 0, difference: 0 },
    ...Array.from({ length: draws }, (_, k) => at(k + 1)),
    { x: 1, difference: 0 },
  ];
}

/**
 * The effective number of independent ranks. Ranks of one set share a fit, so the variance of the ECDF over sets is larger than for
 * independent ranks. The ratio of the two variances is averaged over the middle of the range; never below 1.
 */
export function independentRanks(ranks: readonly Rank[]): number {
  const sets = new Map<number, number[]>();
  for (const { set, rank } of ranks) sets.set(set, [...(sets.get(set) ?? []), rank]);
  const n = ranks.length;
  if (sets.size === n) return n;
  let clustered = 0;
  let simple = 0;
  for (let z = 0.1; z < 0.95; z += 0.1) {
    const share = ranks.filter((r) => r.rank < z).length / n;
    simple += n * share * (1 - share);
    for (const own of sets.values()) {
      clustered += (own.filter((rank) => rank < z).length - own.length * share) ** 2;
    }
  }
  return Math.round(n / Math.max(1, clustered / simple));
}

const SIMULATIONS = 2000;
const LEVEL = 0.95;

/**
 * The band of n independent uniform ranks: at every point the central binomial interval of one common level, chosen such
 * that LEVEL of all simulated ECDFs stay inside everywhere.
 */
export function simultaneousBand(n: number, draws: number): { x: number; low: number; high: number }[] {
  const tails = Array.from({ length: draws }, (_, k) => binomialTails(n, (k + 1) / (draws + 1)));
  const random = randomStream(11, n, draws);
  const counts = new Uint32Array(draws + 1);
  const worst = Array.from({ length: SIMULATIONS }, () => {
    counts.fill(0);
    for (let i = 0; i < n; i++) counts[random.below(draws + 1)]++;
    let below = 0;
    let least = 1;
    for (let k = 0; k < draws; k++) least = Math.min(least, tails[k][(below += counts[k])]);
    return least;
  }).sort((a, b) => a - b);
  const level = worst[Math.floor((1 - LEVEL) * SIMULATIONS)];
  const inner = tails.map((tail, k) => {
    const z = (k + 1) / (draws + 1);
    let low = 0;
    while (tail[low] < level) low++;
    let high = n;
    while (tail[high] < level) high--;
    return { x: z, low: low / n - z, high: high / n - z };
  });
  return [{ x: 0, low: 0, high: 0 }, ...inner, { x: 1, low: 0, high: 0 }];
}

/** For every count the smaller of P(X ≤ count) and P(X ≥ count). */
function binomialTails(n: number, p: number): Float64Array {
  const mass = new Float64Array(n + 1);
  // From the mode outwards, then scaled: this needs no factorials, and underflow does no harm.
  const mode = Math.min(n, Math.floor((n + 1) * p));
  mass[mode] = 1;
  for (let c = mode; c < n; c++) mass[c + 1] = (mass[c] * (n - c) * p) / ((c + 1) * (1 - p));
  for (let c = mode; c > 0; c--) mass[c - 1] = (mass[c] * c * (1 - p)) / ((n - c + 1) * p);
  const total = mass.reduce((a, b) => a + b, 0);
  const tails = new Float64Array(n + 1).fill(1);
  for (let c = 0, sum = 0; c <= n; c++) tails[c] = sum += mass[c] / total;
  for (let c = n, sum = 0; c >= 0; c--) tails[c] = Math.min(tails[c], (sum += mass[c] / total));
  return tails;
}

export interface EcdfChartOptions {
  readonly title: string;
  readonly subtitle: string;
  readonly draws: number;
  readonly width: number;
  readonly height: number;
}

/** Panels in rows and columns. Lines that leave the band are not calibrated. */
export function ecdfChart(panels: readonly EcdfPanel[], options: EcdfChartOptions): Chart {
  const { draws } = options;
  const columns = [...new Set(panels.map((p) => p.column))];
  const rowNames = [...new Set(panels.map((p) => p.row))];
  const bands = new Map<number, ReturnType<typeof simultaneousBand>>();
  const bandOf = (line: EcdfLine) => {
    const n = independentRanks(line.ranks);
    if (!bands.has(n)) bands.set(n, simultaneousBand(n, draws));
    return bands.get(n)!;
  };
  // One band per panel: that of the line with the fewest ranks.
  const band = panels.flatMap(({ column, row, lines }) => {
    const widest = [...lines].sort((a, b) => independentRanks(a.ranks) - independentRanks(b.ranks))[0];
    return bandOf(widest).map((b) => ({ ...b, column, row }));
  });
  const lines = panels.flatMap(({ column, row, lines }) =>
    lines.map((line, index) => ({
      ...line,
      index,
      column,
      row,
      points: ecdfDifference(line.ranks, draws).map((p) => ({ ...p, column, row })),
    })),
  );
  const reach = 1.08 * Math.max(...lines.flatMap((l) => l.points.map((p) => Math.abs(p.difference))), 0.13);
  const facet = { fx: 'column', fy: 'row' } as const;
  return {
    title: options.title,
    subtitle: options.subtitle,
    description: lines
      .map((line) => {
        const furthest = line.points.reduce((a, b) =>
          Math.abs(b.difference) > Math.abs(a.difference) ? b : a,
        );
        const place = [line.row, line.column, line.name].filter((word) => word !== '').join(', ');
        return `${place}: largest difference ${furthest.difference.toFixed(2)} at rank ${furthest.x.toFixed(2)}.`;
      })
      .join(' '),
    width: options.width,
    height: options.height,
    plot: {
      marginLeft: 62,
      marginRight: rowNames.length > 1 ? 66 : 12,
      marginTop: 40,
      fx: { domain: columns, axis: null, padding: 0.07 },
      fy: { domain: rowNames, axis: null, padding: 0.1 },
      x: {
        domain: [0, 1],
        ticks: [0.2, 0.5, 0.8],
        tickFormat: String,
        label: 'rank of the truth among the draws →',
        labelAnchor: 'right',
        labelArrow: 'none',
      },
      y: {
        domain: [-reach, reach],
        ticks: 5,
        tickFormat: (v: number) => (v > 0 ? `+${v}` : String(v).replace('-', '−')),
        grid: true,
        label: '↑ ECDF − uniform',
        labelArrow: 'none',
      },
      marks: [
        Plot.frame({ stroke: INK.muted.light, strokeOpacity: 0.4 }),
        Plot.areaY(band, {
          ...facet,
          x: 'x',
          y1: 'low',
          y2: 'high',
          fill: INK.muted.light,
          fillOpacity: 0.22,
        }),
        Plot.ruleY([0], { stroke: INK.muted.light, strokeWidth: 1 }),
        ...lines.map((line) =>
          Plot.line(line.points, { ...facet, x: 'x', y: 'difference', stroke: line.ink, strokeWidth: 2 }),
        ),
        Plot.text(
          columns.map((column) => ({ column, row: rowNames[0] })),
          { ...facet, text: 'column', frameAnchor: 'top-left', dy: -16, fontWeight: 600 },
        ),
        Plot.text(
          rowNames.map((row) => ({ row, column: columns.at(-1)! })),
          { ...facet, text: 'row', frameAnchor: 'right', dx: 10, textAnchor: 'start', fontWeight: 600 },
        ),
        ...lines
          .filter((line) => line.name !== '')
          .map((line) =>
            Plot.text([line], {
              ...facet,
              text: 'name',
              frameAnchor: 'top-right',
              dx: -8,
              dy: 8 + 18 * line.index,
              fill: line.ink,
              fontWeight: 600,
            }),
          ),
      ],
    },
  };
}
