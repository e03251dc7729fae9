// The model's own forecast: new vertices of the growing side are drawn from the fitted prior and joined to the known
// vertices of the other side and to its unseen atoms. A single draw to the largest multiple gives the whole curve: each fresh
// vertex arrives at a uniform time, and an unseen atom is seen when the first of its new neighbours arrives.

import { InputError } from '../errors.js';
import { eligibleMass } from '../fit/fold-in/fold-in.js';
import { needPosterior, type PosteriorModel } from '../fit/model.js';
import { otherSide, type SideName } from '../graph/graph.js';
import { upperBound } from '../math/csr.js';
import { predictiveQuantile } from '../math/quantile.js';
import { createPool, threadCount } from '../parallel/pool.js';
import { taskModule } from '../parallel/spawn.js';
import { type DrawPlan, knownVertices, rowsWhere, unseen } from '../predict/draw/draw-plan.js';
import type { TaskOptions } from '../progress.js';
import type { GrowthTask } from './growth-tasks.js';
import type { Foreseen } from './project.js';

const GROWING = taskModule('./growth-tasks.js', import.meta.url);
let nextPlan = 0;

interface GrowthDraws extends TaskOptions {
  readonly draws: number;
  readonly seed: number;
}

/** Vertices of the other side that will have been seen at each multiple of the growing side, by draws from the model. */
export async function drawGrowth(
  model: PosteriorModel,
  growing: SideName,
  times: readonly number[],
  { draws, seed, threads, signal, onProgress }: GrowthDraws,
): Promise<readonly Foreseen[]> {
  needPosterior(model, 'forecasts by draws');
  const counted = otherSide(growing);
  const until = Math.max(...times);
  if (until <= 1) return times.map(() => exactly(model[counted].count));
  const plan = growthPlan(model, growing, until - 1);
  const pool = await createPool(GROWING, threadCount(threads, draws));
  const id = nextPlan++;
  try {
    await pool.everywhere('prepare', { id, plan });
    let done = 0;
    const seen = times.map((): number[] => []);
    await pool.map<GrowthTask, Float64Array>(
      'discoveries',
      Array.from({ length: draws }, (_, index) => ({ plan: id, seed, index })),
      {
        signal,
        onResult: (curve) => {
          for (const [at, f] of times.entries()) {
            seen[at].push(model[counted].count + upperBound(curve, (f - 1) / (until - 1)));
          }
          onProgress?.({ stage: 'drawing', done: ++done, total: draws, unit: 'draws' });
        },
      },
    );
    return seen.map((values) => {
      values.sort((a, b) => a - b);
      return {
        mean: values.reduce((sum, x) => sum + x, 0) / values.length,
        low: predictiveQuantile(values, 0.05),
        high: predictiveQuantile(values, 0.95),
      };
    });
  } finally {
    await pool.everywhere('forget', id).catch(() => {}); // a pool whose worker died has nothing to forget
    await pool.close();
  }
}

/** New vertices of the growing side, without edges, against all of the other side. */
function growthPlan(model: PosteriorModel, growing: SideName, t: number): DrawPlan {
  const counted = otherSide(growing);
  const K = model.features;
  const met = eligibleMass(model, growing);
  const nothing = new Float64Array(K);
  const none = knownVertices(model[growing], new Uint32Array(0), K, nothing);
  const fresh = unseen(model[growing], t, nothing, eligibleMass(model, counted));
  if (!fresh) {
    throw new InputError(
      `the model has a closed set of ${growing} and cannot grow: fit a model whose ${growing} have a size above 0`,
    );
  }
  const all = rowsWhere(model[counted], () => true);
  const grown = { known: none, unseen: fresh };
  const others = {
    known: knownVertices(model[counted], all, K, met),
    unseen: unseen(
      model[counted],
      1,
      met,
      met.map((mass) => mass * t),
    ),
  };
  // The drawer treats both sides alike: "users" are those that grow.
  return { features: K, multigraph: model.multigraph, users: [grown], items: [others] };
}

function exactly(value: number): Foreseen {
  return { mean: value, low: value, high: value };
}
