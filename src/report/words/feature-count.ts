// Why a number of features was chosen: a sentence and a table.

import type { FeatureChoice } from '../../fit/choose/feature-count.js';
import { fixed } from '../../text/numbers.js';
import { list, many } from '../../text/phrases.js';

export function featureChoiceWords({ chosen, sample, trials }: FeatureChoice): string {
  const compared = trials.filter(({ whole }) => whole !== null).map(({ features }) => String(features));
  const first = sample === null ? '' : ` A sample of ${many(sample, 'edge')} narrowed the search.`;
  return `K = ${chosen} has the highest bound of K = ${list(compared)}.${first}`;
}

/** K, and the bound per edge on a sample and on all data. */
export function featureChoiceRows({ chosen, trials }: FeatureChoice): string[][] {
  const bound = (value: number | null) => (value === null ? '' : fixed(value, 4));
  return [
    ['features', 'bound per edge: sample', 'all data', ''],
    ...trials.map(({ features, coarse, whole }) => [
      String(features),
      bound(coarse),
      bound(whole),
      features === chosen ? 'chosen' : '',
    ]),
  ];
}
