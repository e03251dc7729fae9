// The settings of scores by attributes. They are those with the best recall of held-back items: first the part of each column,
// then how direct similarities, similarities through neighbours and the predicted popularity are mixed.

import type { ContentSettings } from '../../attributes/content-scores.js';
import type { SideInfo } from '../../attributes/info.js';
import { predictedPopularity } from '../../attributes/predicted-popularity.js';
import { attributeVectors, invertedLists } from '../../attributes/similarity.js';
import { throwIfAborted } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import { largest } from '../../math/nth-largest.js';
import type { TaskOptions } from '../../progress.js';
import type { ModelScorer } from '../scoring/model-scorer.js';
import type { HeldBackItems } from './held-back-items.js';
import { scoreRows } from './score-rows.js';
import { createScoreTables, type ScoreTable, type ScoreTables } from './score-tables.js';
import { columnScores, spreadOf, throughScores } from './trial-scores.js';

/** Every column keeps a part: an item may lack the values of the others. */
const PARTS = [0.1, 0.3, 1, 3];
const POPULARITY = [0, 0.5, 1, 1.5, 2];
const COMMONNESS = [0, 0.25, 0.5];
const NEIGHBOURS = 50;
/**
 * The model has seen the edges of held-back items, so scores through their neighbours look better than they will be. The weight of
 * direct similarities is therefore not searched: both terms get the same spread.
 */
const DEFAULTS = { popularity: 0.5, direct: 1, commonness: 0.25, neighbours: NEIGHBOURS };
/** Columns whose parts are searched. Of more, those that recall most by themselves are kept. */
const MOST_SEARCHED = 12;
const PASSES = 2;

/** Users whose scores through neighbours are computed: these take the most time. */
const MOST_USERS = 300;

export async function findContentSettings(
  model: Model,
  scorer: ModelScorer,
  info: SideInfo,
  trial: HeldBackItems | undefined,
  task: TaskOptions,
): Promise<ContentSettings> {
  const { signal, onProgress } = task;
  const { columns } = info;
  if (!trial) {
    const even = columns.map(() => 1 / Math.max(1, columns.length));
    return { heldBack: 0, columns: named(info, even), ...DEFAULTS, scale: typicalScore(model, scorer) };
  }
  const report = (done: number) => {
    throwIfAborted(signal);
    onProgress?.({ stage: 'attributes', done, total: 3, unit: 'steps' });
  };
  const all = predictedPopularity(info.rows, info.names.length, model.items.degree, trial.isOut);
  const popular = (exponent: number) =>
    Float32Array.from(trial.items, (item) => Math.exp(exponent * all[item]));
  const count = trial.items.length;
  const tables = await createScoreTables(count, trial.wanted);
  const { parts, total, exponent, scores } = searchColumns(info, tables, popular, trial);
  report(1);
  const { count: known, degree } = model.items;
  const vectors = attributeVectors(info, parts);
  const similar = await scoreRows(
    {
      known,
      vectors,
      lists: invertedLists(vectors, known, degree, trial.isOut),
      passed: undefined,
      importance: new Float32Array(known),
      items: trial.items,
      factors: new Float64Array(count).fill(1),
      near: NEIGHBOURS,
      // `places` leave no room for weights. The direct values say how common the attributes are.
      direct: 1,
      commonness: 1,
      places: new Uint32Array(count + 1),
    },
    { signal, threads: task.threads },
  );
  const rare = (commonness: number) => Float32Array.from(similar.directs, (one) => one ** commonness);
  const byPopularity = popular(exponent);
  const { option: commonness } = bestOf(COMMONNESS, (one) =>
    tables.recall(
      scores,
      rare(one).map((factor, p) => factor * byPopularity[p]),
    ),
  );
  const some = someUsers(trial, MOST_USERS);
  const counted = model.seen?.counts !== undefined;
  const through = await throughScores(scorer, counted, { ...similar, near: NEIGHBOURS }, some, task);
  report(2);
  const direct = new Float32Array(through.length);
  const factors = rare(commonness);
  for (const [u, user] of some.rows.entries()) {
    const own = tables.row(scores, user);
    for (let p = 0; p < count; p++) direct[u * count + p] = (own[p] / total) * factors[p];
  }
  const scale = spreadOf(through) / (spreadOf(direct) || 1) || 1;
  const tablesOfSome = await createScoreTables(count, some.wanted);
  const sum = tablesOfSome.create();
  for (let u = 0; u < some.rows.length; u++) {
    const row = tablesOfSome.row(sum, u);
    for (let p = 0; p < count; p++) row[p] = through[u * count + p] + scale * direct[u * count + p];
  }
  const { option: popularity } = bestOf(POPULARITY, (one) => tablesOfSome.recall(sum, popular(one)));
  report(3);
  const { length: heldBack } = trial.items;
  return { heldBack, columns: named(info, parts), ...DEFAULTS, popularity, commonness, scale };
}

