// Evaluates a model on a split whose held-out users come in pieces, shard by shard. Each piece is folded in and ranked alone;
// the figures are those of all users. Neither the model's users nor the held-out ones are ever all in memory.

import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import type { BipartiteGraph } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { concludeRanking, type RankedUsers } from '../metrics/ranking-metrics.js';
import { withDefaults } from '../options/check-options.js';
import { EVALUATE } from '../options/commands/evaluate.js';
import { TASK } from '../options/shared.js';
import { popularityScorer } from '../predict/scoring/scorer.js';
import type { Assignment, Split } from '../sample/split-types.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { compareRankings, type RankingComparison } from './compare-rankings.js';
import {
  checkSameData,
  type EvaluateOptions,
  type Evaluation,
  NO_INTERVALS,
  reasonAgainst,
  refuseCorrections,
} from './evaluate.js';
import { rankingOptions, rankUsers } from './evaluate-ranking.js';
import { heldOutScores } from './held-out.js';
import { degreesById, splitRankingTask } from './split-task.js';

/** What is known of a split without its held-out users. */
export interface SplitFrame extends Pick<Split, 'seed' | 'testUsers' | 'testItems' | 'fingerprint'> {
  /** Items of the training part, and how many training users have each. */
  readonly train: { readonly ids: VertexIds; readonly degree: Uint32Array; readonly fingerprint: string };
  /** Items of the whole test part. */
  readonly testIds: VertexIds;
  readonly itemAssignment: Assignment;
}

/** Some of the held-out users: their fold-in and test edges. */
export interface HeldOutPiece {
  readonly foldIn: BipartiteGraph;
  readonly test: BipartiteGraph;
}

/** An evaluation without predictive check. */
export type ShardedEvaluation = Omit<Evaluation, 'task' | 'scorer' | 'folded' | 'draws'> & {
  readonly popularity: RankingComparison | undefined;
};

export async function evaluateShards(
  model: Model,
  frame: SplitFrame,
  pieces: AsyncIterable<HeldOutPiece>,
  given: EvaluateOptions = {},
): Promise<ShardedEvaluation> {
  const options = withDefaults({ ...EVALUATE, ...TASK }, given);
  refuseCorrections(options, `there are no intervals to correct, since ${NO_INTERVALS['in-shards']}`);
  const { ids } = model.items;
  checkSameData(model, frame.train.ids);
  const whole = {
    candidates: Uint32Array.from(ids.findAll(frame.testIds).filter((item) => item >= 0)).sort(),
    degree: degreesById(ids, frame.train.ids, frame.train.degree),
  };
  const isPopularity = model.type === 'ranker' && model.scores.kind === 'popularity';
  const [ranked, popular, cold]: [RankedUsers[], RankedUsers[], RankedUsers[]] = [[], [], []];
  const users: (string | number)[] = [];
  const left = { foldInEdges: 0, foldInUsers: 0, edges: 0, users: 0 };
  for await (const piece of pieces) {
    const split = splitOf(frame, piece);
    const task = splitRankingTask(split, ids, whole);
    left.edges += task.left.edgesToUnseenItems;
    left.users += task.left.usersWithoutHistory;
    if (task.withoutHistory) {
      cold.push(await rankUsers(task.withoutHistory, popularityScorer(task.degree), rankingOptions(options)));
    }
    if (piece.foldIn.users.count === 0) continue;
    const { scorer, dropped } = await heldOutScores(model, split, task.history, options);
    left.foldInEdges += dropped.edges;
    left.foldInUsers += dropped.users;
    if (task.relevant.values.length === 0) continue;
    const one = await rankUsers(task, scorer, rankingOptions(options));
    ranked.push(one);
    if (!isPopularity)
      popular.push(await rankUsers(task, popularityScorer(model.items.degree), rankingOptions(options)));
    const { values } = piece.foldIn.users.ids;
    for (const row of one.all.rows) users.push(values[row]);
  }
  if (ranked.length === 0) {
    throw new InputError(
      'no held-out user has both an item to fold in and a test item that training saw: hold out more users or items',
    );
  }
  // In the order of one piece, so that sums have the same bits.
  const order = Uint32Array.from(users.keys()).sort((a, b) => (users[a] < users[b] ? -1 : 1));
  const ranking = concludeRanking(ranked, order);
  return Object.freeze({
    method: 'pq',
    ranking,
    withoutHistory: cold.length === 0 ? undefined : concludeRanking(cold),
    popularity: isPopularity
      ? undefined
      : compareRankings(ranking.all, concludeRanking(popular, order).all, options.seed),
    drawsGiven: options.drawsGiven,
    predictive: undefined,
    predictiveReason: reasonAgainst(model, { method: 'pq' }, options) ?? 'in-shards',
    names: model.names ?? USERS_AND_ITEMS,
    dropped: {
      foldIn: { edges: left.foldInEdges, users: left.foldInUsers },
      ranking: { edges: left.edges - left.foldInEdges, users: left.users },
    },
    fittedToTrain: model.provenance.fingerprint === frame.train.fingerprint,
  });
}

/** A split of these held-out users alone. Its training part is missing; the frame has what is needed of it. */
function splitOf(frame: SplitFrame, { foldIn, test }: HeldOutPiece): Split {
  const { seed, testUsers, testItems, fingerprint, itemAssignment } = frame;
  const { ids } = foldIn.users;
  const users = { ids, drawn: new Uint8Array(ids.length).fill(1) };
  const assignment = { users, items: itemAssignment };
  return { method: 'pq', seed, testUsers, testItems, train: foldIn, foldIn, test, assignment, fingerprint };
}
