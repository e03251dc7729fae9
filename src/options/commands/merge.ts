// Options of `graphex merge`, and the names of models by shard.

import { outputFile } from '../declare.js';
import { FORCE } from '../shared.js';
import { FIT_COMMAND } from './fit.js';

/** The file that marks a folder as a model by shard. */
export const MODEL_FILE = 'head.safetensors';
/** The commands that read such a folder. */
export const MODEL_FOLDER_READERS = ['recommend', 'search', 'evaluate', 'merge'] as const;

export const MERGE_COMMAND = {
  output: outputFile({
    required: true,
    meaning: 'model file to write (safetensors)',
  }),
  precision: FIT_COMMAND.precision,
  usersInModel: FIT_COMMAND.usersInModel,
  ...FORCE,
};
