// The text of graphex forecast.

import type { ForecastEstimator, GrowthForecast } from '../../forecast/forecast.js';
import { otherSide, SIDES, type SideName } from '../../graph/graph.js';
import type { ReadResult } from '../../ingest/options.js';
import { asFlag } from '../../options/as-flag.js';
import { grouped, short } from '../../text/numbers.js';
import { many, present } from '../../text/phrases.js';
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
import { nextLine, textTable, wrap, wrapLines } from './text-table.js';

export function forecastText(
  source: string,
  result: ReadResult,
  found: GrowthForecast,
  names: SideNames,
  written: readonly string[],
  all = false,
): string {
  const { observed } = found;
  return [
    wrap(
      `${source}: ${many(observed.users, names.users)} × ${many(observed.items, names.items)}, ${many(observed.edges, 'edge')}, density ${short(observed.density, 4)}`,
    ),
    wrapLines(readingWords(result, asFlag)),
    '',
    ...nextWords(found, names).map((sentence) => wrap(sentence)),
    wrap(forecastAnswer(found, names)),
    ...backtestWords(found, names).map((sentence) => wrap(sentence)),
    ...SIDES.map((side) => wrap(discoveryWords(found, side, names))),
    ...timeWords(found, names).map((sentence) => wrap(sentence)),
    '',
    ...SIDES.flatMap((side) => curveTable(found, side, names, all)),
    ...present([!all && '--all shows the other estimators.', modelLeftOutWords(found)]).map((line) =>
      wrap(line),
    ),
    ...(written.length
      ? ['', `wrote ${written.join(', ')}`, nextLine('fit', source, '-o model.safetensors')]
      : []),
  ].join('\n');
}

function curveTable(found: GrowthForecast, side: SideName, names: SideNames, all: boolean): string[] {
  const { curve } = found.sides[side];
  if (curve.length < 2) return [];
  const growing = otherSide(side);
  const grown = names[growing].many;
  const asked = found.asked[growing];
  // The other multiples are in the chart and in --json.
  const points = curve.filter(
    ({ times }, at) => times > 1 && (times === 2 || times === asked || at === curve.length - 1),
  );
  const estimators = new Set(points.flatMap(({ estimators: by }) => Object.keys(by) as ForecastEstimator[]));
  const others = all ? [...estimators].filter((name) => name !== found.estimator) : [];
  return [
    textTable([
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
    ]),
    '',
  ];
}
