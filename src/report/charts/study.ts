// All pictures of a study. Those of the page have two widths, since wide charts are too small to read on a phone.

import { MAIN_METRICS } from '../../study/leaderboard.js';
import { chosenFits, predictingFits, type StudyResults } from '../../study/results.js';
import { shortName } from '../words/methods.js';
import { type Chart, drawChart } from './chart.js';
import { checkedDegreesChart } from './degrees.js';
import { densityChart } from './density.js';
import { type ChartPair, inBothWidths, predictionPair, predictivePair } from './narrow.js';
import { rankingChart } from './ranking.js';
import { splitChart } from './split.js';

/** A picture of a study as SVG text: a wide one, and narrow ones for small screens. */
export interface StudyPicture {
  readonly wide: string;
  readonly narrow: readonly string[];
}

export const STUDY_PICTURES = ['density', 'degrees', 'split', 'prediction', 'predictive', 'ranking'] as const;
/** The names of a study's pictures. */
export type StudyPictureName = (typeof STUDY_PICTURES)[number];
/** Those of the predictive checks, which a study without draws does not have. */
export type PredictionPictures = Readonly<Record<'prediction' | 'predictive', StudyPicture>>;
/** All pictures of a study. */
export type StudyPictures = Readonly<
  Record<Exclude<StudyPictureName, keyof PredictionPictures>, StudyPicture>
> &
  Partial<PredictionPictures>;

/** Every picture of a study as SVG, for the page and for files. */
export function studyPictures(document: Document, results: StudyResults): StudyPictures {
  const draw = (chart: Chart) => drawChart(document, chart);
  const drawn = Object.entries(studyCharts(results)).map(([name, { wide, narrow }]) => [
    name,
    { wide: draw(wide), narrow: narrow.map(draw) },
  ]);
  return Object.fromEntries(drawn);
}

/** The same, one chart at a time, so that a page stays responsive. */
export async function studyPicturesInTurn(
  results: StudyResults,
  draw: (chart: Chart) => Promise<string>,
): Promise<StudyPictures> {
  const pictures: Record<string, StudyPicture> = {};
  for (const [name, { wide, narrow }] of Object.entries(studyCharts(results))) {
    pictures[name] = { narrow: await Promise.all(narrow.map(draw)), wide: await draw(wide) };
  }
  return pictures as unknown as StudyPictures;
}

function studyCharts(results: StudyResults): { readonly [K in keyof StudyPictures]: ChartPair } {
  const { check, runs } = results;
  const { names } = check;
  const fits = predictingFits(chosenFits(results));
  const { leaderboard, split } = runs[0];
  const cut = splitChart(split, names);
  const panels = fits.map((fit) => ({
    name: shortName(fit),
    kind: fit.model,
    degrees: fit.predictive.degrees,
  }));
  return {
    density: inBothWidths(densityChart(check)),
    degrees: inBothWidths(checkedDegreesChart(check)),
    split: { wide: { ...cut, width: 560, height: 260 }, narrow: [cut] },
    ...(fits.length > 0 && {
      prediction: predictionPair(fits, { names }),
      predictive: predictivePair(panels, names),
    }),
    ranking: {
      wide: rankingChart(leaderboard, MAIN_METRICS, { names }),
      narrow: [rankingChart(leaderboard, MAIN_METRICS, { names, narrow: true })],
    },
  };
}
