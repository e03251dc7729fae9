// The exact posteriors of six small graphs, from long chains (bench/trust.ts): short chains must agree with them, and
// coordinate ascent must stay as far from them as docs/trust.md says, no farther.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ascend } from '../../src/fit/ascent.js';
import { eligibleMass } from '../../src/fit/fold-in.js';
import { gibbsPosterior } from '../../src/fit/gibbs.js';
import { GIBBS_SCALARS, type GibbsScalar } from '../../src/fit/gibbs-sampler.js';
import { otherSide, SIDES } from '../../src/graph/graph.js';
import { simulate } from '../../src/process/poisson-model.js';
import { SMALL_GRAPHS } from './small-graphs.js';

interface Kept {
  readonly edges: number;
  readonly scalars: Record<
    GibbsScalar,
    { mean: number; standardDeviation: number; effectiveSamples: number }
  >;
}
const kept: Record<string, Kept> = JSON.parse(
  readFileSync(new URL('./posteriors.json', import.meta.url), 'utf8'),
);

describe.each(Object.entries(SMALL_GRAPHS))('%s', (name, { parameters }) => {
  const given = { users: parameters.users, items: parameters.items };
  const fitted = simulate(parameters).then(async ({ graph }) => ({
    graph,
    ...(await ascend(graph, {
      ...given,
      features: parameters.features,
      engine: 'reference',
      iterations: 2000,
      tolerance: 1e-9,
    })),
  }));

  test('short chains agree with the long ones', async () => {
    const { graph, checkpoint } = await fitted;
    expect(graph.edges).toBe(kept[name]!.edges);
    const short = await gibbsPosterior(graph, {
      features: parameters.features,
      hyper: given,
      start: checkpoint.tables,
      chains: 2,
      warmup: 150,
      draws: 250,
      seed: 77,
    });
    for (const scalar of GIBBS_SCALARS) {
      const long = kept[name]!.scalars[scalar];
      const now = short.scalars[scalar];
      const error = Math.hypot(
        long.standardDeviation / Math.sqrt(long.effectiveSamples),
        now.standardDeviation / Math.sqrt(now.effectiveSamples),
      );
      // Short chains know their own error only roughly: half a standard deviation is allowed for that.
      expect(Math.abs(now.mean - long.mean), scalar).toBeLessThan(
        4 * error + 0.5 * long.standardDeviation + 1e-9,
      );
    }
  });

  test('coordinate ascent: rates of the unseen are right, weights of the seen too low', async () => {
    const { model } = await fitted;
    const { scalars } = kept[name]!;
    for (const side of SIDES) {
      const weights = model[side].weightShape.reduce(
        (sum, shape, i) => sum + shape / model[side].weightRate[i]!,
        0,
      );
      const exact = scalars[side === 'users' ? 'userWeights' : 'itemWeights'].mean;
      expect(weights / exact).toBeGreaterThan(0.4);
      expect(weights / exact).toBeLessThan(0.85);
      const mass = eligibleMass(model, otherSide(side));
      const unseen = model[side].leftover.reduce((sum, m, k) => sum + m * mass[k]!, 0);
      const exactUnseen = scalars[side === 'users' ? 'unseenUserRate' : 'unseenItemRate'].mean;
      expect(unseen / exactUnseen).toBeGreaterThan(0.9);
      expect(unseen / exactUnseen).toBeLessThan(1.45);
    }
  });
});
