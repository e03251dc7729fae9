// How the counts of a multigraph were fitted, and why, in words.

import type { CountChoice } from '../../fit/choose/counts-model.js';
import { fixed, grouped } from '../../text/numbers.js';
import type { SideNames } from '../../text/sides.js';

/** A sentence or two. */
export function countWords({ model, evidence }: CountChoice, { users, items }: SideNames): string {
  const hurdle = `edges follow the simple model, counts a log-normal distribution with an effect of each ${users.one} and each ${items.one}`;
  if (!evidence)
    return model === 'hurdle'
      ? `Counts are modelled separately: ${hurdle}.`
      : 'Counts follow a Poisson distribution.';
  const times = `${fixed(evidence.pairs, evidence.pairs < 2 ? 2 : 1)} times as many pairs`;
  const held = `held-back ${users.many}`;
  const there = `as there are (${grouped(evidence.edges)})`;
  return model === 'hurdle'
    ? `A Poisson model expects ${times} of ${held} ${there}. So ${hurdle}.`
    : `Counts follow a Poisson distribution, which expects ${times} of ${held} ${there}.`;
}
