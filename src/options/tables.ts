// What can be said of anybody's parts: looked over by the split doctor, judged by lists.

import { TIME } from './forecast.js';
import { column, flag, input, list, listOrOne, oneOf, output, whole } from './kinds.js';
import { LIST_METRICS } from './names.js';
import { FORCE, SEED } from './shared.js';

/** A split looked over. */
export const AUDIT = {
  control: flag({
    default: true,
    off: '--no-control',
    meaning: 'rewire the parts and see what beats popularity there',
    offMeaning: 'leave the negative control out',
  }),
  ...SEED,
};

/** Anybody's parts, as tables. */
const PART_TABLES = {
  train: input({ meaning: 'the training part: a table of users and items' }),
  test: input({ meaning: 'the test part' }),
  validation: input({ meaning: 'the validation part, if there is one' }),
};

export const AUDIT_COMMAND = {
  ...PART_TABLES,
  time: TIME,
  decision: flag({
    default: false,
    meaning: 'also fit recommenders under three kinds of splits: would another have won? takes minutes',
  }),
  output: output({ flag: '-o, --output', argument: 'dir', meaning: 'write audit.html into DIR' }),
  ...FORCE,
};

const METRIC = oneOf(LIST_METRICS, { meaning: 'a metric' });

/** Lists judged on anybody's parts. */
export const EVALUATE_TABLES = {
  metrics: list(METRIC, {
    default: LIST_METRICS,
    otherwise: 'all',
    meaning: `which metrics, of ${LIST_METRICS.join(',')}`,
  }),
  n: listOrOne(whole({ min: 1, max: 1e6, meaning: 'a length' }), {
    default: [20],
    flag: '-n',
    meaning: 'lengths of the lists that recall looks at, as in 5,10,20',
  }),
  ...SEED,
};

export const EVALUATE_COMMAND = {
  ...PART_TABLES,
  recommendations: input({
    meaning:
      'lists made elsewhere: a table of user, item and rank or score, best first where there is neither',
  }),
  rank: column({ otherwise: 'by its name', argument: 'col', meaning: 'column of the ranks in them' }),
  score: column({ otherwise: 'by its name', argument: 'col', meaning: 'column of the scores in them' }),
  // Left out beside a split folder, something else is done: no default of this option would be it.
  metrics: list(METRIC, {
    default: LIST_METRICS,
    otherwise:
      'all of them for tables and for lists made elsewhere; for a split folder another protocol, which ranks only the items of its test part, caps recall and checks predictions',
    meaning: `every item is ranked and recall has no cap: which metrics, of ${LIST_METRICS.join(',')}`,
  }),
  against: input({
    argument: 'model',
    meaning: 'another model of the same training part: the difference on the same users, with its interval',
  }),
};
