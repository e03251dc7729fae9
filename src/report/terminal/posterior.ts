// What the exact sampler found: one row for each recorded scalar, and whether its chains agree.

import { type GibbsPosterior, largestRHat } from '../../fit/gibbs/gibbs.js';
import type { GibbsScalar } from '../../fit/gibbs/sampler.js';
import { fixed, grouped, short } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** What each scalar is, with the names of the two sides. */
const scalarNames = ({ users, items }: SideNames): Readonly<Record<GibbsScalar, string>> => ({
  logLikelihood: 'log-likelihood',
  rate: 'expected counts, all',
  userWeights: `sum of weights, ${users.many}`,
  itemWeights: `sum of weights, ${items.many}`,
  unseenUserRate: `expected counts, unseen ${users.many}`,
  unseenItemRate: `expected counts, unseen ${items.many}`,
});

/** A table: mean, standard deviation, 90 % interval, R-hat and effective draws of each scalar. */
export function posteriorRows({ scalars }: GibbsPosterior, names: SideNames): string[][] {
  const number = (x: number) => (Math.abs(x) >= 1000 ? grouped(Math.round(x)) : short(x));
  return [
    ['posterior', 'mean', 'sd', '5 %', '95 %', 'R-hat', 'eff. draws'],
    ...Object.entries(scalars).map(([scalar, summary]) => [
      scalarNames(names)[scalar as GibbsScalar],
      ...[summary.mean, summary.standardDeviation, summary.interval.low, summary.interval.high].map(number),
      fixed(summary.splitRHat, 3),
      grouped(Math.round(summary.effectiveSamples)),
    ]),
  ];
}

/** Whether the chains agree, and how many iterations they need if not. */
export function posteriorWords({ chains, draws, warmup, drawsNeeded, scalars }: GibbsPosterior): string {
  const sampled = `${many(chains, 'chain')} of ${many(draws, 'draw')} each, after ${grouped(warmup)} discarded ones`;
  const rHat = `largest R-hat ${fixed(largestRHat(scalars), 3)}`;
  return drawsNeeded === null
    ? `${sampled}. The chains agree (${rHat}).`
    : `${sampled}. The chains do not agree yet (${rHat}): about ${grouped(drawsNeeded)} iterations are needed.`;
}
