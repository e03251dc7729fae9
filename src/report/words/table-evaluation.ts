// What an evaluation of anybody's parts says beside its figures: what could not be asked, what was found in the lists.

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

/** What is ranked here, and which recall is meant: the other way of judging has another one of the same name. */
export function tableEvaluationDefinition({ users, items }: SideNames): string {
  return (
    `Ranked is every ${items.one} of training and test that the ${users.one} has not had; recall is the hits over all test ${items.many} of the ${users.one}. ` +
    `Without --metrics, a model on a split ranks the test ${items.many} that training saw, and its recall is the capped one (docs/metrics.md).`
  );
}

/** A sentence for each thing that happened; nothing is said of what did not. */
export function tableEvaluationWords(
  { left, leaderboard, given, users, n, comparisons, comparisonsOfListed }: TablesEvaluation,
  names: SideNames,
  duplicates = 0,
): string[] {
  const longest = Math.max(...n);
  const sentences: string[] = [];
  for (const { source, missing } of leaderboard) {
    const besidePopularity = (c: ListComparison) => c.source === source && c.against === 'popularity';
    const beside = comparisons.filter(besidePopularity);
    if (beside.length === 0 || beside.some(({ interval }) => interval.difference >= 0)) continue;
    const lists = source === 'recommendations';
    const [rank, them] = lists ? ['rank', 'them'] : ['ranks', 'it'];
    // Popularity has a list for everyone: it may be ahead for those alone to whom nobody else gives one.
    if (comparisonsOfListed.filter(besidePopularity).some(({ interval }) => interval.difference >= 0)) {
      sentences.push(
        `${capital(SOURCE_TITLES[source])} ${rank} below popularity only because ${many(missing, names.users)} of ${grouped(users)} had no list; among those who had one, ${lists ? 'they do' : 'it does'} not. Give the others the most popular ${names.items.many}.`,
      );
      continue;
    }
    sentences.push(
      `${capital(SOURCE_TITLES[source])} ${rank} below popularity, the same list for everyone: do not recommend with ${them}.`,
    );
  }
  if (left.repeated > 0) {
    sentences.push(
      `${many(left.repeated, 'test pair')} ${were(left.repeated)} in training or validation too, and not asked for; ` +
        `${many(left.usersOfRepeated, names.users)} had no other.`,
    );
  }
  if (left.unseenPairs > 0) {
    sentences.push(
      `${many(left.unseenPairs, 'test pair')} ${were(left.unseenPairs)} with ${many(left.unseenItems, names.items)} that training never saw: they count as misses where nobody lists them.`,
    );
  }
  if (left.withoutHistory > 0) {
    sentences.push(
      `${many(left.withoutHistory, names.users)} of the test part ${left.withoutHistory === 1 ? 'has' : 'have'} no usable edges to fold in: none in training, nor in a fold-in part to ${names.items.many} of training or test.`,
    );
  }
  for (const { source, missing } of leaderboard) {
    if (missing === 0) continue;
    sentences.push(
      `${capital(SOURCE_TITLES[source])}: ${many(missing, names.users)} of ${grouped(users)} had no list; every metric of theirs is 0.`,
    );
  }
  if (duplicates > 0) {
    sentences.push(`The lists named ${many(duplicates, 'pair')} more than once: the best place counts.`);
  }
  if (given) {
    const { seenPairs, unknownPairs, shortLists, otherUsers } = given;
    if (seenPairs > 0) {
      sentences.push(
        `${many(seenPairs, 'recommended pair')} ${were(seenPairs)} in training: passed over, as everybody else's are.`,
      );
    }
    if (unknownPairs > 0) {
      sentences.push(
        `${many(unknownPairs, 'recommended pair')} ${were(unknownPairs)} with ${names.items.many} of neither part: they keep their place and cannot be hits.`,
      );
    }
    if (shortLists > 0) {
      sentences.push(
        `${many(shortLists, 'list')} ${were(shortLists)} shorter than ${longest}: the places that are missing count as misses.`,
      );
    }
    if (otherUsers > 0) {
      sentences.push(`${many(otherUsers, names.users)} of the lists ${were(otherUsers)} not asked about.`);
    }
  }
  return sentences;
}
