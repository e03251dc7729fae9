// The model's own forecast: new vertices of the growing side are drawn from the fitted prior and joined to the known
// vertices of the other side and to its unseen atoms. A single draw to the largest multiple gives the whole curve: each fresh
// vertex arrives at a uniform time, and an unseen atom is seen when the first of its new neighbours arrives.

import { InputError } from '../errors.js';
import { eligibleMass } from '../fit/fold-in/fold-in.js';
import { needPosterior, type PosteriorModel } from '../fit/model.js';
import { otherSide, type SideName } from '../graph/graph.js';
import { mean } from '../math/moments.js';
import { predictiveQuantile } from '../math/quantile.js';
import { mapDraws } from '../predict/draw/draw.js';
import { type DrawPlan, knownVertices, rowsWhere, unseen } from '../predict/draw/draw-plan.js';
import type { GrowthShares } from '../predict/draw/draw-tasks.js';
import type { TaskOptions } from '../progress.js';
import { exactly, type Foreseen } from './project.js';

/** Vertices of the other side that will have been seen at each multiple of the growing side, by draws from the model. */
export async function drawGrowth(
  model: PosteriorModel,
  growing: SideName,
  times: readonly number[],
  { draws, ...options }: TaskOptions & { readonly draws: number; readonly seed: number },
): Promise<readonly Foreseen[]> {
  needPosterior(model, 'forecasts by draws');
  const { count } = model[otherSide(growing)];
  const until = Math.max(...times);
  if (until <= 1) return times.map(() => exactly(count));
  const plan = growthPlan(model, growing, until - 1);
  const shares = times.map((f) => (f - 1) / (until - 1));
  const [found] = await mapDraws<GrowthShares, number[]>('discoveries', [plan], draws, { shares }, options);
  return times.map((_, at) => {
    const seen = found.map((of) => count + of[at]).sort((a, b) => a - b);
    return {
      mean: mean(seen),
      low: predictiveQuantile(seen, 0.05),
      high: predictiveQuantile(seen, 0.95),
    };
  });
}

/** New vertices of the growing side, without edges, against all of the other side. */
function growthPlan(model: PosteriorModel, growing: SideName, t: number): DrawPlan {
  const counted = otherSide(growing);
  const K = model.features;
  const met = eligibleMass(model, growing);
  const nothing = new Float64Array(K);
  const none = knownVertices(model[growing], new Uint32Array(0), nothing);
  const fresh = unseen(model[growing], t, nothing, eligibleMass(model, counted));
  if (!fresh) {
    throw new InputError(
      `the model has a closed set of ${growing} and cannot grow: fit a model whose ${growing} have a size above 0`,
    );
  }
  const all = rowsWhere(model[counted], () => true);
  const reach = met.map((mass) => mass * t);
  const grown = { known: none, unseen: fresh };
  const others = {
    known: knownVertices(model[counted], all, met),
    unseen: unseen(model[counted], 1, met, reach),
  };
  // The drawer treats both sides alike: "users" are those that grow.
  return { features: K, multigraph: model.multigraph, users: [grown], items: [others] };
}
