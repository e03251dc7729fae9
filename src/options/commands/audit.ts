// Options of `graphex audit` and of `auditSplit`.

import { flag, output } from '../declare.js';
import { FORCE, SEED } from '../shared.js';
import { PART_TABLES } from './evaluate.js';
import { TIME } from './forecast.js';

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
