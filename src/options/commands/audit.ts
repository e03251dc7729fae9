// Options of `graphex audit` and of `auditSplit`.

import { flag, input, outputFolder } from '../declare.js';
import { FORCE, SEED } from '../shared.js';
import { SPLIT_TABLES } from './evaluate.js';
import { TIME } from './forecast.js';

export const AUDIT = {
  control: flag({
    default: true,
    off: '--no-control',
    meaning: 'run the negative control: methods compared on rewired data',
    offMeaning: 'skip the negative control, which compares methods on rewired data',
  }),
  ...SEED,
};

export const AUDIT_COMMAND = {
  ...SPLIT_TABLES,
  foldIn: input({ meaning: 'fold-in part: known items of test users who are not in training' }),
  time: TIME,
  decision: flag({
    default: false,
    common: true,
    meaning: 'also try other splits, to see whether the winner changes',
    details: 'It fits recommenders under three kinds of splits, which takes minutes.',
  }),
  output: outputFolder({
    meaning: 'folder for audit.html',
  }),
  ...FORCE,
};
