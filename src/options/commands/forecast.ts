// Options of `graphex forecast` and of `forecastGrowth`.

import { column, decimal, flag, input, outputFolder, text, whole } from '../declare.js';
import { DATA_GROUP, FORCE, SEED } from '../shared.js';
import { FEATURES } from './fit.js';

const MOST_DRAWS = 100_000;
const TIMES = { min: 1, max: 1000, common: true } as const;

export const FORECAST = {
  usersTimes: decimal({ ...TIMES, default: 2, meaning: 'growth of the users, as a multiple of today' }),
  itemsTimes: decimal({ ...TIMES, default: 1, meaning: 'growth of the items, as a multiple of today' }),
  next: text({
    argument: 'period',
    common: true,
    otherwise: 'none',
    meaning: 'growth of the users in the next week, month, quarter, year or 90d',
    details:
      'It is the average growth of the last periods of the data, so it needs the times. It replaces the multiple of the users.',
  }),
  until: decimal({ ...TIMES, default: 5, meaning: 'multiple at which the curves end' }),
  trials: whole({ min: 5, max: 10_000, default: 20, meaning: 'back-tests at each multiple' }),
  draws: whole({
    min: 0,
    max: MOST_DRAWS,
    default: 20,
    otherwise: '20; none above 500,000 edges',
    meaning: 'draws from a model, which is fitted if none is given; 0: none',
  }),
  features: whole({ ...FEATURES, default: 10, meaning: 'features of the model that is fitted for draws' }),
  iterations: whole({ min: 1, max: 1e9, default: 100, meaning: 'maximum number of iterations of that fit' }),
  ...SEED,
};

/** The column of times, for every command that uses times. */
export const ABOUT_TIME = {
  group: DATA_GROUP,
  otherwise: 'none',
  common: true,
  meaning: 'column of the times: dates, or seconds since 1970',
} as const;

export const TIME = column(ABOUT_TIME);

export const FORECAST_COMMAND = {
  output: outputFolder({
    meaning: 'folder for users.svg, items.svg and forecast.html',
  }),
  model: input({ common: true, meaning: 'a model of these data to draw from' }),
  time: TIME,
  all: flag({ default: false, meaning: 'show all estimators, not only the chosen one' }),
  ...FORCE,
};
