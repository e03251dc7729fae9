// Charts for small screens, on which wide charts would be too small to read: the same chart with less text.

import type { CheckedFit } from '../../study/results.js';
import type { SideNames } from '../../text/sides.js';
import type { Chart } from './chart.js';
import { type PredictionChartOptions, predictionChart } from './prediction.js';
import { type PredictivePanel, predictiveChart } from './predictive.js';

/** A chart in both widths; the narrow one may be several. */
export interface ChartPair {
  readonly wide: Chart;
  readonly narrow: readonly Chart[];
}

/** A chart that is drawn in both widths, if it has no narrow one of its own. */
export function inBothWidths(chart: Chart | ChartPair): ChartPair {
  return 'wide' in chart ? chart : { wide: chart, narrow: [phone(chart)] };
}

export function predictionPair(
  fits: readonly CheckedFit[],
  options: Omit<PredictionChartOptions, 'narrow'>,
): ChartPair {
  return {
    wide: predictionChart(fits, options),
    narrow: [predictionChart(fits, { ...options, narrow: true })],
  };
}

/** Panels side by side, or one by one. */
export function predictivePair(panels: readonly PredictivePanel[], names: SideNames): ChartPair {
  return {
    wide: predictiveChart(panels, names),
    narrow: panels.map((panel) => {
      const chart = phone(predictiveChart([panel], names));
      // The name of the panel is where the label of the axis would be.
      const { y } = chart.plot as { readonly y?: object };
      const plot = { ...chart.plot, y: { ...y, label: null } };
      return { ...chart, plot, title: 'Degrees of the test graph and of draws', height: 480 };
    }),
  };
}

function phone(chart: Chart): Chart {
  return { ...chart, subtitle: undefined, width: 400, height: 330 };
}
