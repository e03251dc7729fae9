// Options of `graphex partition` and of `partitionGraph`, and the names of partitioned data.

import { outputFolder, text, whole } from '../declare.js';
import { FORCE } from '../shared.js';

/** The file that marks a folder of shards. */
export const PARTITION_FILE = 'parts.json';
/** The commands that read such a folder. */
export const PARTITION_READERS = ['check', 'split', 'fit'] as const;

/** The file that marks a split. */
export const SPLIT_FILE = 'split.json';
/** The file that marks a folder of folds of users. */
export const FOLDS_FILE = 'folds.json';
/** The `format` of a split whose parts are in shards, and the commands that read it. */
export const PARTITIONED_SPLIT_FORMAT = 'graphex-split-parts';
export const PARTITIONED_SPLIT_READERS = ['fit', 'evaluate'] as const;

export const PARTITION = {
  shards: whole({
    min: 1,
    max: 4096,
    default: 16,
    common: true,
    meaning: 'number of shards',
    details: 'A fit has the same bits on any number of machines; another number of shards gives other bits.',
  }),
  memory: text({
    argument: 'size',
    otherwise: 'a quarter of the machine',
    common: true,
    meaning: 'memory for sorting rows, as in 800M or 2G',
    details: 'Ids need memory of their own.',
  }),
};

export const PARTITION_COMMAND = {
  output: outputFolder({
    required: true,
    meaning: 'folder for the shards, the items and parts.json',
  }),
  ...FORCE,
};
