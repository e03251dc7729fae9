// Is one model better than another on the same users? The users are drawn again, with replacement, many times; both
// models are judged on each draw, so what makes a user easy or hard for both cancels.

import { InputError } from '../errors.js';
import { quantile } from '../math/quantile.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { settle } from '../options/door.js';
import { decimal, type OptionsOf, whole } from '../options/kinds.js';
import { SEED } from '../options/shared.js';

const BOOTSTRAP = {
  ...SEED,
  replicates: whole({ min: 100, max: 1e7, default: 2000, meaning: 'draws of users' }),
  level: decimal({ above: 0, below: 1, default: 0.95, meaning: 'coverage of the interval' }),
};

export interface BootstrapOptions extends OptionsOf<typeof BOOTSTRAP> {}

/** A difference between two methods on the same users, with its interval. */
export interface PairedInterval {
  /** Mean of a − b over users. */
  readonly difference: number;
  /** Percentile interval of the difference. */
  readonly low: number;
  readonly high: number;
  readonly level: number;
  readonly users: number;
}

/** The interval of mean(a) − mean(b), two metrics of the same users in the same order. */
export function pairedBootstrap(
  a: Float64Array,
  b: Float64Array,
  options: BootstrapOptions = {},
): PairedInterval {
  if (a.length !== b.length || a.length === 0) {
    throw new InputError(
      `${a.length} and ${b.length} users: a paired comparison needs the same users on both sides`,
    );
  }
  const { seed, replicates, level } = settle(BOOTSTRAP, options);
  const users = a.length;
  const differences = a.map((value, u) => value - b[u]);
  const random = randomStream(seed, STREAMS.bootstrap);
  const means = new Float64Array(replicates);
  for (let r = 0; r < replicates; r++) {
    let sum = 0;
    for (let u = 0; u < users; u++) sum += differences[((random.uint32() / 4294967296) * users) | 0];
    means[r] = sum / users;
  }
  means.sort();
  const tail = (1 - level) / 2;
  return Object.freeze({
    difference: differences.reduce((sum, d) => sum + d, 0) / users,
    low: quantile(means, tail),
    high: quantile(means, 1 - tail),
    level,
    users,
  });
}
