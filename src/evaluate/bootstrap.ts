// Paired bootstrap: is one model better than another on the same users? Users are resampled with replacement many times. Both
// models are evaluated on every resample, so that differences between users cancel.

import { InputError } from '../errors.js';
import { quantile } from '../math/quantile.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { withDefaults } from '../options/check-options.js';
import { decimal, type OptionsOf, whole } from '../options/declare.js';
import { SEED } from '../options/shared.js';

const BOOTSTRAP = {
  ...SEED,
  replicates: whole({ min: 100, max: 1e7, default: 2000, meaning: 'draws of users' }),
  level: decimal({ above: 0, below: 1, default: 0.95, meaning: 'coverage of the interval' }),
};

interface BootstrapOptions extends OptionsOf<typeof BOOTSTRAP> {}

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

/** Two metrics of the same users in the same order. */
interface UserPair {
  readonly a: Float64Array;
  readonly b: Float64Array;
}

/** The interval of mean(a) − mean(b) for two metrics of the same users in the same order. */
export function pairedBootstrap(
  a: Float64Array,
  b: Float64Array,
  options: BootstrapOptions = {},
): PairedInterval {
  return pairedBootstraps([{ a, b }], options)[0];
}

/** The same for several pairs over the same users. All pairs share the resamples, which is faster and gives the same intervals. */
export function pairedBootstraps(
  pairs: readonly UserPair[],
  options: BootstrapOptions = {},
): PairedInterval[] {
  const users = pairs[0]?.a.length ?? 0;
  for (const { a, b } of pairs) {
    if (a.length === users && b.length === users && users > 0) continue;
    throw new InputError(
      `${a.length} and ${b.length} users: a paired comparison needs the same users on both sides`,
    );
  }
  const { seed, replicates, level } = withDefaults(BOOTSTRAP, options);
  const differences = pairs.map(({ a, b }) => a.map((value, u) => value - b[u]));
  const random = randomStream(seed, STREAMS.bootstrap);
  const drawn = new Uint32Array(users);
  const means = pairs.map(() => new Float64Array(replicates));
  for (let r = 0; r < replicates; r++) {
    for (let u = 0; u < users; u++) drawn[u] = (random.uint32() / 4294967296) * users;
    for (let p = 0; p < pairs.length; p += 4) {
      const sums = sumsOver(differences, p, drawn);
      for (let i = p; i < Math.min(p + 4, pairs.length); i++) means[i][r] = sums[i - p] / users;
    }
  }
  const tail = (1 - level) / 2;
  return differences.map((values, p) => {
    const sorted = means[p].sort();
    return Object.freeze({
      difference: values.reduce((sum, d) => sum + d, 0) / users,
      low: quantile(sorted, tail),
      high: quantile(sorted, 1 - tail),
      level,
      users,
    });
  });
}

/** Computes four sums in parallel, so that an addition need not wait for the one before it. */
function sumsOver(values: readonly Float64Array[], first: number, drawn: Uint32Array): number[] {
  const [a, b, c, d] = [0, 1, 2, 3].map((i) => values[Math.min(first + i, values.length - 1)]);
  let [sa, sb, sc, sd] = [0, 0, 0, 0];
  for (let u = 0; u < drawn.length; u++) {
    const row = drawn[u];
    sa += a[row];
    sb += b[row];
    sc += c[row];
    sd += d[row];
  }
  return [sa, sb, sc, sd];
}
