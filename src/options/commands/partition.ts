// How data are cut into shards.

import { output, text, whole } from '../declare.js';
import { FORCE } from '../shared.js';

/** The file by which a folder of shards is known. */
export const PARTITION_FILE = 'parts.json';
/** The commands that read such a folder. */
export const PARTITION_READERS = ['check', 'split', 'fit'] as const;

/** The file by which a split is known. */
export const SPLIT_FILE = 'split.json';
/** What it says of a split whose parts are in shards, and the commands that read it. */
export const PARTITIONED_SPLIT_FORMAT = 'graphex-split-parts';
export const PARTITIONED_SPLIT_READERS = ['fit', 'evaluate'] as const;

export const PARTITION = {
  shards: whole({
    min: 1,
    max: 4096,
    default: 16,
    meaning: 'parts that the users are dealt to; a fit has the same bits on any number of machines for each',
  }),
  memory: text({
    argument: 'size',
    otherwise: 'a quarter of the machine',
    meaning: 'memory for the rows on their way, as in 800M or 2G; ids come on top',
  }),
};

export const PARTITION_COMMAND = {
  output: output({
    flag: '-o, --output',
    argument: 'dir',
    required: true,
    meaning: 'folder for the shards, the items and parts.json',
  }),
  ...FORCE,
};
