// Ranks the candidates of a task by any scorer and computes the metrics of the rankings (metrics/ranking-metrics.ts).

import { InputError } from '../errors.js';
import {
  concludeRanking,
  type RankedUsers,
  type RankingResult,
  scoreAnswer,
} from '../metrics/ranking-metrics.js';
import { queryOf, type RankingTask } from '../metrics/ranking-task.js';
import { partFor, withDefaults } from '../options/check-options.js';
import type { OptionsOf } from '../options/declare.js';
import { RANKING_LISTS } from '../options/library.js';
import { TASK } from '../options/shared.js';
import { rank, type Scorer } from '../predict/scoring/scorer.js';
import type { TaskOptions } from '../progress.js';

/** Lengths of the lists that are evaluated; declared in options/library.ts. */
export interface RankingOptions extends OptionsOf<typeof RANKING_LISTS>, TaskOptions {}

const RANKING = { ...RANKING_LISTS, ...TASK };

/** The part of wider options that a ranking takes. */
export const rankingOptions = (options: object): RankingOptions => partFor(RANKING, options);

/**
 * Ranks the candidates of a task for each of its users by any scorer, and computes the metrics of the rankings.
 * @example
 * import { evaluateRanking, simulate, split, splitRankingTask } from 'graphex';
 * const side = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 40 };
 * const { graph } = await simulate({ users: side, items: side, features: 3, seed: 1 });
 * const parts = split(graph, { testUsers: 0.3, testItems: 0.4 });
 * const degree = new Uint32Array(parts.train.items.count);
 * for (const item of parts.train.users.neighbors) degree[item]++;
 * const task = splitRankingTask(parts);
 * // Your own scorer writes a score for each candidate; items are numbered as in the training part.
 * const { all } = await evaluateRanking(task, {
 *   kind: 'rows',
 *   scores: (row, candidates, out) => candidates.forEach((item, c) => { out[c] = degree[item]; }),
 * });
 * console.log(all.mean.recall);
 */
export async function evaluateRanking(
  task: RankingTask,
  scorer: Scorer,
  options: RankingOptions = {},
): Promise<RankingResult> {
  return concludeRanking([await rankUsers(task, scorer, options)]);
}

/** The ranks of a task's users. If they are only some of the users, `concludeRanking` joins the pieces. */
export async function rankUsers(
  task: RankingTask,
  scorer: Scorer,
  options: RankingOptions = {},
): Promise<RankedUsers> {
  const { n, depth: asked } = withDefaults(RANKING, options);
  const depth = Math.max(n, asked);
  if (task.relevant.values.length === 0 && !task.unseen?.some((count) => count > 0)) {
    throw new InputError('nothing to evaluate: no row has a relevant item; hold out more users or items');
  }
  if (scorer.kind === 'factors' && scorer.users.length !== task.rows * scorer.features) {
    throw new InputError(
      `the scorer has ${scorer.users.length / scorer.features} rows of users, the task ${task.rows}: make one for each`,
    );
  }
  const query = queryOf(task, n, depth);
  return scoreAnswer(query, await rank(scorer, task.candidates, query, options), task.unseen);
}
