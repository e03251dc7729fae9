// The split that a study is given: two tables, or the folder of a split or of folds; and lists made elsewhere.

import { join } from 'node:path';
import type { SplitTables } from '../evaluate/table-task.js';
import { lastTimes } from '../ingest/intake/value-column.js';
import type { ReadGuess, ReadOptions, ReadResult } from '../ingest/options.js';
import type { SPLIT_TABLES } from '../options/commands/evaluate.js';
import type { OptionsOf } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import type { Protocol } from '../options/names.js';
import type { Split } from '../sample/split-types.js';
import { splitOfTables, wholeGraph } from '../sample/whole-graph.js';
import { loadFolds } from '../store/fold-folder.js';
import { isFoldsFolder, isSplitFolder, loadSplit } from '../store/split-folder.js';
import type { StudyLists } from '../study/options.js';
import type { StudyParts } from '../study/results.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import type { CommandContext, TypedOptions } from './command.js';
import { type DataArgument, readData, refuseForSplit } from './read-data.js';
import { readLists } from './read-lists.js';

/** A split that was given, with the graph of all its parts. */
export interface GivenSplit {
  readonly data: DataArgument;
  readonly splits: readonly Split[];
  readonly lists: readonly StudyLists[];
  readonly protocol: Protocol;
  readonly result: ReadResult;
  /** Every path that is read. */
  readonly inputs: readonly string[];
  readonly named: StudyParts;
}

/** Reads the split, if one is given; undefined if DATA are to be split. */
export async function givenSplit(
  typed: readonly string[],
  { own: { train, test, validation, lists = [], time }, read, options }: TypedOptions<'study'>,
  context: CommandContext,
): Promise<GivenSplit | undefined> {
  const isTables = hasTables({ train, test });
  const folder = typed.length === 1 ? await splitFolder(typed[0]) : undefined;
  if (!isTables && folder === undefined) {
    const name = validation !== undefined ? 'validation' : lists.length > 0 ? 'lists' : undefined;
    if (name === undefined) return undefined;
    throw optionError`${option(name)} needs a split that is given: two tables with ${option('train')} and ${option('test')}, or the folder of a split`;
  }
  if (isTables && typed.length > 0) {
    throw optionError`${typed[0]}: ${option('train')} and ${option('test')} replace the data; leave one of the two out`;
  }
  for (const name of ['testUsers', 'testItems', 'repeats'] as const) {
    if (options[name] === undefined) continue;
    throw optionError`${option(name)} has no meaning with a split that is given; leave it out`;
  }
  if (folder !== undefined) {
    refuseForSplit(typed[0], read, time);
    if (validation !== undefined) {
      throw optionError`${option('validation')} goes with ${option('train')} and ${option('test')}; a split folder has no such part`;
    }
  }
  const protocol = options.protocol ?? (isTables || lists.length > 0 ? 'all-items' : 'split');
  const { task } = context;
  const named = lists.map(nameAndFile);
  const tables = isTables
    ? await readTables({ train: train!, test: test!, validation, time }, read, context)
    : undefined;
  const splits =
    folder === 'folds'
      ? await loadFolds(typed[0], task)
      : tables
        ? [splitOfTables(tables)]
        : [await loadSplit(typed[0], task)];
  if (splits.length > 1 && lists.length > 0) {
    throw optionError`${option('lists')}: ${typed[0]} has ${splits.length} folds, and lists are made for one split; study one fold, as in ${join(typed[0], 'fold-1')}`;
  }
  const given: StudyLists[] = [];
  for (const { name, source } of named) {
    given.push({ name, recommendations: (await readLists(source, { ...read, ...task })).given });
  }
  const title = isTables ? train! : typed[0];
  return {
    data: { given: [title], sources: [title], title },
    splits,
    lists: given,
    protocol,
    result: describe(splits[0], tables?.columns),
    inputs: [
      ...(folder === undefined ? [train!, test!, ...(validation === undefined ? [] : [validation])] : typed),
      ...named.map(({ source }) => source),
    ],
    named: {
      ...(folder !== undefined && { folder: typed[0] }),
      ...(folder === 'folds' && { folds: splits.length }),
      ...(isTables && { train: train!, test: test! }),
      ...(validation !== undefined && { validation }),
      lists: named,
    },
  };
}

/** Whether a split is given as two tables; one of them alone is refused. */
export function hasTables({ train, test }: Pick<OptionsOf<typeof SPLIT_TABLES>, 'train' | 'test'>): boolean {
  if ((train === undefined) !== (test === undefined)) {
    throw optionError`${option(train === undefined ? 'test' : 'train')} is given alone; give both ${option('train')} and ${option('test')}`;
  }
  return train !== undefined;
}

/** Whether a path is the folder of a split or of folds. */
async function splitFolder(path: string): Promise<'split' | 'folds' | undefined> {
  if (await isFoldsFolder(path)) return 'folds';
  return (await isSplitFolder(path)) ? 'split' : undefined;
}

/**
 * The parts, the columns of the training part, and the times of the training edges if they have a column: edges of other parts are predicted, so their times are
 * not needed.
 */
export async function readTables(
  {
    train,
    test,
    validation,
    time,
  }: OptionsOf<typeof SPLIT_TABLES> & { readonly time?: string | number | undefined },
  read: ReadOptions,
  context: CommandContext,
): Promise<
  SplitTables & { readonly times?: Float64Array | undefined; readonly columns: ReadGuess['columns'] }
> {
  const part = async (source: string) => (await readData([source], read, context)).graph;
  const value = time === undefined ? undefined : lastTimes(time);
  const { graph, values, guess } = await readData([train!], read, context, { value });
  return {
    train: graph,
    columns: guess.columns,
    test: await part(test!),
    ...(validation !== undefined && { validation: await part(validation) }),
    ...(values && { times: values }),
  };
}

/** `name=file`. */
function nameAndFile(typed: string): { readonly name: string; readonly source: string } {
  const at = typed.indexOf('=');
  const [name, source] = [typed.slice(0, at), typed.slice(at + 1)];
  if (at <= 0 || source === '') {
    throw optionError`${option('lists')} ${typed}: give a name and a file, as in mine=lists.csv`;
  }
  return { name, source };
}

/** The graph of all parts, described as if it had been read. */
function describe(split: Split, columns?: ReadGuess['columns']): ReadResult {
  const graph = wholeGraph(split);
  const { edges, names = USERS_AND_ITEMS } = graph;
  return {
    graph,
    read: { rows: edges, kept: edges, merged: 0, rejected: 0 },
    guess: {
      kind: 'table',
      format: 'the parts of a split',
      columns: { users: columns?.users ?? names.users.one, items: columns?.items ?? names.items.one },
    },
  };
}
