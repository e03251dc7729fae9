// The notes of an evaluation of tables and lists: what is left out, what the lists lack.

import type { ListComparison, ListSource, TablesEvaluation } from '../../evaluate/evaluate-tables.js';
import { METRICS } from '../../metrics/definitions.js';
import type { ListMetricName } from '../../metrics/list-metrics.js';
import { grouped } from '../../text/numbers.js';
import { capital, many, were } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

export function listMetricTitle(name: ListMetricName, n: number): string {
  return `${METRICS[name].title}@${n}`;
}

export const SOURCE_TITLES: Readonly<Record<ListSource, string>> = {
  popularity: 'popularity',
  model: 'the model',
  recommendations: 'the given lists',
};

/** The title of a row: a rival's name, or its source in words. */
export function rowTitle({ source, name }: { readonly source: ListSource; readonly name: string }): string {
  return name === source ? SOURCE_TITLES[source] : name;
}

/** What is ranked, and how recall is defined. */
export function tableEvaluationDefinition({ users, items }: SideNames): string {
  return (
    `Protocol: all items. Every ${items.one} that the ${users.one} does not have yet is ranked. ` +
    `Recall divides the hits by the number of test ${items.many} of the ${users.one}; ± is the standard error.`
  );
}

/** A sentence for each thing that happened. */
export function tableEvaluationWords(
  { left, leaderboard, given, givenByRival, users, n, comparisons, comparisonsOfListed }: TablesEvaluation,
  names: SideNames,
  duplicates = 0,
): string[] {
  const longest = Math.max(...n);
  const sentences: string[] = [];
  const { source: lastSource } = leaderboard[leaderboard.length - 1];
  for (const row of leaderboard.slice(-1)) {
    const { source, missing } = row;
    const againstPopularity = (c: ListComparison) => c.source === lastSource && c.against === 'popularity';
    const against = comparisons.filter(againstPopularity);
    if (against.length === 0 || against.some(({ interval }) => interval.difference >= 0)) continue;
    const lists = source === 'recommendations';
    const [rank, them] = lists ? ['rank', 'them'] : ['ranks', 'it'];
    // Popularity has a list for everyone. It may be ahead only because the other method has no list for some users.
    if (comparisonsOfListed.filter(againstPopularity).some(({ interval }) => interval.difference >= 0)) {
      sentences.push(
        `${capital(rowTitle(row))} ${rank} below popularity only because ${many(missing, names.users)} of ${grouped(users)} had no list; for the others ${lists ? 'they do' : 'it does'} not. Give users without a list the most popular ${names.items.many}.`,
      );
      continue;
    }
    sentences.push(
      `${capital(rowTitle(row))} ${rank} below popularity, the same list for everyone: do not recommend with ${them}.`,
    );
  }
  if (left.repeated > 0) {
    sentences.push(
      `${many(left.repeated, 'test pair')} ${were(left.repeated)} also in training or validation, and left out; ` +
        `${many(left.usersOfRepeated, names.users)} had no other test pair.`,
    );
  }
  if (left.unseenPairs > 0) {
    sentences.push(
      `${many(left.unseenPairs, 'test pair')} ${were(left.unseenPairs)} with ${many(left.unseenItems, names.items)} not in training: they count as misses unless a list has them.`,
    );
  }
  if (left.withoutHistory > 0) {
    sentences.push(
      `${many(left.withoutHistory, names.users)} of the test part ${left.withoutHistory === 1 ? 'has' : 'have'} no history: no edge in training, and none in a fold-in part to ${names.items.many} of training or test. Every method recommends them popular ${names.items.many}.`,
    );
  }
  for (const row of leaderboard) {
    const notes = missingNotes(row.missing, users, names);
    sentences.push(...notes.map((note) => `${capital(rowTitle(row))}: ${note}`));
  }
  if (duplicates > 0) {
    sentences.push(`The lists named ${many(duplicates, 'pair')} more than once: the best rank counts.`);
  }
  if (given) sentences.push(...listNotes(given, longest, names));
  for (const [name, notes] of Object.entries(givenByRival)) {
    sentences.push(...listNotes(notes, longest, names).map((note) => `${name}: ${note}`));
  }
  return sentences;
}

/** Users with a history for whom lists have nothing. */
export function missingNotes(missing: number, users: number, names: SideNames): string[] {
  return missing === 0
    ? []
    : [`${capital(many(missing, names.users))} of ${grouped(users)} had no list; their metrics are 0.`];
}

/** What happened to lists that were made elsewhere. */
export function listNotes(
  { seenPairs, unknownPairs, shortLists, otherUsers }: NonNullable<TablesEvaluation['given']>,
  longest: number,
  names: SideNames,
): string[] {
  const sentences: string[] = [];
  if (seenPairs > 0) {
    sentences.push(
      `${many(seenPairs, 'recommended pair')} ${were(seenPairs)} in training: they are removed from the lists.`,
    );
  }
  if (unknownPairs > 0) {
    sentences.push(
      `${many(unknownPairs, 'recommended pair')} ${were(unknownPairs)} with ${names.items.many} of neither part: they keep their rank and cannot be hits.`,
    );
  }
  if (shortLists > 0) {
    sentences.push(
      `${many(shortLists, 'list')} ${were(shortLists)} shorter than ${longest}: missing ranks count as misses.`,
    );
  }
  if (otherUsers > 0) {
    sentences.push(`${many(otherUsers, names.users)} of the lists ${were(otherUsers)} not in the test part.`);
  }
  return sentences;
}
