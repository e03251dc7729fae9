// Models by shard.

import { output } from '../declare.js';
import { FORCE } from '../shared.js';
import { FIT_COMMAND } from './fit.js';

/** The file by which a folder with a model by shard is known. */
export const MODEL_FILE = 'head.safetensors';
/** The commands that read such a folder. */
export const MODEL_FOLDER_READERS = ['recommend', 'evaluate', 'merge'] as const;

export const MERGE_COMMAND = {
  output: output({
    flag: '-o, --output',
    required: true,
    meaning: 'the model file to write (safetensors)',
  }),
  precision: FIT_COMMAND.precision,
  usersInModel: FIT_COMMAND.usersInModel,
  ...FORCE,
};
