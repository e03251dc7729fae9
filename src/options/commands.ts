// The table of commands: which declarations make up the options of each. A new command gets a file in commands/ and a line here.

import { AUDIT, AUDIT_COMMAND } from './commands/audit.js';
import { CHECK, CHECK_COMMAND } from './commands/check.js';
import { EVALUATE_COMMAND, EVALUATE_FLAGS } from './commands/evaluate.js';
import { DESCRIBE, FEATURES_COMMAND } from './commands/features.js';
import { FIT, FIT_COMMAND } from './commands/fit.js';
import { FORECAST, FORECAST_COMMAND } from './commands/forecast.js';
import { LOAD } from './commands/load.js';
import { MERGE_COMMAND } from './commands/merge.js';
import { PARTITION, PARTITION_COMMAND } from './commands/partition.js';
import { RECOMMEND, RECOMMEND_COMMAND } from './commands/recommend.js';
import { SEARCH, SEARCH_COMMAND } from './commands/search.js';
import { SERVE } from './commands/serve.js';
import { LIST, SIMILAR_COMMAND } from './commands/similar.js';
import { SIMULATE, SIMULATE_COMMAND } from './commands/simulate.js';
import { SPLIT, SPLIT_COMMAND } from './commands/split.js';
import { STUDY, STUDY_COMMAND } from './commands/study.js';
import type { Declaration } from './declare.js';
import { COMMON, READ, READ_TABLES } from './shared.js';

/**
 * The declarations of every command: `own` belongs to the command line alone, `read` goes to the reader of DATA,
 * `options` to the library's function, and `common` to all commands.
 */
export const COMMANDS = {
  simulate: { own: SIMULATE_COMMAND, options: SIMULATE, common: COMMON },
  check: { own: CHECK_COMMAND, options: CHECK, read: READ, common: COMMON },
  split: { own: SPLIT_COMMAND, options: SPLIT, read: READ, common: COMMON },
  partition: { own: PARTITION_COMMAND, options: PARTITION, read: READ, common: COMMON },
  fit: { own: FIT_COMMAND, options: FIT, read: READ, common: COMMON },
  merge: { own: MERGE_COMMAND, options: {}, common: COMMON },
  evaluate: { own: EVALUATE_COMMAND, options: EVALUATE_FLAGS, read: READ_TABLES, common: COMMON },
  forecast: { own: FORECAST_COMMAND, options: FORECAST, read: READ, common: COMMON },
  audit: { own: AUDIT_COMMAND, options: AUDIT, read: READ_TABLES, common: COMMON },
  recommend: { own: RECOMMEND_COMMAND, options: RECOMMEND, common: COMMON },
  search: { own: SEARCH_COMMAND, options: SEARCH, common: COMMON },
  load: { own: {}, options: LOAD, common: COMMON },
  similar: { own: SIMILAR_COMMAND, options: LIST, common: COMMON },
  features: { own: FEATURES_COMMAND, options: DESCRIBE, common: COMMON },
  serve: { options: SERVE, common: COMMON },
  study: { own: STUDY_COMMAND, options: STUDY, read: READ, common: COMMON },
} as const satisfies Record<string, Readonly<Record<string, Declaration>>>;
/** The names of the commands. */
export type CommandName = keyof typeof COMMANDS;
