// graphex forecast: how many users, items and edges there will be.

import type { Command } from 'commander';
import { writeTexts } from '../../files/folder.js';
import { needPosterior } from '../../fit/model.js';
import { type ForecastEstimator, forecastGrowth, type GrowthForecast } from '../../forecast/forecast.js';
import { fingerprint } from '../../graph/fingerprint.js';
import { SIDES, type SideName } from '../../graph/graph.js';
import { DATA_HELP } from '../../ingest/formats.js';
import { timeColumn } from '../../ingest/intake/value-column.js';
import type { ReadResult } from '../../ingest/options.js';
import { COMMANDS } from '../../options/commands.js';
import { chartDocument } from '../../report/charts/document.js';
import { renderForecastPage } from '../../report/pages/forecast.js';
import { textTable, wrap } from '../../report/terminal/text-table.js';
import {
  backtestWords,
  discoveryWords,
  estimatorTitle,
  forecastAnswer,
  modelLeftOutWords,
  timeWords,
} from '../../report/words/forecast.js';
import { readingWords } from '../../report/words/reading.js';
import { loadModel } from '../../store/model-file.js';
import { grouped, short } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { VERSION } from '../../version.js';
import { addOptions, pause, runCommand } from '../command.js';
import { typedOptions } from '../flags.js';
import { checkOutputs } from '../outputs.js';
import { type DataArgument, dataArgument, dataJson, readData } from '../read-data.js';

const REPORT_FILES = ['users.svg', 'items.svg', 'forecast.html'] as const;

export function register(program: Command): void {
  const command = program
    .command('forecast')
    .description(
      'How will it grow? Users, items and edges at a multiple of today’s, tried on the data first.',
    )
    .argument('<data...>', DATA_HELP);
  addOptions(command, [
    'graphex forecast ratings.csv --users-times 2 -o forecast',
    'graphex forecast ratings.csv --items-times 1.5 --time timestamp',
  ]);
  command.action((given: string[]) =>
    runCommand(command, async (context) => {
      const { seed, threads, signal, onProgress, warn } = context;
      const data = await dataArgument(given);
      const source = data.title;
      const { own, options, read: declared } = COMMANDS.forecast;
      const { output, model: modelFile, time, force } = typedOptions(command, own);
      const reader = typedOptions(command, declared);
      await checkOutputs({
        files: [reader.rejects],
        ...(output === undefined ? {} : { folder: { path: output, names: REPORT_FILES } }),
        inputs: [...data.sources, modelFile],
        force,
      });
      const value = time === undefined ? undefined : timeColumn(time);
      const result = await readData(data.sources, reader, context, { value });
      const model = modelFile === undefined ? undefined : await loadModel(modelFile);
      if (model) {
        needPosterior(model, `--model ${modelFile}: draws`);
        if (model.provenance.fingerprint !== fingerprint(result.graph)) {
          warn(`${modelFile} was fitted to other data than these, or to a part of them`);
        }
      }
      const found = await forecastGrowth(result.graph, {
        ...typedOptions(command, options),
        model,
        times: result.values,
        threads,
        signal,
        onProgress,
      });
      const names = result.graph.names ?? USERS_AND_ITEMS;
      await pause(signal);
      const written =
        output === undefined ? [] : await writeReport(output, force, source, result, found, names, seed);
      return {
        json: forecastJson(data, result, found, names, written),
        text: describe(source, result, found, names, written),
      };
    }),
  );
}

/** The document of --json; null where a value does not exist. */
function forecastJson(
  data: DataArgument,
  { read }: ReadResult,
  found: GrowthForecast,
  names: SideNames,
  written: readonly string[],
): object {
  const { refused } = found;
  return {
    ...dataJson(data),
    ...found,
    forecast: found.forecast ?? null,
    backtest: found.backtest ?? null,
    refused: refused ? { ...refused, text: forecastAnswer(found, names) } : null,
    modelLeftOut: found.modelLeftOut ?? null,
    time: found.time ?? null,
    text: forecastAnswer(found, names),
    read,
    written,
  };
}

async function writeReport(
  folder: string,
  force: boolean | undefined,
  source: string,
  { graph }: ReadResult,
  found: GrowthForecast,
  names: SideNames,
  seed: number,
): Promise<string[]> {
  // Loaded here: what draws takes longer to load than most forecasts take.
  const { growthPictures } = await import('../../report/charts/growth.js');
  const charts = growthPictures(await chartDocument(), found, names);
  const page = renderForecastPage({
    source,
    found,
    names,
    charts,
    version: VERSION,
    seed,
    fingerprint: fingerprint(graph),
  });
  const files: Record<string, string> = {
    ...Object.fromEntries(Object.entries(charts).map(([side, svg]) => [`${side}.svg`, svg])),
    'forecast.html': page,
  };
  return writeTexts(folder, files, { force });
}

function describe(
  source: string,
  result: ReadResult,
  found: GrowthForecast,
  names: SideNames,
  written: readonly string[],
): string {
  const { observed } = found;
  const leftOut = modelLeftOutWords(found);
  return [
    `${source}: ${many(observed.users, names.users)} × ${many(observed.items, names.items)}, ${many(observed.edges, 'edge')}, density ${short(observed.density, 4)}`,
    readingWords(result),
    '',
    wrap(forecastAnswer(found, names)),
    ...backtestWords(found, names).map((sentence) => wrap(sentence)),
    ...SIDES.map((side) => wrap(discoveryWords(found, side, names))),
    ...timeWords(found, names).map((sentence) => wrap(sentence)),
    '',
    ...SIDES.flatMap((side) => curveTable(found, side, names)),
    ...(leftOut ? [wrap(leftOut)] : []),
    ...(written.length ? ['', `wrote ${written.join(', ')}`] : []),
  ].join('\n');
}

/** The multiples shown on a terminal; all are in --json. */
const SHOWN = 6;

function curveTable(found: GrowthForecast, side: SideName, names: SideNames): string[] {
  const { curve } = found.sides[side];
  if (curve.length < 2) return [];
  const grown = names[side === 'users' ? 'items' : 'users'].many;
  const asked = found.asked[side === 'users' ? 'items' : 'users'];
  const step = Math.max(1, Math.floor((curve.length - 1) / (SHOWN - 1)));
  const points = curve.filter(
    ({ times }, at) =>
      times > 1 && (at % step === 0 || times === 2 || times === asked || at === curve.length - 1),
  );
  const estimators = new Set(points.flatMap(({ estimators: by }) => Object.keys(by) as ForecastEstimator[]));
  estimators.delete(found.estimator);
  return [
    textTable([
      [
        `${names[side].many}, with so many times the ${grown}`,
        ...points.map(({ times }) => `×${short(times)}`),
      ],
      ['forecast', ...points.map(({ mean }) => grouped(mean))],
      ['90 % interval', ...points.map(({ low, high }) => `${grouped(low)} … ${grouped(high)}`)],
      ...[...estimators].map((name) => [
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
