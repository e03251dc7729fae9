// The names of statistics and metrics: one dictionary for terminal, charts and pages.

import type { SideNames } from './sides.js';

/** Statistics of a graph that predictive checks compare. */
type StatisticName = 'users' | 'items' | 'edges' | 'total' | 'tail' | 'sigmaUsers' | 'sigmaItems';

/** The name in a table or on an axis, 'σ̂ of customers', and in a sentence, after 'the': 'tail index of the customers'. */
function statisticNames(statistic: StatisticName, { users, items }: SideNames) {
  const names: Readonly<Record<StatisticName, readonly [label: string, phrase: string]>> = {
    users: [users.many, `number of ${users.many}`],
    items: [items.many, `number of ${items.many}`],
    edges: ['edges', 'number of edges'],
    total: ['sum of counts', 'sum of counts'],
    tail: ['99 % of counts', 'count that 99 % of the pairs do not exceed'],
    sigmaUsers: [`σ̂ of ${users.many}`, `tail index of the ${users.many}`],
    sigmaItems: [`σ̂ of ${items.many}`, `tail index of the ${items.many}`],
  };
  return names[statistic];
}

export const statisticLabel = (statistic: StatisticName, names: SideNames): string =>
  statisticNames(statistic, names)[0];
export const statisticPhrase = (statistic: StatisticName, names: SideNames): string =>
  statisticNames(statistic, names)[1];

/** Metrics of a ranking; those ending in Unpopular leave popular items out. */
const METRICS = {
  recall: { title: 'recall', at: 'n' },
  recallCapped: { title: 'capped recall', at: 'n' },
  ndcg: { title: 'nDCG', at: 'depth' },
  hitRate: { title: 'hit rate', at: 'n' },
  mrr: { title: 'MRR', at: null },
  map: { title: 'MAP', at: null },
  coverage: { title: 'coverage', at: 'n' },
  recallUnpopular: { title: 'recall', at: 'n' },
  ndcgUnpopular: { title: 'nDCG', at: 'depth' },
  precision: { title: 'precision', at: 'n' },
  gini: { title: 'Gini', at: 'n' },
  novelty: { title: 'novelty', at: 'n' },
} as const satisfies Readonly<Record<string, { title: string; at: 'n' | 'depth' | null }>>;
type MetricName = keyof typeof METRICS;

export const metricName = (metric: MetricName): string => METRICS[metric].title;

/** 'recall@20'; with `depth` also 'nDCG@1000'. It does not mention popular items; metricPhrase does. */
export function metricTitle(
  metric: MetricName,
  cut: { readonly n?: number; readonly depth?: number } = {},
): string {
  const { title, at } = METRICS[metric];
  const place = at === null ? undefined : cut[at];
  return place === undefined ? title : `${title}@${place}`;
}

/** 'recall@20 without popular products'. */
export function metricPhrase(metric: MetricName, n: number, { items }: SideNames): string {
  return `${metricTitle(metric, { n })}${metric.endsWith('Unpopular') ? ` without popular ${items.many}` : ''}`;
}

/** For a narrow column: 'recall, unpopular'. */
export function metricLabel(metric: MetricName, n?: number): string {
  return `${metricTitle(metric, n === undefined ? {} : { n })}${metric.endsWith('Unpopular') ? ', unpopular' : ''}`;
}
