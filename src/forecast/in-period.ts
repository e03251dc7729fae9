// The forecast for the end of the next period. The number of users is uncertain, too, which widens the intervals of items and edges.

import type { BipartiteGraph, BySide } from '../graph/graph.js';
import type { NextPeriod } from './next-period.js';
import type { Foreseen } from './project.js';

type Counts = Readonly<Record<'users' | 'items' | 'edges' | 'density', Foreseen>>;

/** The multiples of the users at both ends of the interval of a period. */
export function periodEnds(
  { users: { count } }: BipartiteGraph,
  next: NextPeriod | undefined,
): readonly [low: number, high: number] | undefined {
  return next && [1 + next.users.low / count, 1 + next.users.high / count];
}

/** Widens the intervals of a forecast. `items` has the forecasts of the items at both ends of the period's interval. */
export function inPeriod(
  forecast: Counts,
  graph: BipartiteGraph,
  asked: BySide<number>,
  items: { readonly point: Foreseen; readonly period: readonly Foreseen[] },
  next: NextPeriod | undefined,
): Counts {
  const multiples = periodEnds(graph, next);
  if (!next || !multiples) return forecast;
  const { count } = graph.users;
  const { mean, low, high } = next.users;
  const ofUsers = multiples.map((times) => times / asked.users);
  const ofItems = items.period.map((point) => point.mean / items.point.mean);
  return {
    users:
      asked.items > 1
        ? wholeNumbers(spread(forecast.users, ofUsers), count)
        : { mean: count + mean, low: count + low, high: count + high },
    items: wholeNumbers(spread(forecast.items, ofItems), graph.items.count),
    edges: wholeNumbers(spread(forecast.edges, ofUsers), graph.edges),
    // A user keeps the same number of edges, so density falls as items come.
    density: spread(forecast.density, [1 / ofItems[1], 1 / ofItems[0]]),
  };
}

/** Widens an interval by the values at the ends of another, independent one, given as multiples of the mean. */
function spread({ mean, low, high }: Foreseen, [least, most]: readonly number[]): Foreseen {
  return {
    mean,
    low: mean - Math.hypot(mean - low, mean * (1 - least)),
    high: mean + Math.hypot(high - mean, mean * (most - 1)),
  };
}

function wholeNumbers({ mean, low, high }: Foreseen, least: number): Foreseen {
  return { mean, low: Math.max(least, Math.floor(low)), high: Math.ceil(high) };
}