/** The first option with the largest recall. */
function bestOf<T>(options: readonly T[], recallOf: (option: T) => number) {
  return options
    .map((option) => ({ option, value: recallOf(option) }))
    .reduce((best, one) => (one.value > best.value ? one : best));
}

/** Every nth user, and their places among all. */
function someUsers(trial: HeldBackItems, most: number): HeldBackItems & { readonly rows: readonly number[] } {
  const every = Math.ceil(trial.histories.length / most);
  const rows = [...trial.histories.keys()].filter((row) => row % every === 0);
  return {
    ...trial,
    rows,
    histories: rows.map((row) => trial.histories[row]),
    wanted: rows.map((row) => trial.wanted[row]),
  };
}

function named({ columns }: SideInfo, parts: readonly number[]): Readonly<Record<string, number>> {
  return Object.fromEntries(columns.map(({ name }, c) => [name, parts[c]]));
}

/**
 * The parts of the columns whose weighted cosines recall most. The column that recalls most by itself comes first; the others
 * are added to it one after the other, each with its best part. `scores` are those of all parts before they are divided by `total`.
 */
function searchColumns(
  info: SideInfo,
  tables: ScoreTables,
  popular: (exponent: number) => Float32Array,
  trial: HeldBackItems,
) {
  let searched: { column: number; scores: ScoreTable; own: number }[] = [];
  let column = 0;
  for (const scores of columnScores(info, trial, tables)) {
    searched.push({ column: column++, scores, own: tables.recall(scores, popular(0)) });
    searched.sort((a, b) => b.own - a.own || a.column - b.column);
    for (const { scores } of searched.slice(MOST_SEARCHED)) tables.release(scores);
    searched = searched.slice(0, MOST_SEARCHED);
  }
  const parts: number[] = searched.map((_, s) => (s === 0 ? 1 : PARTS[0]));
  const sum = tables.copy(searched[0].scores);
  for (const { scores } of searched.slice(1)) tables.add(sum, PARTS[0], scores);
  const { option: exponent, ...found } = bestOf(POPULARITY, (one) => tables.recall(sum, popular(one)));
  let best = found.value;
  const byPopularity = popular(exponent);
  for (let pass = 0; pass < PASSES && searched.length > 1; pass++) {
    for (const [s, { scores: table }] of searched.entries()) {
      let kept = parts[s];
      for (const part of PARTS) {
        if (part === parts[s]) continue;
        const value = tables.recall(sum, byPopularity, { table, part: part - parts[s] });
        if (value > best) [best, kept] = [value, part];
      }
      if (kept !== parts[s]) tables.add(sum, kept - parts[s], table);
      parts[s] = kept;
    }
  }
  const total = parts.reduce((all, part) => all + part, 0) || 1;
  const byColumn = info.columns.map(() => 0);
  for (const [s, { column }] of searched.entries()) byColumn[column] = parts[s] / total;
  return { parts: byColumn, total, exponent, scores: sum };
}

/** The typical size of scores if the model stores no users: the mean for a user who has one item. */
function typicalScore({ items }: Model, scorer: ModelScorer): number {
  const [most = 0] = largest(Math.min(items.count, 100_000), 1, (item) => items.degree[item]);
  const user = scorer.userScorer(undefined, { items: Uint32Array.of(most) });
  const n = Math.min(items.count, 200);
  let sum = 0;
  for (let j = 0; j < n; j++) sum += Math.abs(user.score(j));
  return sum / n || 1;
}
