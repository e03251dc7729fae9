// The charts of the reports, in a chunk of their own that is fetched with the first chart.

import type { PredictiveCheck } from '../evaluate/predictive.js';
import type { ModelKind } from '../options/names.js';
import { type Chart, drawChart } from '../report/charts/chart.js';
import { type ChartPair, inBothWidths, predictionPair, predictivePair } from '../report/charts/narrow.js';
import { MODEL_TITLES } from '../report/words/page.js';
import type { CheckedFit } from '../study/results.js';
import type { SideNames } from '../text/sides.js';

export { boundChart } from '../report/charts/bound.js';
export { checkedDegreesChart } from '../report/charts/degrees.js';
export { densityChart } from '../report/charts/density.js';
export { growthChart } from '../report/charts/growth.js';

/** Charts are drawn in a document of their own: Plot sets styles that the page's security policy forbids. */
let drawing: Document | undefined;

/** A wide chart is not drawn narrower than this share of its usual width or this many pixels: its text would not fit. */
const NARROWEST = { share: 0.82, pixels: 580 };
/** Below this width in pixels, the charts for small screens are drawn, as in the reports. */
const SMALL = 540;

/** A chart for a width, and the wide one, which can be saved. */
export function svgsOf(chart: Chart | ChartPair, width: number) {
  const { wide, narrow } = inBothWidths(chart);
  if (width >= SMALL) return { wide, svgs: [wideSvg(wide, width)], small: false };
  return { wide, svgs: narrow.map((one) => draw(one, Math.max(width, one.width ?? 0))), small: true };
}

/** The wide chart, as it is saved. */
export function wideSvg(chart: Chart, width: number): string {
  const { width: usual = 560, height: tall = 360 } = chart;
  const drawn = Math.max(width, NARROWEST.pixels, Math.round(NARROWEST.share * usual));
  return draw(chart, drawn, drawn < usual ? Math.max(260, Math.round((tall * drawn) / usual)) : tall);
}

function draw(chart: Chart, width: number, height = chart.height): string {
  drawing ??= document.implementation.createHTMLDocument('');
  return drawChart(drawing, { ...chart, width, height });
}

export function predictionOf(predictive: PredictiveCheck, model: ModelKind, names: SideNames): ChartPair {
  return predictionPair([{ model, predictive } as CheckedFit], {
    names,
    title: (kind) => MODEL_TITLES[kind],
  });
}

export function predictiveOf({ degrees }: PredictiveCheck, kind: ModelKind, names: SideNames): ChartPair {
  return predictivePair([{ name: MODEL_TITLES[kind], kind, degrees }], names);
}
