// The settings of the page. Defaults and bounds are those that the library declares.

import { parseValue } from '../options/check-options.js';
import { EVALUATE } from '../options/commands/evaluate.js';
import { BOUND, METHODS } from '../options/commands/fit.js';
import { RECOMMEND } from '../options/commands/recommend.js';
import { SPLIT } from '../options/commands/split.js';
import { flag, oneOf, whole } from '../options/declare.js';
import { THIN } from '../options/library.js';
import type { ReadChoice } from './protocol.js';

/** The same option with a smaller bound. */
function atMost(max: number, { min, default: usual, meaning }: typeof RECOMMEND.n | typeof EVALUATE.draws) {
  return whole({ min, max, default: usual, meaning });
}

/** How far a forecast looks: a period, or a multiple of the users. */
const GROWTHS = ['month', 'quarter', 'year', 'half', 'twice', 'five'] as const;

/** Every setting as an option. The page shows lists of at most 200 items and draws at most 2,000 graphs. */
export const SETTINGS = {
  seed: BOUND.seed,
  features: BOUND.features,
  model: BOUND.model,
  iterations: BOUND.iterations,
  engine: oneOf(['auto', 'cpu', 'gpu'], { default: 'auto', meaning: 'what computes' }),
  holdOut: flag({ default: true, meaning: 'keep a test part from the model' }),
  testUsers: SPLIT.testUsers,
  testItems: SPLIT.testItems,
  draws: atMost(2000, EVALUATE.draws),
  n: atMost(200, RECOMMEND.n),
  halfLife: oneOf(['never', 'auto'], { default: 'never', meaning: METHODS.ranking.halfLife.meaning }),
  growth: oneOf(GROWTHS, { default: 'quarter', meaning: 'how far the data grow' }),
  keepUsers: THIN.users,
  keepItems: THIN.items,
};

type Declared = typeof SETTINGS;
type Value<O> = O extends { readonly values: readonly (infer V)[] }
  ? V
  : O extends { readonly kind: 'flag' }
    ? boolean
    : number;

/** Everything that decides the results. */
export type Settings = ReadChoice & {
  /** The column of times, for forecasts and weights by age. */
  readonly time?: string | undefined;
} & { readonly [K in keyof Declared]: Value<Declared[K]> };

export const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, option]) => [name, option.default]),
) as unknown as Settings;

/** Settings without a declared default: the choice of columns. */
const TEXTS = ['users', 'items', 'count', 'time', 'sep'] as const;
const FLAGS = ['header', 'multigraph', 'setAside'] as const;

/** The settings of an address. Wrong values are ignored: an address may come from anyone. */
export function settingsFrom(parameters: URLSearchParams): Settings {
  const result: Record<string, unknown> = { ...DEFAULTS };
  for (const [name, option] of Object.entries(SETTINGS)) {
    const text = parameters.get(name);
    if (text === null) continue;
    if (option.kind === 'flag') result[name] = text === 'true';
    else {
      const parsed = parseValue(option, text);
      if ('value' in parsed) result[name] = parsed.value;
    }
  }
  for (const name of TEXTS) {
    const text = parameters.get(name);
    if (text !== null && text.length <= 200) result[name] = text;
  }
  for (const name of FLAGS) if (parameters.has(name)) result[name] = parameters.get(name) === 'true';
  return result as unknown as Settings;
}
