// Options of `graphex load`.

import { decimal, input, whole } from '../declare.js';

export const LOAD = {
  rate: decimal({
    above: 0,
    max: 1e5,
    default: 100,
    common: true,
    meaning: 'recommendations per second to ask for',
  }),
  seconds: decimal({ above: 0, max: 1e6, default: 10, common: true, meaning: 'length of the test' }),
  events: whole({
    min: 0,
    max: 1e6,
    default: 0,
    common: true,
    meaning: 'made-up events per second that the server stores, in batches of 100',
    details:
      'Their users are graphex-load-0 to graphex-load-999. Refits learn from them: use a copy of the store.',
  }),
  keyFile: input({
    otherwise: 'no key is sent',
    common: true,
    meaning: 'file whose first line is the key to send',
  }),
};
