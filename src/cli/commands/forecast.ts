// graphex forecast: how many users, items and edges there will be.

import { writeTexts } from '../../files/folder.js';
import { forecastGrowth, type GrowthForecast } from '../../forecast/forecast.js';
import { fingerprint } from '../../graph/fingerprint.js';
import { DATA_HELP } from '../../ingest/formats.js';
import { timeColumn } from '../../ingest/intake/value-column.js';
import type { ReadResult } from '../../ingest/options.js';
import { chartDocument } from '../../report/charts/svg-document.js';
import { renderForecastPage } from '../../report/pages/forecast.js';
import { forecastText } from '../../report/terminal/forecast.js';
import { forecastAnswer } from '../../report/words/forecast.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { declareCommand, pause } from '../command.js';
import { posteriorFor } from '../model-source.js';
import { checkOutputs } from '../outputs.js';
import { againArguments, type DataArgument, dataArgument, dataJson, readData } from '../read-data.js';

const REPORT_FILES = ['users.svg', 'items.svg', 'forecast.html'] as const;

export const register = declareCommand(
  'forecast',
  {
    description:
      'How will it grow? Users, items and edges at a multiple of today’s, with back-tests on the data.',
    takes: { '<data...>': DATA_HELP },
    examples: [
      'graphex forecast ratings.csv --users-times 2 -o forecast',
      'graphex forecast ratings.csv --time timestamp --next quarter',
    ],
  },
  async (context, { own, options, read: reader }, given: string[]) => {
    const { seed, task, signal, warn } = context;
    const data = await dataArgument(given);
    const source = data.title;
    const { output, model: modelFile, time, all, force } = own;
    await checkOutputs({
      files: [reader.rejects],
      folder: output === undefined ? undefined : { path: output, names: REPORT_FILES },
      inputs: [...data.sources, modelFile],
      force,
    });
    const value = time === undefined ? undefined : timeColumn(time);
    const result = await readData(data.sources, reader, context, { value });
    if (result.graph.multigraph) {
      warn('a forecast is about users, items and edges: the counts of the edges are ignored');
    }
    const model =
      modelFile === undefined
        ? undefined
        : await posteriorFor(modelFile, 'draws', fingerprint(result.graph), warn);
    const times = result.values;
    const found = await forecastGrowth(result.graph, { ...options, model, times, ...task });
    const names = result.graph.names ?? USERS_AND_ITEMS;
    await pause(signal);
    const written =
      output === undefined ? [] : await writeReport(output, force, source, result, found, names, seed);
    return {
      json: forecastJson(data, result, found, names, written),
      text: forecastText(source, againArguments(data, reader), result, found, names, written, all),
    };
  },
);

/** The document of --json; a value that does not exist is null. */
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
    next: found.next ?? null,
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
  // Charts are loaded only here: loading them takes longer than most forecasts.
  const { growthPictures } = await import('../../report/charts/growth.js');
  const charts = growthPictures(await chartDocument(), found, names);
  const page = renderForecastPage({
    source,
    found,
    names,
    charts,
    seed,
    fingerprint: fingerprint(graph),
  });
  const files: Record<string, string> = {
    ...Object.fromEntries(Object.entries(charts).map(([side, svg]) => [`${side}.svg`, svg])),
    'forecast.html': page,
  };
  return writeTexts(folder, files, { force });
}
