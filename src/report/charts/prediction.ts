// How far the draws of each model lie from the test set: mean and interval of every figure, the test set at zero.

import * as Plot from '@observablehq/plot';
import { drawsOf, isIndex, observedOf, type Statistic } from '../../evaluate/predictive.js';
import type { ModelKind } from '../../options/names.js';
import { type CheckedFit, predictionError } from '../../study/results.js';
import { shownStatistics } from '../../study/verdict.js';
import { statisticLabel } from '../../text/figures.js';
import { short, signed } from '../../text/numbers.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { shortName } from '../words/methods.js';
import { describeError } from '../words/prediction.js';
import { type Chart, legend } from './chart.js';
import { INK } from './ink.js';

/** Errors of counts in per cent, those of tail indexes in hundredths, so that both fit one axis. */
function scaled(fit: CheckedFit, statistic: Statistic, value: number): number {
  const observed = observedOf(fit.predictive, statistic);
  return 100 * (isIndex(statistic) ? value - observed : value / observed - 1);
}

function pointOf(fit: CheckedFit, statistic: Statistic, label: string) {
  const { mean, low, high } = drawsOf(fit.predictive, statistic);
  const believed = fit.predictive.calibration?.statistics[statistic] ?? { low: mean, high: mean };
  const at = (value: number) => scaled(fit, statistic, value);
  /** The 90 % interval of the draws, and the corrected one. */
  const bar = [low, high, believed.low, believed.high].map(at);
  const all = [at(mean), ...bar];
  return {
    statistic: label,
    model: fit.model,
    mean: at(mean),
    bar,
    least: Math.min(...all),
    most: Math.max(...all),
  };
}
type Point = ReturnType<typeof pointOf>;

/** How a chart of predictions is drawn. */
export interface PredictionChartOptions {
  readonly narrow?: boolean | undefined;
  readonly names?: SideNames | undefined;
  /** The names of the models; by default, those of their kinds. */
  readonly title?: ((model: ModelKind) => string) | undefined;
}

/** A bar is clipped if it is this many times as long as the axis that suits the other bars. */
const CLIP_RATIO = 2;
const LEAST_END = 5;

/**
 * Where the axis ends, and whether longer bars are clipped there: at twice the median `reaches`, rounded up to 5, 10, 20,
 * 50 and so on. A few bars far longer than the others then leave the others readable.
 */
function axisEnd(reaches: readonly number[]): { readonly end: number; readonly clipped: boolean } {
  const sorted = [...reaches].sort((a, b) => a - b);
  const longest = Math.max(1, ...sorted);
  const usual = Math.max(LEAST_END, 2 * (sorted[Math.floor((sorted.length - 1) / 2)] ?? 0));
  const unit = 10 ** Math.floor(Math.log10(usual));
  const limit = unit * ([1, 2, 5, 10].find((step) => step * unit >= usual) ?? 10);
  return longest > CLIP_RATIO * limit ? { end: limit, clipped: true } : { end: longest, clipped: false };
}

/** Every figure of the test set at zero, and where each model's draws lie around it. */
export function predictionChart(
  fits: readonly CheckedFit[],
  { narrow = false, names = USERS_AND_ITEMS, title }: PredictionChartOptions = {},
): Chart {
  const named = (fit: CheckedFit) => title?.(fit.model) ?? shortName(fit);
  const label = (statistic: Statistic) => statisticLabel(statistic, names);
  const statistics = shownStatistics(fits);
  const corrected = fits.some((fit) => fit.predictive.calibration);
  const points = fits.flatMap((fit) =>
    statistics.map((statistic) => pointOf(fit, statistic, label(statistic))),
  );
  const { end, clipped } = axisEnd(points.map(({ least, most }) => Math.max(-least, most)));
  const clip = (value: number) => Math.min(end, Math.max(-end, value));
  const note = `Arrows: clipped at ±${short(end)}\u00a0%.`;
  const width = narrow ? 400 : 680;
  const marginLeft = 22 + 7.4 * Math.max(...statistics.map((s) => label(s).length));
  // Above the panels, so that no interval covers the names.
  const models = legend(
    fits.map((fit) => ({ words: named(fit), ink: INK[fit.model].light })),
    { width, marginLeft },
  );
  return {
    title: narrow ? 'Predictions against the test set' : 'How far the predictions are from the test set',
    subtitle: narrow
      ? clipped
        ? note
        : undefined
      : `Dots: mean of the draws. Bars: ${corrected ? '90 % of them, thin: corrected' : '90 % of them'}. Zero: the test set.${clipped ? ` ${note}` : ''}`,
    description: fits
      .map(
        (fit) =>
          `${named(fit)}: ${statistics.map((s) => `${label(s)} ${describeError(s, predictionError(fit, s))}`).join(', ')}.`,
      )
      .join(' '),
    width,
    height: 68 + models.height + 22 * Math.max(2, fits.length) * statistics.length,
    plot: {
      marginLeft,
      marginTop: 20 + models.height,
      marginRight: 16,
      x: {
        domain: [-1.08 * end, 1.08 * end],
        label: narrow ? '% (σ̂: hundredths) too high →' : 'too low ←  % (σ̂: hundredths)  → too high',
        labelAnchor: narrow ? 'right' : 'center',
        labelArrow: 'none',
        grid: true,
        ticks: narrow ? 5 : 9,
        tickFormat: signed,
      },
      y: { type: 'band', domain: fits.map((fit) => fit.model), axis: null, padding: 0.2 },
      fy: { domain: statistics.map(label), label: null, padding: 0.22 },
      marks: [
        Plot.axisFy({ anchor: 'left', label: null, dx: -8 }),
        Plot.ruleX([0], { stroke: INK.text.light, strokeWidth: 1.4 }),
        ...fits.flatMap(({ model }) => {
          const own = points.filter((p) => p.model === model);
          const place = { fy: 'statistic', y: 'model' } as const;
          const ink = INK[model].light;
          return [
            Plot.ruleY(own, {
              ...place,
              x1: ({ bar }: Point) => clip(bar[0]),
              x2: ({ bar }: Point) => clip(bar[1]),
              stroke: ink,
              strokeWidth: 4,
              strokeOpacity: 0.35,
            }),
            Plot.ruleY(corrected ? own : [], {
              ...place,
              x1: ({ bar }: Point) => clip(bar[2]),
              x2: ({ bar }: Point) => clip(bar[3]),
              stroke: ink,
              strokeWidth: 1.6,
              dy: 7,
            }),
            Plot.dot(
              own.filter(({ mean }) => clip(mean) === mean),
              { ...place, x: 'mean', fill: ink, r: 4.4 },
            ),
            ...([-1, 1] as const).flatMap((way) => [
              Plot.dot(
                own.filter(({ least, most }) => (way < 0 ? -least : most) > end),
                {
                  ...place,
                  x: () => 1.04 * way * end,
                  fill: ink,
                  r: 5,
                  symbol: 'triangle',
                  rotate: 90 * way,
                },
              ),
              // A mean beyond the axis is written out.
              Plot.text(
                own.filter(({ mean }) => way * mean > end),
                {
                  ...place,
                  x: () => way * end,
                  dx: -6 * way,
                  text: ({ mean }: Point) => `mean ${signed(Math.round(mean))}`,
                  textAnchor: way < 0 ? 'start' : 'end',
                  fill: ink,
                  fontWeight: 600,
                  stroke: INK.ground.light,
                  strokeWidth: 4,
                },
              ),
            ]),
          ];
        }),
        ...models.marks,
      ],
    },
  };
}
