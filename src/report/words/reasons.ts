// Why an item is recommended, in a line or two: what speaks for it beyond what speaks for everything, and what is left.

import { isDistinct, LEAST, type Reasons } from '../../predict/explain/reasons.js';
import type { ScoreContribution } from '../../predict/recommend.js';
import { percent } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** Said once beneath explanations in which a part is below 0 or above 100 %. */
export const AGAINST_WORDS =
  'Parts below 0 % speak against an item, and the others are then more than its score (docs/recommending.md).';

/** Said once beneath explanations that say what a part usually is. */
export const usualWords = (names: SideNames) =>
  `A percentage is a part of the score; “usually” is the same part in the average ${names.items.one} for this ${names.users.one}: what is above it tells this ${names.items.one} from others (docs/recommending.md).`;

/** Why an item is listed. */
export interface ReasonLines {
  /** One line for the user's items, one for the features. */
  readonly lines: readonly string[];
  /** Whether a part that is said is below 0 or above 100 %. */
  readonly against: boolean;
  /** Whether it says what a part usually is. */
  readonly usual: boolean;
}

/** `name` writes an id as the reader knows it. */
export function reasonWords(
  { items, others, features, otherFeatures, direct, rest }: Reasons,
  score: number,
  names: SideNames,
  name: (id: string) => string,
): ReasonLines {
  if (score === 0) {
    return {
      lines: [`nothing that this ${names.users.one} has speaks for it or against it`],
      against: false,
      usual: false,
    };
  }
  // Of a score below 0 all parts together are −100 %: what is above 0 still speaks for the item.
  const size = Math.abs(score);
  let against = false;
  let said = false;
  const of = (part: number) => {
    const whole = Math.round((100 * part) / size);
    against ||= whole < 0 || whole > 100;
    return percent(whole / 100, 0);
  };
  const counts = (part: number) => Math.abs(part) >= LEAST * size;
  // What is usual is scaled to the same score, and of one below 0 there is no such thing.
  const part = ({ contribution, usual }: ScoreContribution) => {
    if (score < 0) return of(contribution);
    said = true;
    return `${of(contribution)}, usually ${of(usual)}`;
  };
  const told = items.filter(({ contribution, usual }) => isDistinct(contribution, usual, score));
  // Where nothing stands out, the largest parts are all that there is to say.
  const shown =
    told.length > 0 ? told : items.filter(({ contribution }) => contribution >= LEAST * size).slice(0, 2);
  const left = items.filter((one) => !shown.includes(one));
  const count = left.length + others.count;
  // A single one is named: nothing shorter could be said in its place. What rounds to 0 % is no reason.
  const [lone] = count === 1 ? left : [];
  const ofOthers = left.reduce((sum, { contribution }) => sum + contribution, others.contribution);
  const other = { one: `other ${names.items.one}`, many: `other ${names.items.many}` };
  const together = many(count, shown.length > 0 ? other : names.items);
  const ofItems = [
    ...shown.map((one) => `${name(one.item)} (${told.length > 0 ? part(one) : of(one.contribution)})`),
    ...(count > 0 && counts(ofOthers) ? [`${lone ? name(lone.item) : together} (${of(ofOthers)})`] : []),
  ];
  const parts = [...ofItems, ...(counts(rest) ? [`not explained by any of them (${of(rest)})`] : [])];
  // Where no item has a part, all of the score is what the model expects of anybody.
  const why =
    ofItems.length === 0
      ? `not because of any of this ${names.users.one}’s ${names.items.many}: it goes by what all ${names.users.many} have`
      : `because of ${parts.join('; ')}`;
  const alike = `none of this speaks for it more than for other ${names.items.many}`;
  const hasFeatures = features.length + otherFeatures.count > 0;
  const ways = [
    ...features.map((one) => `feature ${one.feature} (${one.about.map(name).join(', ')}): ${part(one)}`),
    ...(counts(otherFeatures.contribution)
      ? [`${features.length > 0 ? 'other ' : ''}features: ${of(otherFeatures.contribution)}`]
      : []),
    // Where there are no features, all of it is direct, and nothing is left to be told apart.
    ...(hasFeatures && counts(direct.contribution)
      ? [`weights from ${names.items.one} to ${names.items.one}, past all features: ${part(direct)}`]
      : []),
  ];
  return {
    lines: [
      told.length > 0 || ofItems.length === 0 ? why : `${why}; ${alike}`,
      ...(ways.length > 0 ? [`by ${ways.join('; ')}`] : []),
    ],
    against,
    usual: said,
  };
}
