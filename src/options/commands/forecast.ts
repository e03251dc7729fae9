// What a forecast can be told.

import { column, decimal, flag, input, output, whole } from '../declare.js';
import { DATA_GROUP, FORCE, SEED } from '../shared.js';
import { FEATURES } from './fit.js';

const MOST_DRAWS = 100_000;
const TIMES = { min: 1, max: 1000, argument: 'x' } as const;

/** How data grow. */
export const FORECAST = {
  usersTimes: decimal({ ...TIMES, default: 2, meaning: 'how many times the present users there will be' }),
  itemsTimes: decimal({ ...TIMES, default: 1, meaning: 'how many times the present items there will be' }),
  until: decimal({ ...TIMES, default: 5, meaning: 'the curves go up to this multiple of either side' }),
  trials: whole({ min: 5, max: 10_000, default: 20, meaning: 'back-tests at each multiple' }),
  draws: whole({
    min: 0,
    max: MOST_DRAWS,
    default: 20,
    otherwise: '20; none beyond 500,000 edges',
    meaning: 'draws from the model, which is fitted for them; 0: none',
  }),
  features: whole({ ...FEATURES, default: 10, meaning: 'features of that fit' }),
  iterations: whole({ min: 1, max: 1e9, default: 100, meaning: 'most iterations of that fit' }),
  ...SEED,
};

/** The column of the times, of whatever reads a table with them. */
export const TIME = column({
  group: DATA_GROUP,
  otherwise: 'none',
  argument: 'col',
  meaning: 'column of the times: seconds or milliseconds since 1970, or dates',
});

export const FORECAST_COMMAND = {
  output: output({
    flag: '-o, --output',
    argument: 'dir',
    meaning: 'write users.svg, items.svg and forecast.html into DIR',
  }),
  model: input({ meaning: 'a model fitted to these data, to draw from' }),
  time: TIME,
  all: flag({ default: false, meaning: 'show all estimators, not only the chosen one' }),
  ...FORCE,
};
