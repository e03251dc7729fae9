// The blend with its default settings, for a trial: the scores of some users from all edges but those that are predicted.

import { lengths, type RowLists } from '../../../math/csr.js';
import type { TaskOptions } from '../../../progress.js';
import { degreeScale, scaleTargets } from '../../../solvers/combine-weights.js';
import { createItemRegression } from '../../../solvers/item-regression.js';
import { alternatingLeastSquares, foldInLeastSquares } from '../../../solvers/least-squares.js';
import type { FactorTables } from '../../../topn/query.js';
import type { EdgeLists } from './held-back-users.js';
import { DEFAULT_WEIGHTS, regressionSetting, SHARES } from './item-weights.js';
import { defaultPenalties, rowsOf, weighedEdges } from './least-squares.js';

/** Features and sweeps of the least squares: enough to compare settings. */
const LEAST_SQUARES = { features: 64, iterations: 4 } as const;

/** `history` has the items of the users to score; `candidates` are the items to score, ascending. */
export async function trialTables(
  edges: EdgeLists,
  history: RowLists,
  candidates: Uint32Array,
  { seed, threads, signal }: TaskOptions & { readonly seed: number },
): Promise<FactorTables> {
  const { features } = LEAST_SQUARES;
  const task = { threads, signal };
  const fit = { ...LEAST_SQUARES, ...defaultPenalties(edges), seed, ...task };
  const { items } = await alternatingLeastSquares(weighedEdges(edges), fit);
  const users = await foldInLeastSquares(items, history, undefined, fit);
  const { users: userExponent, candidates: exponent } = DEFAULT_WEIGHTS;
  const regression = await createItemRegression({ ...edges, targets: candidates, userExponent }, task);
  const solved = await regression.solve(regressionSetting(DEFAULT_WEIGHTS), task);
  const scaled = scaleTargets(solved, degreeScale(lengths(edges.items), candidates, exponent));
  return {
    users: users.map((value) => (SHARES.leastSquares / SHARES.weights) * value),
    items: rowsOf(items, candidates, features),
    features,
    itemWeights: { ...scaled, history },
  };
}
