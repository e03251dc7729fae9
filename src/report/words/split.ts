// Splits in words: what one by time measures, and who is held out by one of random users and items.

import type { SplitTimes } from '../../sample/split-types.js';
import { grouped } from '../../text/numbers.js';
import { capital, many, type Noun, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** `ratio`: degrees of the vertices that are held out, in words. */
export function timeSplitWords(
  { cut }: Pick<SplitTimes, 'cut'>,
  ratio: string,
  { users, items }: SideNames,
): string {
  const degrees = `Vertices with a test edge have ${ratio} times the average degree.`;
  if (cut === undefined) {
    return (
      `The last edges of each ${users.one} are the test part, earlier edges are for training. This measures what known ${users.many} take next. ` +
      `Training also holds edges that are later than the test edges of other ${users.many}. ${degrees}`
    );
  }
  const date = new Date(cut);
  const when = Number.isFinite(date.getTime()) ? date.toISOString().replace('.000Z', 'Z') : String(cut);
  return (
    `Edges from ${when} on are the test part, earlier edges are for training. This measures forecasts for known ${users.many}. ` +
    `${capital(users.many)} who first appear after the cut are not evaluated. Random ${users.many} and ${items.many} (method pq) measure recommendations for new ${users.many}, ` +
    `without bias by degree, and allow predictive checks. ${degrees}`
  );
}

/** The sizes of a split of random users and items. */
interface SplitSizes {
  readonly users: Noun;
  readonly items: Noun;
  /** Users in all, in the training part, and those who show items to a model. */
  readonly all: number;
  readonly train: number;
  readonly foldIn: number;
  /** Edges of the test part. */
  readonly test: number;
  /** Items without an edge in the training part. */
  readonly unseenItems: number;
}

/** Who learns and who is held out, so that the numbers add up to all users. */
export function splitWords({ users, items, all, train, foldIn, test, unseenItems }: SplitSizes): string {
  const heldOut = all - train;
  const silent = heldOut - foldIn;
  return present([
    `The models learn from ${many(train, users)} of ${grouped(all)}.`,
    `The other ${many(heldOut, users)} are held out: a model sees some of their ${items.many} and must predict the rest, ${many(test, 'edge')}.`,
    silent > 0 &&
      `${capital(many(silent, users))} of these ${silent === 1 ? 'has' : 'have'} no ${items.one} to show, so ${silent === 1 ? 'the list has' : 'their lists have'} popular ${items.many}.`,
    unseenItems > 0 &&
      `${many(unseenItems, items)} ${unseenItems === 1 ? 'is' : 'are'} only with held-out ${users.many}, so the models do not know ${unseenItems === 1 ? 'it' : 'them'}.`,
  ]).join(' ');
}
