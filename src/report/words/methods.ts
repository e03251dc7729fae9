// What the methods of a study are called, and why some did not run.

import { baselineOf, baselineTitle } from '../../evaluate/baselines/all-baselines.js';
import { attributeBaselineTitle } from '../../evaluate/baselines/attribute-baselines.js';
import type { SkipReason } from '../../evaluate/baselines/baseline.js';
import type { Leaderboard, LeaderboardMetric, LeaderboardRow } from '../../study/leaderboard.js';
import { INFO_ROW } from '../../study/options.js';
import type { StudyResults } from '../../study/results.js';
import { metricPhrase } from '../../text/figures.js';
import { grouped } from '../../text/numbers.js';
import { capital, list } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** 'sparse model', 'ranker', 'EASE', 'ceiling: true items'; with K if the leaderboard has several. */
export function methodTitle(
  row: Omit<LeaderboardRow, 'all' | 'unpopular'>,
  { rows }: Pick<Leaderboard, 'rows'>,
  { items }: SideNames,
): string {
  const { id, kind, features } = row;
  switch (kind) {
    case 'model': {
      const several =
        new Set(rows.filter((other) => other.kind === 'model').map((other) => other.features)).size > 1;
      return `${shortName(row)} model${several ? ` (K = ${features})` : ''}`;
    }
    case 'ranker':
      return id === INFO_ROW ? 'ranker with attributes' : 'ranker';
    case 'baseline':
      return attributeBaselineTitle(id) ?? baselineTitle(id);
    case 'lists':
      return id;
    case 'ceiling':
      return id === 'ceiling-truth' ? 'ceiling: all true' : `ceiling: true ${items.many}`;
  }
}

/** A model's kind, with those that came to the same fit: 'auto', 'auto = sparse'. */
export function shortName({
  model,
  also = [],
}: Pick<LeaderboardRow, 'model'> & { readonly also?: LeaderboardRow['also'] | undefined }): string {
  return [model, ...also].join(' = ');
}

/** In a sentence, ours take an article; baselines are names. */
export function methodPhrase(
  row: Omit<LeaderboardRow, 'all' | 'unpopular'>,
  leaderboard: Pick<Leaderboard, 'rows'>,
  names: SideNames,
): string {
  const title = methodTitle(row, leaderboard, names);
  return row.kind === 'baseline' ? title : row.kind === 'lists' ? listsPhrase([row]) : `the ${title}`;
}

/** 'the lists mine', 'the lists mine and yours'. */
export function listsPhrase(rows: readonly Pick<LeaderboardRow, 'id'>[]): string {
  return `the lists ${list(rows.map(({ id }) => id))}`;
}

/** The leaderboard of a study's first run, and what its sides, methods and metrics are called in a sentence. */
export function namedLeaderboard({ runs, check: { names } }: StudyResults) {
  const { leaderboard } = runs[0];
  return {
    leaderboard,
    names,
    phrase: (row: LeaderboardRow) => methodPhrase(row, leaderboard, names),
    metric: (metric: LeaderboardMetric) => metricPhrase(metric, leaderboard.n, names),
  };
}
export type NamedLeaderboard = ReturnType<typeof namedLeaderboard>;

/** 'the sparse and the dense model', 'the auto model, the ranker and EASE'. With more rows than `most`, the last ones are counted. */
export function methodsPhrase(
  rows: readonly LeaderboardRow[],
  { phrase }: NamedLeaderboard,
  most: number,
): string {
  const several = rows.length > 1 && rows.every(({ kind }) => kind === 'model');
  const said = rows.map(phrase);
  if (said.length > most) {
    return list([...said.slice(0, most - 1), `${said.length - most + 1} other methods`]);
  }
  return list(
    several ? said.map((name, at) => (at < rows.length - 1 ? name.replace(' model', '') : name)) : said,
  );
}

/** A phrase that starts a sentence; names with capitals of their own stay as they are: iALS. */
export function startOf(phrase: string): string {
  const [first] = phrase.split(' ', 1);
  return first === first.toLowerCase() ? capital(phrase) : phrase;
}

/** 'Not fitted: EASE (5,000,000 edges × 40,000 candidates are above its limit of 40,000,000,000). SLIM replaces it: …' */
export function skippedWords(
  { name, reason }: Leaderboard['skipped'][number],
  { rows }: { readonly rows: readonly Pick<LeaderboardRow, 'id'>[] },
): string {
  const who = name === 'all' ? 'the baselines' : baselineTitle(name);
  const said = `Not fitted: ${who} (${skipReason(reason)}).`;
  const standIn = name !== 'all' && reason.code === 'too-large' ? baselineOf(name).standIn : undefined;
  if (!standIn) return said;
  const { title, meaning } = baselineOf(standIn);
  return rows.some(({ id }) => id === standIn)
    ? `${said} ${title} replaces it: ${meaning}.`
    : `${said} ${title} (${meaning}) can replace it.`;
}

function skipReason(reason: SkipReason): string {
  if (reason.code !== 'too-large') return reason.message;
  const { asked, candidates } = reason;
  const times =
    asked === undefined ? `${grouped(candidates)} candidates` : `${grouped(asked)} held-out users`;
  return `${grouped(reason.count)} ${reason.what} × ${times} are above its limit of ${grouped(reason.limit)}`;
}
