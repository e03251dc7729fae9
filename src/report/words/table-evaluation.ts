// The notes of an evaluation of tables and lists: what is left out, what the lists lack.

import type { ListComparison, ListSource, TablesEvaluation } from '../../evaluate/evaluate-tables.js';
import type { ListMetricName } from '../../options/names.js';
import type { StudyResults } from '../../study/results.js';
import { metricName } from '../../text/figures.js';
import { grouped } from '../../text/numbers.js';
import { capital, many, present, were } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

export function listMetricTitle(name: ListMetricName, n: number): string {
  return `${metricName(name)}@${n}`;
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
export function tableEvaluationWords(found: TablesEvaluation, names: SideNames, duplicates = 0): string[] {
  const { left, leaderboard, given, givenByRival, users, n } = found;
  const longest = Math.max(...n);
  return present([
    popularityWords(found, names),
    left.repeated > 0 &&
      `${many(left.repeated, 'test pair')} ${were(left.repeated)} also in training or validation, and left out; ` +
        `${many(left.usersOfRepeated, names.users)} had no other test pair.`,
    left.unseenPairs > 0 &&
      `${many(left.unseenPairs, 'test pair')} ${were(left.unseenPairs)} with ${many(left.unseenItems, names.items)} not in training: they count as misses unless a list has them.`,
    left.withoutHistory > 0 &&
      `${many(left.withoutHistory, names.users)} of the test part ${left.withoutHistory === 1 ? 'has' : 'have'} no history: no edge in training, and none in a fold-in part to ${names.items.many} of training or test. Models recommend them popular ${names.items.many}.`,
    ...leaderboard.flatMap((row) =>
      missingNotes(row.missing, users, names).map((note) => `${capital(rowTitle(row))}: ${note}`),
    ),
    duplicates > 0 && `The lists named ${many(duplicates, 'pair')} more than once: the best rank counts.`,
    ...(given ? listNotes(given, longest, names) : []),
    ...Object.entries(givenByRival).flatMap(([name, notes]) =>
      listNotes(notes, longest, names).map((note) => `${name}: ${note}`),
    ),
  ]);
}

/** A warning if the last row ranks below popularity. */
function popularityWords(
  { leaderboard, users, comparisons, comparisonsOfListed }: TablesEvaluation,
  names: SideNames,
): string | undefined {
  const row = leaderboard[leaderboard.length - 1];
  const againstPopularity = (c: ListComparison) => c.source === row.source && c.against === 'popularity';
  const against = comparisons.filter(againstPopularity);
  if (against.length === 0 || against.some(({ interval }) => interval.difference >= 0)) return undefined;
  const lists = row.source === 'recommendations';
  const ranks = `${capital(rowTitle(row))} ${lists ? 'rank' : 'ranks'} below popularity`;
  // Popularity has a list for everyone. It may be ahead only because the other method has no list for some users.
  return comparisonsOfListed.filter(againstPopularity).some(({ interval }) => interval.difference >= 0)
    ? `${ranks} only because ${many(row.missing, names.users)} of ${grouped(users)} had no list; for the others ${lists ? 'they do' : 'it does'} not. Give users without a list the most popular ${names.items.many}.`
    : `${ranks}, the same list for everyone: do not recommend with ${lists ? 'them' : 'it'}.`;
}

/** Users with a history for whom lists have nothing. */
function missingNotes(missing: number, users: number, names: SideNames): string[] {
  return missing === 0
    ? []
    : [`${capital(many(missing, names.users))} of ${grouped(users)} had no list; their metrics are 0.`];
}

/** The same of each of a study's lists that were made elsewhere, if something is to be said. */
export function givenListsWords({ runs, check: { names } }: StudyResults): string[] {
  const [{ leaderboard, lists }] = runs;
  return lists.flatMap(({ name, ...found }) => {
    const missing = missingNotes(found.missing, leaderboard.rows[0].all.users, names);
    const notes = [...missing, ...listNotes(found, leaderboard.n, names)];
    return notes.length > 0 ? [`Lists ${name}: ${notes.join(' ')}`] : [];
  });
}

/** What happened to lists that were made elsewhere. */
function listNotes(
  { seenPairs, unknownPairs, shortLists, otherUsers }: NonNullable<TablesEvaluation['given']>,
  longest: number,
  names: SideNames,
): string[] {
  return present([
    seenPairs > 0 &&
      `${many(seenPairs, 'recommended pair')} ${were(seenPairs)} in training: they are removed from the lists.`,
    unknownPairs > 0 &&
      `${many(unknownPairs, 'recommended pair')} ${were(unknownPairs)} with ${names.items.many} of neither part: they keep their rank and cannot be hits.`,
    shortLists > 0 &&
      `${many(shortLists, 'list')} ${were(shortLists)} shorter than ${longest}: missing ranks count as misses.`,
    otherUsers > 0 &&
      `${many(otherUsers, names.users)} of the lists ${were(otherUsers)} not in the test part.`,
  ]);
}
