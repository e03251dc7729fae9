// The recommendation leaderboard as a picture: a dot with its error bar for every method, one panel per metric.

import * as Plot from '@observablehq/plot';
import {
  byRecall,
  type Figure,
  type Leaderboard,
  type LeaderboardMetric,
  type LeaderboardRow,
  leaderboardFigure,
} from '../../study/leaderboard.js';
import { metricPhrase } from '../../text/figures.js';
import { fixed } from '../../text/numbers.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { methodTitle } from '../words/methods.js';
import type { Chart } from './chart.js';
import { INK } from './ink.js';

/** Half the width of a 95 % interval, in standard errors. */
const WIDTH = 1.96;
const ROW_HEIGHT = 22;

/** Methods from best to worst by recall; `metrics` are the panels, side by side or, when narrow, one below the other. */
export function rankingChart(
  leaderboard: Leaderboard,
  metrics: readonly LeaderboardMetric[],
  {
    narrow = false,
    names = USERS_AND_ITEMS,
  }: { readonly narrow?: boolean | undefined; readonly names?: SideNames | undefined } = {},
): Chart {
  const word = (metric: LeaderboardMetric) => metricPhrase(metric, leaderboard.n, names);
  const title = (row: LeaderboardRow) => methodTitle(row, leaderboard, names);
  const rows = byRecall(leaderboard);
  const shown = metrics.filter((metric) => rows.some((row) => leaderboardFigure(row, metric)));
  const points = rows.flatMap((row) =>
    shown.flatMap((metric) => {
      const figure = leaderboardFigure(row, metric);
      return figure ? [point(row, title(row), word(metric), figure)] : [];
    }),
  );
  const domain = shown.map(word);
  const scales = new Map(domain.map((name) => [name, panelScale(points.filter((p) => p.metric === name))]));
  const at = (edge: 'low' | 'value' | 'high') => (p: Point) => scales.get(p.metric)!.at(p[edge]);
  const ticks = domain.flatMap((name) => scales.get(name)!.ticks.map((tick) => ({ name, ...tick })));
  const panel = narrow ? 'fy' : 'fx';
  const place = { [panel]: 'metric', y: 'who' };
  const height = 46 + (34 + ROW_HEIGHT * rows.length) * (narrow ? shown.length : 1);
  return {
    title: `Which method ranks the test ${names.items.many} best`,
    subtitle: narrow ? undefined : 'Further right is better. Bars: 95 % interval.',
    description: rows
      .map(
        (row) =>
          `${title(row)}: ${word('recall')} ${fixed(row.all.recall.mean, 3)}, ${word('ndcg')} ${fixed(row.all.ndcg.mean, 3)}.`,
      )
      .join(' '),
    width: narrow ? 400 : 680,
    height,
    plot: {
      marginLeft: 22 + 7.2 * Math.max(...rows.map((row) => title(row).length)),
      marginRight: 14,
      marginTop: 34,
      [panel]: { label: null, domain, padding: narrow ? 0.16 : 0.08, axis: null },
      // Each panel has its own scale from 0 to 1: recall may be 0.1 where nDCG is 0.8.
      x: { domain: [0, 1], axis: null },
      y: { type: 'band', domain: rows.map(title), label: null, padding: 0.1 },
      marks: [
        Plot.axisY({ tickSize: 0, label: null, ...(narrow ? {} : { fx: domain[0] }) }),
        Plot.frame({ stroke: INK.muted.light, strokeOpacity: 0.3 }),
        Plot.ruleX(ticks, { [panel]: 'name', x: 'x', strokeOpacity: 0.1 }),
        Plot.text(ticks, { [panel]: 'name', x: 'x', text: 'text', frameAnchor: 'bottom', dy: 16 }),
        Plot.text(domain, {
          [panel]: (name: string) => name,
          text: (name: string) => name,
          frameAnchor: 'top-left',
          dy: -16,
          fontWeight: 600,
        }),
        ...[...new Set(points.map((p) => p.ink))].flatMap((ink) => {
          const own = points.filter((p) => p.ink === ink);
          return [
            Plot.ruleY(own, {
              ...place,
              x1: at('low'),
              x2: at('high'),
              stroke: ink,
              strokeWidth: 1.6,
              strokeOpacity: 0.6,
            }),
            Plot.dot(
              own.filter((p) => !p.hollow),
              { ...place, x: at('value'), fill: ink, r: 4.4 },
            ),
            Plot.dot(
              own.filter((p) => p.hollow),
              { ...place, x: at('value'), fill: INK.ground.light, stroke: ink, strokeWidth: 1.6, r: 4 },
            ),
          ];
        }),
      ],
    } as Plot.PlotOptions,
  };
}

/** Places of values in a panel, from 0 at its left edge to 1, and two to five round values to label. */
function panelScale(points: readonly Point[]): {
  readonly at: (value: number) => number;
  readonly ticks: readonly { readonly x: number; readonly text: string }[];
} {
  const lowest = Math.min(...points.map((p) => p.low));
  const highest = Math.max(...points.map((p) => p.high));
  const spread = highest - lowest || 1e-3;
  const low = Math.max(0, lowest - 0.08 * spread);
  const high = highest + 0.05 * spread;
  const at = (value: number) => (value - low) / (high - low);
  const power = 10 ** Math.floor(Math.log10((high - low) / 2));
  const step = power * [5, 2, 1].find((times) => times * power <= (high - low) / 2)!;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { at, ticks: ticks.map((value) => ({ x: at(value), text: fixed(value, digits) })) };
}

type Point = ReturnType<typeof point>;

function point(row: LeaderboardRow, who: string, metric: string, { mean, standardError }: Figure) {
  return {
    metric,
    who,
    ink: inkOf(row),
    hollow: row.kind === 'ceiling',
    value: mean,
    low: Math.max(0, mean - WIDTH * standardError),
    high: mean + WIDTH * standardError,
  };
}

function inkOf({ kind, model }: LeaderboardRow): string {
  if (model) return INK[model].light;
  if (kind === 'lists') return INK.text.light;
  return kind === 'ranker' ? INK.ranking.light : INK.muted.light;
}
