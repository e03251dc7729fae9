// How far the draws of each model lie from the test set: mean and interval of every figure, the test set at zero.

import * as Plot from '@observablehq/plot';
import { drawsOf, isIndex, observedOf, type Statistic } from '../../evaluate/predictive.js';
import type { ModelKind } from '../../options/names.js';
import { type CheckedFit, predictionError } from '../../study/results.js';
import { shownStatistics } from '../../study/verdict.js';
import { statisticLabel } from '../../text/figures.js';
import { signed } from '../../text/numbers.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { shortName } from '../words/methods.js';
import { describeError } from '../words/prediction.js';
import { type Chart, legend } from './chart.js';
import { INK } from './ink.js';

/** Per cent for counts; for tail indexes hundredths, so that both fit one axis. */
function scaled(fit: CheckedFit, statistic: Statistic, value: number): number {
  const observed = observedOf(fit.predictive, statistic);
  return 100 * (isIndex(statistic) ? value - observed : value / observed - 1);
}

/** How a chart of predictions is drawn. */
export interface PredictionChartOptions {
  readonly narrow?: boolean | undefined;
  readonly names?: SideNames | undefined;
  /** What the models are called; by the names of their kinds otherwise. */
  readonly title?: ((model: ModelKind) => string) | undefined;
}

/** Every figure of the test set at zero; where each model's draws lie around it. */
export function predictionChart(
  fits: readonly CheckedFit[],
  { narrow = false, names = USERS_AND_ITEMS, title }: PredictionChartOptions = {},
): Chart {
  const named = (fit: CheckedFit) => title?.(fit.model) ?? shortName(fit);
  const label = (statistic: Statistic) => statisticLabel(statistic, names);
  const statistics = shownStatistics(fits);
  const corrected = fits.some((fit) => fit.predictive.calibration);
  const points = fits.flatMap((fit) =>
    statistics.map((statistic) => {
      const { mean, low, high } = drawsOf(fit.predictive, statistic);
      const believed = fit.predictive.calibration?.statistics[statistic] ?? { low: mean, high: mean };
      return {
        statistic: label(statistic),
        model: fit.model,
        mean: scaled(fit, statistic, mean),
        low: scaled(fit, statistic, low),
        high: scaled(fit, statistic, high),
        correctedLow: scaled(fit, statistic, believed.low),
        correctedHigh: scaled(fit, statistic, believed.high),
      };
    }),
  );
  const reach = Math.max(
    1,
    ...points.flatMap((p) => [p.low, p.high, p.mean, p.correctedLow, p.correctedHigh].map(Math.abs)),
  );
  const width = narrow ? 400 : 680;
  const marginLeft = 22 + 7.4 * Math.max(...statistics.map((s) => label(s).length));
  // Above the panels, where no interval can reach the words.
  const models = legend(
    fits.map((fit) => ({ words: named(fit), ink: INK[fit.model].light })),
    { width, marginLeft },
  );
  return {
    title: narrow ? 'Predictions against the test set' : 'How far the predictions are from the test set',
    subtitle: narrow
      ? undefined
      : `Dots: mean of the draws. Bars: ${corrected ? '90 % of them, thin: corrected' : '90 % of them'}. Zero: the test set.`,
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
        domain: [-1.08 * reach, 1.08 * reach],
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
          return [
            Plot.ruleY(own, {
              ...place,
              x1: 'low',
              x2: 'high',
              stroke: INK[model].light,
              strokeWidth: 4,
              strokeOpacity: 0.35,
            }),
            Plot.ruleY(corrected ? own : [], {
              ...place,
              x1: 'correctedLow',
              x2: 'correctedHigh',
              stroke: INK[model].light,
              strokeWidth: 1.6,
              dy: 7,
            }),
            Plot.dot(own, { ...place, x: 'mean', fill: INK[model].light, r: 4.4 }),
          ];
        }),
        ...models.marks,
      ],
    },
  };
}
