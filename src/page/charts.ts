// The charts of the reports, in a chunk of their own that is fetched with the first chart.

import type { PredictiveCheck } from '../evaluate/predictive.js';
import type { GrowthForecast } from '../forecast/forecast.js';
import type { SideName } from '../graph/graph.js';
import type { ModelKind } from '../options/names.js';
import { boundChart } from '../report/charts/bound.js';
import { type Chart, drawChart } from '../report/charts/chart.js';
import { checkedDegrees, degreesChart } from '../report/charts/degrees.js';
import { densityChart } from '../report/charts/density.js';
import { growthChart } from '../report/charts/growth.js';
import { type ChartPair, inBothWidths, predictionPair, predictivePair } from '../report/charts/narrow.js';
import { MODEL_TITLES } from '../report/words/page.js';
import type { SparsityCheck } from '../sparsity/check.js';
import type { CheckedFit } from '../study/results.js';
import type { SideNames } from '../text/sides.js';

export type { ChartPair };

/** Charts are drawn in a document of their own: Plot sets styles that the page's security policy forbids. */
let drawing: Document | undefined;

/** A wide chart is not drawn narrower than this share of its usual width or this many pixels: its text would not fit. */
const NARROWEST = { share: 0.82, pixels: 580 };
/** Below this width in pixels, the charts for small screens are drawn, as in the reports. */
const SMALL = 540;

/** The charts of a pair for a width. */
export function svgsOf({ wide, narrow }: ChartPair, width: number): { svgs: string[]; small: boolean } {
  if (width >= SMALL) return { svgs: [wideSvg(wide, width)], small: false };
  return { svgs: narrow.map((chart) => draw(chart, Math.max(width, chart.width ?? 0))), small: true };
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

export function boundOf(bounds: Parameters<typeof boundChart>[0]): ChartPair {
  return inBothWidths(boundChart(bounds));
}

export const densityOf = (check: SparsityCheck): ChartPair => inBothWidths(densityChart(check));

export function degreesOf(check: SparsityCheck): ChartPair {
  return inBothWidths(degreesChart(checkedDegrees(check), check.names));
}

export function growthOf({ sides }: GrowthForecast, side: SideName, names: SideNames): ChartPair {
  return inBothWidths(growthChart(side, sides[side], names));
}

/** The prediction chart of one model. */
export function predictionOf(predictive: PredictiveCheck, model: ModelKind, names: SideNames): ChartPair {
  return predictionPair([{ model, predictive } as CheckedFit], {
    names,
    title: (kind) => MODEL_TITLES[kind],
  });
}

/** The degrees of its draws. */
export function predictiveOf({ degrees }: PredictiveCheck, kind: ModelKind, names: SideNames): ChartPair {
  return predictivePair([{ name: MODEL_TITLES[kind], kind, degrees }], names);
}
