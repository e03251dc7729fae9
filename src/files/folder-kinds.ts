// Folders that graphex writes, recognized by a marker file.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL_FILE, MODEL_FOLDER_READERS } from '../options/commands/merge.js';
import {
  FOLDS_FILE,
  PARTITION_FILE,
  PARTITION_READERS,
  PARTITIONED_SPLIT_READERS,
  SPLIT_FILE,
} from '../options/commands/partition.js';
import { list } from '../text/phrases.js';

interface FolderKind {
  /** The file that marks such a folder. */
  readonly marker: string;
  readonly name: string;
  /** What reads it. */
  readonly readers: string;
  /** What to give instead. */
  readonly instead: string;
}

const MADE_OF = 'give the data from which it was made';

export const FOLDER_KINDS: readonly FolderKind[] = [
  {
    marker: SPLIT_FILE,
    name: 'a split',
    readers: `graphex ${list(PARTITIONED_SPLIT_READERS, 'and')} read`,
    instead: `${MADE_OF}, or one of its parts`,
  },
  {
    marker: FOLDS_FILE,
    name: 'a folder of folds',
    readers: 'graphex study reads',
    instead: 'give one of its folds, as in fold-1',
  },
  {
    marker: MODEL_FILE,
    name: 'a model by shard',
    readers: `graphex ${list(MODEL_FOLDER_READERS, 'and')} read`,
    instead: MADE_OF,
  },
  {
    marker: PARTITION_FILE,
    name: 'a folder of shards',
    readers: `only graphex ${list(PARTITION_READERS, 'and')} read`,
    instead: 'give the data from which they were made',
  },
];

/** The kinds of results that a folder holds. */
export function folderKinds(folder: string): FolderKind[] {
  return FOLDER_KINDS.filter(({ marker }) => existsSync(join(folder, marker)));
}
