// The figures of docs/appendix/trust.md that compare coordinate ascent with the exact posterior: rates pair by pair, and ratios.

import * as Plot from '@observablehq/plot';
import type { Chart } from '../src/report/charts/chart.js';
import { INK } from '../src/report/charts/ink.js';

/** Fitted value divided by the exact one, with an interval: by chance, or over pairs. */
export interface Ratio {
  readonly name: string;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/** What bench/trust.ts writes for a graph. */
export interface TrustRow {
  readonly graph: string;
  readonly exactRates: readonly number[];
  readonly fittedRates: readonly number[];
  readonly isEdge: readonly boolean[];
  readonly ratios: readonly Ratio[];
}

const COLUMNS = 3;
/** Where a graph's panel is. */
const panel = (index: number) => ({ column: index % COLUMNS, row: Math.floor(index / COLUMNS) });
const facet = { fx: 'column', fy: 'row' } as const;

/** The graphs' names above their panels. */
function panelNames(rows: readonly TrustRow[]): Plot.Markish {
  return Plot.text(
    rows.map((row, index) => ({ name: row.graph, ...panel(index) })),
    { ...facet, text: 'name', frameAnchor: 'top-left', dy: -16, fontWeight: 600 },
  );
}

const frame = () => Plot.frame({ stroke: INK.muted.light, strokeOpacity: 0.4 });

export function ratesChart(rows: readonly TrustRow[]): Chart {
  const kinds = [
    { edge: false, name: 'no edge', ink: INK.items.light },
    { edge: true, name: 'edge', ink: INK.users.light },
  ];
  const all = rows.flatMap((row) => [...row.exactRates, ...row.fittedRates]);
  const low = 10 ** Math.floor(Math.log10(Math.min(...all)));
  const high = 2 * Math.max(...all);
  const ticks = [1e-5, 1e-3, 0.1, 10, 1000].filter((t) => t >= low && t <= high);
  const scale = { type: 'log', domain: [low, high], ticks, tickFormat: String, labelArrow: 'none' } as const;
  // A path of single points draws a round dot for each, in far less text than circles.
  const dots = (edge: boolean) =>
    rows.flatMap((row, index) =>
      row.exactRates.flatMap((exact, p) =>
        row.isEdge[p] === edge
          ? [
              { exact, fitted: row.fittedRates[p], ...panel(index) },
              { exact: NaN, fitted: NaN, ...panel(index) },
            ]
          : [],
      ),
    );
  return {
    title: 'Rates of pairs: coordinate ascent against the exact posterior',
    subtitle: 'A dot per pair, at the mean of its rate. On the line both agree; below it the fit is too low.',
    description: rows
      .map((row) => {
        const lower = row.exactRates.filter((exact, p) => row.fittedRates[p] < exact).length;
        return `${row.graph}: the fitted rate is below the exact one for ${lower} of ${row.exactRates.length} pairs.`;
      })
      .join(' '),
    width: 800,
    height: 560,
    plot: {
      marginLeft: 62,
      marginRight: 12,
      marginTop: 44,
      fx: { axis: null, padding: 0.07 },
      fy: { axis: null, padding: 0.14 },
      x: { ...scale, label: 'exact rate →', labelAnchor: 'right' },
      y: { ...scale, label: '↑ fitted rate', grid: true },
      marks: [
        frame(),
        panelNames(rows),
        Plot.link([0], { x1: low, y1: low, x2: high, y2: high, stroke: INK.muted.light, strokeWidth: 1.2 }),
        ...kinds.map(({ edge, ink }) =>
          Plot.line(dots(edge), {
            ...facet,
            x: 'exact',
            y: 'fitted',
            z: null,
            stroke: ink,
            strokeWidth: 3.4,
            strokeLinecap: 'round',
            strokeOpacity: 0.65,
          }),
        ),
        ...kinds.map(({ name, ink }, k) =>
          Plot.text([{ name, ...panel(0) }], {
            ...facet,
            text: 'name',
            frameAnchor: 'top-left',
            dx: 8,
            dy: 26 - 18 * k,
            fill: ink,
            fontWeight: 600,
          }),
        ),
      ],
    },
  };
}

/** Rows of the ratio chart by subject. */
const GROUPS = [
  { is: (name: string) => name.startsWith('rate'), ink: INK.users.light },
  { is: (name: string) => name.startsWith('weights'), ink: INK.dense.light },
  { is: (name: string) => name.startsWith('unseen'), ink: INK.items.light },
  { is: (name: string) => name.startsWith('replica'), ink: INK.sparse.light },
];
const groupOf = (name: string) => GROUPS.find(({ is }) => is(name))!;

export function ratiosChart(rows: readonly TrustRow[]): Chart {
  const names = [...new Set(rows.flatMap((row) => row.ratios.map((r) => r.name)))].sort(
    (a, b) => GROUPS.indexOf(groupOf(a)) - GROUPS.indexOf(groupOf(b)),
  );
  const points = rows.flatMap((row, index) =>
    row.ratios.map((r) => ({ ...r, ...panel(index), ink: groupOf(r.name).ink })),
  );
  const domain = [
    Math.min(...points.map((p) => p.low)) / 1.06,
    Math.max(...points.map((p) => p.high)) * 1.06,
  ];
  const ticks = [0.25, 0.35, 0.5, 0.7, 1, 1.4, 2].filter((t) => t >= domain[0] && t <= domain[1]);
  return {
    title: 'Fitted over exact',
    subtitle:
      'Rates: median and middle half of the pairs. Elsewhere bars, mostly within the dots, are 95 % of chance. sd: spread.',
    description: rows
      .map((row) => `${row.graph}: ${row.ratios.map((r) => `${r.name} ${r.ratio.toFixed(2)}`).join(', ')}.`)
      .join(' '),
    width: 800,
    height: 110 + 2 * 21 * names.length,
    plot: {
      marginLeft: 158,
      marginRight: 12,
      marginTop: 40,
      fx: { axis: null, padding: 0.06 },
      fy: { axis: null, padding: 0.12 },
      x: { type: 'log', domain, ticks, tickFormat: String, grid: true, label: null },
      y: { type: 'band', domain: names, label: null, padding: 0.1, tickSize: 0 },
      marks: [
        frame(),
        panelNames(rows),
        Plot.ruleX([1], { stroke: INK.text.light, strokeWidth: 1.3 }),
        ...GROUPS.flatMap(({ ink }) => {
          const own = points.filter((p) => p.ink === ink);
          return [
            Plot.ruleY(own, {
              ...facet,
              y: 'name',
              x1: 'low',
              x2: 'high',
              stroke: ink,
              strokeWidth: 4,
              strokeOpacity: 0.35,
            }),
            Plot.dot(own, { ...facet, y: 'name', x: 'ratio', fill: ink, r: 4 }),
          ];
        }),
      ],
    },
  };
}
