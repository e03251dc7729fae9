// Folds of users as a folder: each fold is the folder of a split, and folds.json says how many there are.

import { join } from 'node:path';
import { z } from 'zod';
import { type FolderFiles, finishFolder, writeFolder } from '../files/folder.js';
import { checkOptions, withDefaults } from '../options/check-options.js';
import { FOLDS_FILE } from '../options/commands/partition.js';
import { SAVE_SPLIT } from '../options/commands/split.js';
import type { OptionsOf } from '../options/declare.js';
import type { SplitFormat } from '../options/names.js';
import { TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import { readDocument, writeDocument } from './folder-document.js';
import { filesOfSplit, loadSplit, splitFiles } from './split-folder.js';

export function foldFiles(folds: number, format: SplitFormat = 'parquet'): string[] {
  const each = Array.from({ length: folds }, (_, fold) =>
    splitFiles(format).map((name) => join(foldName(fold), name)),
  );
  return [...each.flat(), FOLDS_FILE];
}

const foldName = (fold: number) => `fold-${fold + 1}`;

/**
 * Saves the splits of `splitFolds`: a folder with the folders fold-1, fold-2 and so on, each a split.
 * @example
 * import { loadFolds, saveFolds, simulate, splitFolds } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * await saveFolds('saved-folds', splitFolds(graph, 3, { seed: 1 }));
 * console.log((await loadFolds('saved-folds')).length);
 */
export async function saveFolds(
  folder: string,
  splits: readonly Split[],
  extra: Readonly<Record<string, unknown>> = {},
  options: OptionsOf<typeof SAVE_SPLIT> = {},
): Promise<void> {
  const { force, format } = withDefaults(SAVE_SPLIT, options);
  const files: Record<string, FolderFiles[string]> = {};
  for (const [fold, split] of splits.entries()) {
    const about = { ...extra, fold: fold + 1, folds: splits.length };
    for (const [name, write] of Object.entries(filesOfSplit(split, about, format))) {
      files[join(foldName(fold), name)] = write;
    }
  }
  const document = { ...extra, format: FOLDS.format, version: FOLDS.version, folds: splits.length };
  files[FOLDS_FILE] = (path) => writeDocument(path, document);
  await writeFolder(folder, files, { force, obsolete: REPLACED_FOLDS });
}

/** Files of a previous split or of previous folds. */
const REPLACED_FOLDS =
  /^((train|foldin|test|coins-users|coins-items)\.(parquet|csv)|split\.json|fold-\d+[/\\].*)$/;

const FOLDS = {
  ...{ format: 'graphex-folds', version: 1, what: 'the description of the folds' },
  remedy: 'split the data again',
} as const;
const foldsSchema = z.looseObject({
  format: z.literal(FOLDS.format),
  version: z.literal(FOLDS.version),
  folds: z.number().int().min(2).max(100),
});

/**
 * Loads the splits of a folder that `saveFolds` wrote.
 * @example
 * import { loadFolds, saveFolds, simulate, splitFolds } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * await saveFolds('loaded-folds', splitFolds(graph, 3, { seed: 1 }));
 * console.log((await loadFolds('loaded-folds')).map(({ test }) => test.edges));
 */
export async function loadFolds(folder: string, options: TaskOptions = {}): Promise<Split[]> {
  checkOptions(TASK, options);
  const { folds } = await readDocument(join(folder, FOLDS_FILE), foldsSchema, FOLDS);
  await finishFolder(folder, [...foldFiles(folds), ...foldFiles(folds, 'csv')]);
  const splits: Split[] = [];
  for (let fold = 0; fold < folds; fold++)
    splits.push(await loadSplit(join(folder, foldName(fold)), options));
  return splits;
}
