// How the counts of a multigraph were fitted, and why, in words.

import type { CountChoice } from '../../fit/choose/counts.js';
import { fixed, grouped } from '../../text/numbers.js';
import type { SideNames } from '../../text/sides.js';

/** A sentence or two. */
export function countWords({ law, evidence }: CountChoice, { users, items }: SideNames): string {
  const hurdle = `edges by the simple model, counts by a log-normal law with a part for each ${users.one} and each ${items.one}`;
  if (!evidence) return law === 'hurdle' ? `Counts: ${hurdle}.` : 'Counts: by a Poisson law.';
  const times = `${fixed(evidence.pairs, evidence.pairs < 2 ? 2 : 1)} times as many pairs`;
  const held = `held-back ${users.many}`;
  const there = `as there are (${grouped(evidence.edges)})`;
  return law === 'hurdle'
    ? `Counts: a Poisson law would spread those of ${held} over ${times} ${there}: ${hurdle}.`
    : `Counts: by a Poisson law, which expects ${times} of ${held} ${there}.`;
}
