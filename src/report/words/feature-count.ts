// Why so many features: a sentence, and the rows of the table below it.

import type { FeatureChoice } from '../../fit/choose/features.js';
import { fixed } from '../../text/numbers.js';
import { list, many } from '../../text/phrases.js';

/** Why that many; the table says by how much. */
export function featureChoiceWords({ chosen, sample, trials }: FeatureChoice): string {
  const compared = trials.filter(({ whole }) => whole !== null).map(({ features }) => String(features));
  const first = sample === null ? '' : ` Where to look was found on a sample of ${many(sample, 'edge')}.`;
  return `The evidence speaks for ${many(chosen, 'feature')}: of ${list(compared, 'and')} ${chosen === 1 ? 'it has' : 'they have'} the highest bound.${first}`;
}

/** K, and the bound per edge on the coarse sample and on all data. */
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
