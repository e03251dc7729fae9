// The text of graphex forecast.

import type { ForecastEstimator, GrowthForecast } from '../../forecast/forecast.js';
import { otherSide, SIDES, type SideName } from '../../graph/graph.js';
import type { ReadResult } from '../../ingest/options.js';
import { asFlag } from '../../options/as-flag.js';
import { grouped, short } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import {
  backtestWords,
  discoveryWords,
  estimatorTitle,
  forecastAnswer,
  modelLeftOutWords,
  nextWords,
  timeWords,
} from '../words/forecast.js';
import { readingWords } from '../words/reading.js';
import { nextLine, paragraphs, textTable, wrapAll } from './text-table.js';

/** Why the same multiple has two intervals. */
const GIVEN_GROWTH =
  'The tables take each growth as given. The intervals above are wider, because the growth of the next period is uncertain.';

export function forecastText(
  source: string,
  data: readonly string[],
  result: ReadResult,
  found: GrowthForecast,
  names: SideNames,
  written: readonly string[],
  all = false,
): string {
  const { observed, sides } = found;
  // Without a test that passed, nothing is said of a side.
  const shownSides = SIDES.filter((side) => sides[side].curve.length > 1);
  return paragraphs([
    wrapAll([
      `${source}: ${many(observed.users, names.users)} × ${many(observed.items, names.items)}, ${many(observed.edges, 'edge')}, density ${short(observed.density, 4)}`,
      ...readingWords(result, asFlag).split('\n'),
    ]),
    wrapAll([
      ...nextWords(found, names),
      forecastAnswer(found, names),
      ...backtestWords(found, names),
      ...shownSides.map((side) => discoveryWords(found, side, names)),
      ...timeWords(found, names),
    ]),
    ...shownSides.map((side) => curveTable(found, side, names, all)),
    wrapAll([
      found.next !== undefined && shownSides.length > 0 && GIVEN_GROWTH,
      !all && shownSides.length > 0 && '--all shows the other estimators.',
      modelLeftOutWords(found),
    ]),
    written.length > 0 &&
      `wrote ${written.join(', ')}\n${nextLine('fit', ...data, '-o', 'model.safetensors')}`,
  ]);
}

function curveTable(found: GrowthForecast, side: SideName, names: SideNames, all: boolean): string {
  const { curve } = found.sides[side];
  const growing = otherSide(side);
  const grown = names[growing].many;
  const asked = found.asked[growing];
  // The other multiples are in the chart and in --json.
  const points = curve.filter(
    ({ times }, at) => times > 1 && (times === 2 || times === asked || at === curve.length - 1),
  );
  const estimators = new Set(points.flatMap(({ estimators: by }) => Object.keys(by) as ForecastEstimator[]));
  const others = all ? [...estimators].filter((name) => name !== found.estimator) : [];
  return textTable([
    [`${names[side].many}, if the ${grown} grow`, ...points.map(({ times }) => `×${short(times)}`)],
    [`forecast (${estimatorTitle(found.estimator)})`, ...points.map(({ mean }) => grouped(mean))],
    ['90 % interval', ...points.map(({ low, high }) => `${grouped(low)} … ${grouped(high)}`)],
    ...others.map((name) => [
      estimatorTitle(name),
      ...points.map(({ estimators: by }) => {
        const value = by[name];
        return value ? grouped(value.mean) : '–';
      }),
    ]),
  ]);
}
