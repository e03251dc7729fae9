// Ranks the users of a task by any scorer and scores the rankings (metrics: metrics/ranking-metrics.ts).

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

/** Lengths of the lists that are judged; declared in options/library.ts. */
export interface RankingOptions extends OptionsOf<typeof RANKING_LISTS>, TaskOptions {}

const RANKING = { ...RANKING_LISTS, ...TASK };

/** The part of wider options that a ranking takes. */
export const rankingOptions = (options: object): RankingOptions => partFor(RANKING, options);

/** Ranks the candidates of a task for each of its users, and scores the rankings. */
export async function evaluateRanking(
  task: RankingTask,
  scorer: Scorer,
  options: RankingOptions = {},
): Promise<RankingResult> {
  return concludeRanking([await rankUsers(task, scorer, options)]);
}

/** Ranks for the users of a task; where it has some of the users alone, `concludeRanking` takes all together. */
export async function rankUsers(
  task: RankingTask,
  scorer: Scorer,
  options: RankingOptions = {},
): Promise<RankedUsers> {
  const { n, depth: asked } = withDefaults(RANKING, options);
  const depth = Math.max(n, asked);
  if (task.relevant.values.length === 0) {
    throw new InputError('nothing to evaluate: no row has a relevant item; hold out more users or items');
  }
  if (scorer.kind === 'factors' && scorer.users.length !== task.rows * scorer.features) {
    throw new InputError(
      `the scorer has ${scorer.users.length / scorer.features} rows of users, the task ${task.rows}: make one for each`,
    );
  }
  const query = queryOf(task, n, depth);
  return scoreAnswer(query, await rank(scorer, task.candidates, query, options));
}
