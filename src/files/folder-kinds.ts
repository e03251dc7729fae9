// Folders that graphex writes, by the file that tells them apart.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL_FILE, MODEL_FOLDER_READERS } from '../options/commands/merge.js';
import {
  PARTITION_FILE,
  PARTITION_READERS,
  PARTITIONED_SPLIT_READERS,
  SPLIT_FILE,
} from '../options/commands/partition.js';
import { list } from '../text/phrases.js';

export interface FolderKind {
  /** The file that such a folder has. */
  readonly marker: string;
  readonly name: string;
  /** Who reads it. */
  readonly readers: string;
  /** What else to give. */
  readonly instead: string;
}

const MADE_OF = 'give the data that it was made of';

export const FOLDER_KINDS: readonly FolderKind[] = [
  {
    marker: SPLIT_FILE,
    name: 'a split',
    readers: `graphex ${list(PARTITIONED_SPLIT_READERS, 'and')} read`,
    instead: `${MADE_OF}, or one of its parts`,
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
    instead: 'give the data that they were made of',
  },
];

/** What graphex has written into a folder. */
export function folderKinds(folder: string): FolderKind[] {
  return FOLDER_KINDS.filter(({ marker }) => existsSync(join(folder, marker)));
}
