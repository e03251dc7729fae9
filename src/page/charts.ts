// The charts of the reports, in a chunk of their own: fetched with the first one.

import type { PredictiveCheck } from '../evaluate/predictive.js';
import { type Chart, drawChart } from '../report/charts/chart.js';
import { predictionChart } from '../report/charts/prediction.js';
import type { CheckedFit } from '../study/results.js';
import type { SideNames } from '../text/sides.js';

export { boundChart } from '../report/charts/bound.js';
export { degreesChart } from '../report/charts/degrees.js';
export { densityChart } from '../report/charts/density.js';
export { predictiveChart } from '../report/charts/predictive.js';
export type { Chart };

/** Charts are drawn beside the page: what Plot sets on the way is no business of the page's security policy. */
let beside: Document | undefined;

/** Below this share of its usual width, and below so many pixels, a chart is made smaller as a whole: its words would not fit. */
const NARROWEST = { share: 0.82, pixels: 580 };

export function svgOf(chart: Chart, width: number): string {
  beside ??= document.implementation.createHTMLDocument('');
  const { width: usual = 560, height: tall = 360 } = chart;
  const drawn = Math.max(width, NARROWEST.pixels, Math.round(NARROWEST.share * usual));
  const height = drawn < usual ? Math.max(260, Math.round((tall * drawn) / usual)) : tall;
  return drawChart(beside, { ...chart, width: drawn, height });
}

/** The prediction chart of one model alone. */
export function predictionOf(
  predictive: PredictiveCheck,
  model: 'sparse' | 'dense',
  names: SideNames,
): Chart {
  return predictionChart([{ model, predictive } as CheckedFit], { names });
}
