// Why an item is recommended, in a line or two, and the main reason of each item of a list in a few words.

import type { SharedAttribute } from '../../attributes/shared-attributes.js';
import { isDistinct, LEAST, type Reasons } from '../../predict/explain/reasons.js';
import type { ScoreContribution } from '../../predict/recommend.js';
import { percent } from '../../text/numbers.js';
import { article, described, list, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import { columnName } from './info.js';

/** Printed once below explanations with a contribution below 0 or above 100 %. */
export const AGAINST_WORDS =
  'A contribution below 0 % lowers the score, so the others add up to more than 100 % (docs/recommending.md).';

/** Printed once below explanations that name usual fractions. */
export const usualWords = (names: SideNames) =>
  `Percentages are fractions of the score; “usually” is the fraction in the average score of ${article(names.items.one)} for this ${names.users.one} (docs/recommending.md).`;

/** Items named in one line. */
const MOST_REASONS = 3;

/**
 * Why an item is listed: a line for the user's items, and one for the features. `name` writes an id as the reader knows it.
 * `against`: whether a printed contribution is below 0 or above 100 %. `usual`: whether usual fractions are named.
 */
export function reasonWords(
  { items, others, features, otherFeatures, direct, attributes, rest }: Reasons,
  score: number,
  names: SideNames,
  name: (id: string) => string,
) {
  if (score === 0) {
    return {
      lines: [`none of this ${names.users.one}’s ${names.items.many} contributes to the score`],
      against: false,
      usual: false,
    };
  }
  // Contributions to a score below 0 add up to −100 %.
  const size = Math.abs(score);
  let against = false;
  let said = false;
  const of = (part: number) => {
    const whole = Math.round((100 * part) / size);
    against ||= whole < 0 || whole > 100;
    return percent(whole / 100, 0);
  };
  const counts = (part: number) => Math.abs(part) >= LEAST * size;
  // The usual fraction is scaled to the same score; a score below 0 has none.
  const part = ({ contribution, usual }: ScoreContribution) => {
    if (score < 0) return of(contribution);
    said = true;
    return `${of(contribution)}, usually ${of(usual)}`;
  };
  const distinctive = items
    .filter(({ contribution, usual }) => isDistinct(contribution, usual, score))
    .slice(0, MOST_REASONS);
  // If no item stands out, the largest contributions are named.
  const listed =
    distinctive.length > 0
      ? distinctive
      : items.filter(({ contribution }) => contribution >= LEAST * size).slice(0, 2);
  const left = items.filter((one) => !listed.includes(one));
  const count = left.length + others.count;
  // A single remaining item is named.
  const [lone] = count === 1 ? left : [];
  const ofOthers = left.reduce((sum, { contribution }) => sum + contribution, others.contribution);
  const unnamed = many(count, listed.length > 0 ? described('other', names.items) : names.items);
  const ofItems = present([
    ...listed.map(
      (one) => `${name(one.item)} (${distinctive.length > 0 ? part(one) : of(one.contribution)})`,
    ),
    count > 0 && counts(ofOthers) && `${lone ? name(lone.item) : unnamed} (${of(ofOthers)})`,
  ]);
  const parts = present([...ofItems, counts(rest) && `unexplained (${of(rest)})`]);
  const ofUser = attributes?.some(({ times }) => times !== undefined);
  const why = ofUser
    ? `by the attributes of this ${names.users.one}, not by ${names.items.many}`
    : ofItems.length === 0
      ? `none of this ${names.users.one}’s ${names.items.many} contributes: the score reflects overall popularity`
      : `because of ${parts.join('; ')}`;
  const shared = attributes ? (listed.length > 0 ? attributesOf(attributes, listed) : attributes) : [];
  const alike = 'none of them contributes more than usual';
  const hasFeatures = features.length + otherFeatures.count > 0;
  const ways = present([
    ...features.map((one) => `feature ${one.feature} (${one.about.map(name).join(', ')}): ${part(one)}`),
    counts(otherFeatures.contribution) &&
      `${features.length > 0 ? 'other ' : ''}features: ${of(otherFeatures.contribution)}`,
    // Without features everything is direct, so there is nothing to compare.
    hasFeatures &&
      counts(direct.contribution) &&
      `direct weights between ${names.items.many}: ${part(direct)}`,
  ]);
  return {
    lines: present([
      distinctive.length > 0 || ofItems.length === 0 ? why : `${why}; ${alike}`,
      ways.length > 0 && `by ${ways.join('; ')}`,
      shared.length > 0 && attributeReason(shared, names),
    ]),
    against,
    usual: said,
  };
}

/** The attributes that at least one of these items has. */
function attributesOf(
  attributes: readonly SharedAttribute[],
  named: readonly { readonly item: string }[],
): readonly SharedAttribute[] {
  return attributes.filter(({ items }) => named.some(({ item }) => items?.includes(item)));
}

/** The attributes that an item shares with the user's items, by column: same authors: Rowling; same word: sparse, graph. */
function attributeReason(attributes: readonly SharedAttribute[], { users }: SideNames): string {
  const ofUser = attributes.filter(({ times }) => times !== undefined);
  if (ofUser.length > 0) {
    const [first, ...others] = ofUser.map(({ column, value, times }) => ({
      who: `with ${columnName(column)} ${shown(value)}`,
      often: `${times!.toFixed(1)} times`,
    }));
    return [
      `${users.many} ${first.who} have it ${first.often} as often as all ${users.many}`,
      ...others.map(({ who, often }) => `those ${who} ${often}`),
    ].join('; ');
  }
  const byColumn = new Map<string, string[]>();
  for (const { column, value } of attributes) {
    const values = byColumn.get(column) ?? [];
    byColumn.set(column, values);
    values.push(shown(value));
  }
  return [...byColumn]
    .map(([column, values]) => `same ${columnName(column)}: ${values.join(', ')}`)
    .join('; ');
}

/** An item of a list; `reasons` is undefined if the model explains nothing. */
interface ReasonedItem {
  readonly item: string;
  readonly score: number;
  readonly reasons?: Reasons | undefined;
}

/** Items that a main reason names. */
const NAMED = 2;
/** A reason of this share of a list is said once, if the list has a few items. */
const COMMON_SHARE = 0.5;
const FEW = 3;

/** The reason that many items share and how many, and the other reasons: '' where an item has the common one or none. */
export function mainReasons(items: readonly ReasonedItem[], names: SideNames, name: (id: string) => string) {
  const each = items.map((item) => mainReason(item, names, name));
  const counts = new Map<string, number>();
  for (const reason of each) if (reason !== '') counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  if (!most || each.length < FEW || most[1] < COMMON_SHARE * each.length) return { common: undefined, each };
  const [common, count] = most;
  return {
    common: `${count} of these ${each.length}: ${common}`,
    each: each.map((reason) => (reason === common ? '' : reason)),
  };
}

/** Values of attributes, in words. */
export function commonWords(attributes: NonNullable<Reasons['attributes']>): string {
  return attributes.map(({ value }) => shown(value, 30)).join(', ');
}

/** The user's items that contribute more than usual, else the feature that contributes most, else popularity. */
function mainReason(
  { item: own, score, reasons }: ReasonedItem,
  names: SideNames,
  name: (id: string) => string,
): string {
  if (!reasons || score === 0) return '';
  const { items, features, rest } = reasons;
  if (items.every(({ contribution }) => rest > contribution)) return `popular with all ${names.users.many}`;
  const distinct = items.filter(({ contribution, usual }) => isDistinct(contribution, usual, score));
  if (distinct.length > 0) {
    const named = distinct.slice(0, NAMED);
    // The score of an item with few edges comes from what it has in common with the user's items.
    const shared = attributesOf(reasons.attributes ?? [], named).slice(0, NAMED);
    const common = shared.length > 0 ? ` (in common: ${commonWords(shared)})` : '';
    return `because of ${list(named.map(({ item }) => name(item)))}${common}`;
  }
  // A feature is named by items that stand out in it. The user may have none of them, and this item may be one.
  const about = features[0]?.about.filter((item) => item !== own).slice(0, NAMED) ?? [];
  return about.length > 0 ? `fits ${names.users.many} who have ${list(about.map(name))}` : '';
}
