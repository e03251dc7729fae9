// Commands that continue a study. They contain its data and options, so they can be copied and run.

import { command, toArguments } from '../../options/arguments.js';
import { FIT, METHOD, METHODS } from '../../options/commands/fit.js';
import { FORECAST } from '../../options/commands/forecast.js';
import { STUDY, STUDY_COMMAND } from '../../options/commands/study.js';
import type { BaselineName } from '../../options/names.js';
import { READ, SEED } from '../../options/shared.js';
import { fitOptionsOf, type ModelKind, type StudySettings, studyDefaults } from '../../study/options.js';
import type { StudyParts, StudyReceipt, StudyResults } from '../../study/results.js';
import { present } from '../../text/phrases.js';

/** The same study with these settings changed. */
export function studyCommand(
  { receipt, check }: StudyResults,
  changes: Partial<StudySettings> & { readonly titles?: string },
  output = 'DIR',
): string {
  const { titles = receipt.origin?.titles?.source, ...changed } = changes;
  const settings = { ...receipt.settings, ...changed };
  const parts = receipt.origin?.parts;
  const said = {
    ...settings,
    // The dense model alone has nothing that replicas may correct.
    ...(settings.model === 'dense' && { calibrate: 0 }),
    // A split that is given is not drawn.
    ...(parts && { testUsers: undefined, testItems: undefined, repeats: undefined }),
  };
  const isOfTables = parts && (parts.train !== undefined || parts.lists.length > 0);
  const usual = { ...studyDefaults(check.edges), protocol: isOfTables ? 'all-items' : 'split' };
  return command([
    'study',
    ...(parts ? givenSplit(parts, receipt.origin?.read) : dataArguments(receipt)),
    ...toArguments(STUDY_COMMAND, { titles }),
    ...infoArguments(receipt),
    ...timeArguments(receipt),
    ...toArguments(STUDY, said, { always: ['features'], usual }),
    '-o',
    output,
  ]);
}

/** The command that repeats a study. If it was given its split, its results do not have the data. */
export function repeatCommand(results: StudyResults): string {
  if (results.receipt.origin?.parts) return studyCommand(results, {}, 'again');
  return command(['study', '--from', 'results.json', '-o', 'again']);
}

/** A fit of all data with one of the study's models; `described`: with the study's table about the items. */
export function fitCommand(
  receipt: StudyReceipt,
  kind: ModelKind,
  features: number,
  { described = false }: { readonly described?: boolean } = {},
): string {
  const options = fitOptionsOf(receipt.settings, kind, features);
  return command([
    'fit',
    ...fittedData(receipt),
    ...toArguments(METHODS.ascent, options, { always: ['features', 'model'] }),
    ...(described ? infoArguments(receipt) : []),
    '-o',
    'model.safetensors',
  ]);
}

/** A ranker fitted to all data, with default settings. */
export function rankingFitCommand(receipt: StudyReceipt, file: string): string {
  const { seed, halfLife } = receipt.settings;
  const weighed = halfLife === 'never' ? {} : { halfLife };
  const fitted = [
    ...fittedData(receipt),
    ...timeArguments(receipt),
    ...toArguments({ ...METHOD, ...METHODS.ranking }, { method: 'ranking', seed, ...weighed }),
    ...infoArguments(receipt),
  ];
  return command(['fit', ...fitted, '-o', file]);
}

/** The column of the times, which `study` and `fit` take for weights by age. */
function timeArguments({ origin, settings }: StudyReceipt): readonly string[] {
  return settings.halfLife === 'never' ? [] : toArguments(STUDY_COMMAND, { time: origin?.time });
}

/** The table about the items, which `study` and `fit` take. */
function infoArguments({ origin }: StudyReceipt): readonly string[] {
  if (!origin?.itemInfo) return [];
  const { source, columns } = origin.itemInfo;
  return toArguments(STUDY_COMMAND, { itemInfo: source, ...(columns && { infoColumns: columns }) });
}

/** A baseline fitted to all data, tuned as in the study. */
export function baselineFitCommand(receipt: StudyReceipt, method: BaselineName, file: string): string {
  const { seed } = receipt.settings;
  const fitted = [...fittedData(receipt), ...toArguments({ method: FIT.method, ...SEED }, { method, seed })];
  return command(['fit', ...fitted, '-o', file]);
}

/** Items for one user of a model of the study's data. */
export function recommendCommand(receipt: StudyReceipt, file: string, user: string): string {
  return command([
    'recommend',
    file,
    // An id that begins with a dash would pass for an option.
    ...(user.startsWith('-') ? [`--user=${user}`] : ['--user', user]),
    '-n',
    '20',
    ...toArguments(STUDY_COMMAND, { titles: receipt.origin?.titles?.source }),
  ]);
}

/** The model over HTTP. */
export function serveCommand(receipt: StudyReceipt, file: string): string {
  return command(['serve', file, ...toArguments(STUDY_COMMAND, { titles: receipt.origin?.titles?.source })]);
}

/** How the study's data will grow. */
export function forecastCommand(receipt: StudyReceipt): string {
  const { seed } = receipt.settings;
  return command([
    'forecast',
    ...dataArguments(receipt),
    ...toArguments(FORECAST, { usersTimes: 2, seed }, { always: ['usersTimes'] }),
    '-o',
    'forecast',
  ]);
}

/** What a fit takes: the data of the study; of folds the first, because a fit takes one split. */
function fittedData(receipt: StudyReceipt): string[] {
  const { folder, folds } = receipt.origin?.parts ?? {};
  return folder !== undefined && folds
    ? [`${folder}${folder.endsWith('/') ? '' : '/'}fold-1`]
    : dataArguments(receipt);
}

/** The tables or the folder of a split, the lists made for it, and the options they were read with. */
function givenSplit({ folder, lists, ...tables }: StudyParts, read: object = {}): string[] {
  const named = lists.map(({ name, source }) => `${name}=${source}`);
  const given = toArguments(STUDY_COMMAND, { ...tables, lists: named });
  return [...present([folder]), ...given, ...toArguments(READ, read)];
}

/** DATA and the options it was read with. */
function dataArguments({ origin }: StudyReceipt): string[] {
  if (!origin) return ['DATA'];
  const sources = origin.sources ?? [origin];
  return [...sources.map(({ source }) => source), ...toArguments(READ, origin.read)];
}
