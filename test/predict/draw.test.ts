import { describe, expect, test } from 'vitest';
import type { SideHyper } from '../../src/engine/engine.js';
import { eligibleMass } from '../../src/fit/fold-in/fold-in.js';
import { degrees } from '../../src/graph/graph.js';
import { poisson } from '../../src/math/count-samplers.js';
import { gamma } from '../../src/math/distributions.js';
import { unseenMass } from '../../src/math/quadrature.js';
import { type Random, randomStream } from '../../src/math/random.js';
import { drawPredictive } from '../../src/predict/draw/draw.js';
import { createDrawer, graphStatistics, type OneDrawOptions } from '../../src/predict/draw/draw-graph.js';
import { type DrawPlan, drawPlan, testItems, type VertexGroup } from '../../src/predict/draw/draw-plan.js';
import { createVertexSampler, type KnownVertices } from '../../src/predict/draw/draw-vertex.js';
import { sampleAtoms } from '../../src/process/ggp.js';
import { activityMoments } from './activity-moments.js';
import { NO_UNSEEN, SPARSE, smallModel } from './draw-model.js';

const ONE: OneDrawOptions = { sizes: 'point', keep: false };
const STATISTICS = ['users', 'items', 'edges', 'total', 'sigmaUsers', 'sigmaItems'] as const;

/** Mean and standard error of a function of many draws. */
function average(n: number, value: (i: number) => number): { mean: number; error: number } {
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < n; i++) {
    const x = value(i);
    sum += x;
    squares += x * x;
  }
  const mean = sum / n;
  return { mean, error: Math.sqrt(Math.max(0, squares / n - mean * mean) / n) };
}

/** Expected mass of the known vertices of a plan, per feature. */
function knownMass(known: KnownVertices): number[] {
  const sum = new Array<number>(known.otherMass.length).fill(0);
  for (let v = 0; v < known.count; v++) {
    activityMoments(known, v, known.otherMass).mean.forEach((m, k) => {
      sum[k] += m;
    });
  }
  return sum;
}

describe('expected edges', () => {
  test.each([
    ['known vertices alone', NO_UNSEEN, NO_UNSEEN],
    ['unseen users and items, infinitely many', SPARSE, { ...SPARSE, sigma: 0.1, size: 4 }],
    [
      'unseen users and items, finitely many',
      { ...SPARSE, sigma: -0.5 },
      { ...SPARSE, sigma: -0.2, size: 9 },
    ],
  ] as const)('%s: Σ_k (mass of users)(mass of items)', (_name, users, items) => {
    const { model, folded, split } = smallModel(3, { users, items }, { multigraph: true });
    const { plan } = drawPlan(model, folded, split, 'unconditional');
    const p = split.testUsers;
    const met = {
      users: eligibleMass(model, 'items', {
        eligible: testItems(model, split).map((c) => 1 - c),
        unseenShare: 0,
      }),
      items: eligibleMass(model, 'users'),
    };
    const unseen = {
      users: unseenMass({ ...users, size: (users.size * p) / (1 - p) }, met.users),
      items: unseenMass({ ...items, size: items.size * split.testItems }, met.items),
    };
    const mass = { users: knownMass(plan.users[0].known), items: knownMass(plan.items[0].known) };
    const expected = mass.users.reduce(
      (sum, m, k) => sum + (m + unseen.users[k]) * (mass.items[k] + unseen.items[k]),
      0,
    );
    const draw = createDrawer(plan);
    const { mean, error } = average(4000, (i) => draw(randomStream(8, i), ONE).statistics.total);
    expect(Math.abs(mean - expected), `${mean} against ${expected}`).toBeLessThan(5 * error);
    expect(error).toBeLessThan(0.02 * expected);
  });
});

/** The same distribution the slow way: atoms of the untilted process kept with e^(−wθ·tilt), and a Poisson for every pair. */
function slowDraw(plan: DrawPlan, random: Random, cut: number) {
  const rows = (['users', 'items'] as const).map((side) => {
    const [{ known, unseen }] = plan[side] as readonly [VertexGroup];
    const sample = createVertexSampler(known, plan.features);
    const result: Float64Array[] = [];
    for (let v = 0; v < known.count; v++) {
      const row = new Float64Array(plan.features);
      sample(v, random, row);
      result.push(row);
    }
    if (unseen) {
      for (const w of sampleAtoms(random, unseen.prior, unseen.prior.sigma < 0 ? 0 : cut)) {
        const row = Float64Array.from(
          { length: plan.features },
          () => (w * gamma(random, unseen.prior.shape)) / unseen.prior.rate,
        );
        const rate = row.reduce((sum, a, k) => sum + a * unseen.tilt[k], 0);
        if (random.uniform() < Math.exp(-rate)) result.push(row);
      }
    }
    return result;
  });
  const [users, items] = rows;
  const userDegree = new Uint32Array(users.length);
  const itemDegree = new Uint32Array(items.length);
  let edges = 0;
  users.forEach((user, u) => {
    items.forEach((item, i) => {
      let rate = 0;
      for (let k = 0; k < user.length; k++) rate += user[k] * item[k];
      if (poisson(random, rate) === 0) return;
      userDegree[u]++;
      itemDegree[i]++;
      edges++;
    });
  });
  const positive = (values: Uint32Array) => values.filter((d) => d > 0).length;
  const single = (values: Uint32Array) => values.filter((d) => d === 1).length;
  return {
    users: positive(userDegree),
    items: positive(itemDegree),
    edges,
    singleUsers: single(userDegree),
    singleItems: single(itemDegree),
  };
}

describe('agree with draws of every single pair', () => {
  test.each([
    ['finitely many unseen', { ...SPARSE, sigma: -0.5 }, { ...SPARSE, sigma: -0.3 }],
    ['infinitely many unseen', SPARSE, { ...SPARSE, sigma: 0.2 }],
  ] as [string, SideHyper, SideHyper][])(
    '%s: vertices, edges and vertices of one edge',
    (_name, users, items) => {
      const { model, folded, split } = smallModel(5, { users, items }, { features: 2 });
      const { plan } = drawPlan(model, folded, split, 'unconditional');
      const draw = createDrawer(plan);
      const n = 1500;
      const fast = Array.from({ length: n }, (_, i) => draw(randomStream(21, i), ONE).statistics);
      // Atoms below this cut would show up in fewer than one draw of a hundred.
      const slow = Array.from({ length: n }, (_, i) => slowDraw(plan, randomStream(22, i), 1e-4));
      const single = (side: 'users' | 'items', i: number) =>
        fast[i].degrees[side].degree[0] === 1 ? fast[i].degrees[side].vertices[0] : 0;
      const pairs: [string, (i: number) => number, (i: number) => number][] = [
        ['users', (i) => fast[i].users, (i) => slow[i].users],
        ['items', (i) => fast[i].items, (i) => slow[i].items],
        ['edges', (i) => fast[i].edges, (i) => slow[i].edges],
        ['single users', (i) => single('users', i), (i) => slow[i].singleUsers],
        ['single items', (i) => single('items', i), (i) => slow[i].singleItems],
      ];
      for (const [name, a, b] of pairs) {
        const x = average(n, a);
        const y = average(n, b);
        expect(Math.abs(x.mean - y.mean), `${name}: ${x.mean} against ${y.mean}`).toBeLessThan(
          5 * Math.hypot(x.error, y.error),
        );
      }
    },
  );
});

describe('drawPredictive', () => {
  const sparse = smallModel(3, { users: SPARSE, items: SPARSE });

  test('the same draws on any number of threads, other draws from another seed', async () => {
    const { model, folded, split } = sparse;
    const run = (threads: number, seed = 4) =>
      drawPredictive(model, folded, split, { draws: 7, threads, seed });
    const one = await run(1);
    expect(await run(2)).toEqual(one);
    expect(await run(5)).toEqual(one);
    expect(await run(2, 5)).not.toEqual(one);
    expect(new Set(one.map((draw) => draw.edges)).size).toBeGreaterThan(1);
  });

  test('drawn graphs are those that the statistics describe; known vertices keep their ids', async () => {
    for (const multigraph of [false, true]) {
      const { model, folded, split } = smallModel(3, { users: SPARSE, items: SPARSE }, { multigraph });
      const draws = await drawPredictive(model, folded, split, { draws: 5, threads: 2, graphs: true });
      for (const { graph, ...statistics } of draws) {
        expect(graphStatistics(graph!)).toEqual(statistics);
        expect(graph!.multigraph).toBe(multigraph);
        for (const side of ['users', 'items'] as const) {
          expect(Math.min(...degrees(graph![side]))).toBeGreaterThan(0);
          const coins = split.assignment[side];
          for (let v = 0; v < graph![side].count; v++) {
            const id = graph![side].ids.at(v);
            if (id.startsWith('unseen')) continue;
            expect(coins.drawn[coins.ids.find(id)]).toBe(1);
          }
        }
      }
      expect(
        draws.some(({ graph }) => graph!.users.ids.at(graph!.users.count - 1).startsWith('unseen')),
      ).toBe(true);
    }
  });

  test('drawsGiven: paper knows the vertices of the test set and draws no others', async () => {
    const { model, folded, split } = sparse;
    const draws = await drawPredictive(model, folded, split, {
      draws: 20,
      threads: 1,
      graphs: true,
      drawsGiven: 'paper',
    });
    for (const { graph } of draws) {
      for (const side of ['users', 'items'] as const) {
        for (let v = 0; v < graph![side].count; v++) {
          expect(split.test[side].ids.find(graph![side].ids.at(v))).toBeGreaterThanOrEqual(0);
        }
      }
    }
    const { plan } = drawPlan(model, folded, split, 'paper');
    const all = drawPlan(model, folded, split, 'unconditional').plan;
    expect(plan.users[0].unseen ?? plan.items[0].unseen).toBeUndefined();
    expect(plan.items[0].known.count).toBeLessThan(all.items[0].known.count);
  });

  test('unconditional draws take every held-out user with an edge and every trained test item', () => {
    const { model, folded, split } = sparse;
    const degree = folded.degree.slice();
    degree[1] = 0; // without an edge to a trained item: an unseen user
    const { ids } = drawPlan(model, { ...folded, degree }, split, 'unconditional');
    expect(ids.users.length).toBe(folded.count - 1);
    expect(ids.users.find(folded.ids.at(1))).toBe(-1);
    const { drawn, ids: names } = split.assignment.items;
    const wanted = Array.from(model.items.ids.values as Float64Array, String).filter(
      (id) => drawn[names.find(id)] === 1,
    );
    expect(Array.from({ length: ids.items.length }, (_, j) => ids.items.at(j))).toEqual(wanted);
  });

  test('without sizes no vertex is unseen, and drawing sizes changes nothing', async () => {
    const { model, folded, split } = smallModel(3, { users: NO_UNSEEN, items: NO_UNSEEN });
    const { plan } = drawPlan(model, folded, split, 'unconditional');
    expect(plan.users[0].unseen).toBeUndefined();
    expect(plan.items[0].unseen).toBeUndefined();
    const run = (sizes: 'point' | 'posterior') =>
      drawPredictive(model, folded, split, { draws: 3, threads: 1, sizes });
    expect(await run('point')).toEqual(await run('posterior'));
  });

  test('drawn sizes spread by one over the root of the vertices they were learned from', () => {
    const { model, folded, split } = sparse;
    const { plan } = drawPlan(model, folded, split, 'unconditional');
    // All users are unseen, and one item of activity 10 is certain to be met, so the number of users shows the size.
    const unseen = { ...plan.users[0].unseen!, tilt: new Float64Array(3), cut: 0.02, evidence: 9 };
    const bare: DrawPlan = {
      ...plan,
      users: [{ known: { ...plan.users[0].known, count: 0 }, unseen }],
      items: [
        {
          known: {
            ...plan.items[0].known,
            count: 1,
            weightShape: Float32Array.of(1e6),
            featureShape: Float32Array.of(1e6, 1e6, 1e6),
            tau: 1e6,
            rate: 1e5,
            otherMass: new Float64Array(3).fill(1e-9),
          },
          unseen: undefined,
        },
      ],
    };
    const draw = createDrawer(bare);
    const n = 2000;
    const spread = (sizes: 'point' | 'posterior') => {
      const users = (i: number) => draw(randomStream(31, i), { sizes, keep: false }).statistics.users;
      const { mean, error } = average(n, users);
      return { mean, relativeVariance: (error * error * n) / mean ** 2 };
    };
    const point = spread('point');
    const drawn = spread('posterior');
    expect(Math.abs(point.relativeVariance * point.mean - 1)).toBeLessThan(0.15); // Poisson
    expect(drawn.relativeVariance - point.relativeVariance).toBeGreaterThan(0.8 / 9);
    expect(drawn.relativeVariance - point.relativeVariance).toBeLessThan(1.25 / 9);
  });

  test('refusals say what to do', async () => {
    const { model, folded, split } = sparse;
    const ranker = { type: 'ranker', method: 'ease' } as never;
    await expect(drawPredictive(ranker, folded, split)).rejects.toThrow(
      /predictive draws need a posterior, and this model is a ranker \(ease\).*method ascent/,
    );
    await expect(drawPredictive(model, folded, { ...split, method: 'edges' })).rejects.toThrow(
      /need a split by users and items/,
    );
    await expect(drawPredictive(model, model.users, split)).rejects.toThrow(/is not held out/);
    await expect(drawPredictive({ ...model, features: 2 }, folded, split)).rejects.toThrow(
      /3 features, the model 2/,
    );
    await expect(drawPredictive(model, folded, split, { draws: 0 })).rejects.toThrow(/draws 0/);
    await expect(drawPredictive(model, folded, split, { drawsGiven: 'some' as never })).rejects.toThrow(
      /one of unconditional, paper/,
    );
    await expect(drawPredictive(model, folded, split, { sizes: 'some' as never })).rejects.toThrow(
      /one of posterior, point/,
    );
    const items = { ...model.items, ids: model.users.ids.pick(new Uint32Array(model.items.count).fill(0)) };
    const strange = { ...split.assignment.items, ids: items.ids.pick([]), drawn: new Uint8Array(0) };
    await expect(
      drawPredictive(model, folded, { ...split, assignment: { ...split.assignment, items: strange } }),
    ).rejects.toThrow(/not in the split/);
  });

  test('an abort signal ends it', async () => {
    const { model, folded, split } = sparse;
    const abort = new AbortController();
    const running = drawPredictive(model, folded, split, {
      draws: 100_000,
      threads: 1,
      signal: abort.signal,
      onProgress: ({ done, total, unit }) => {
        expect([total, unit]).toEqual([100_000, 'draws']);
        if (done === 3) abort.abort();
      },
    });
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('statistics of a drawn graph do not depend on the order of its vertices', () => {
    const { model, folded, split } = sparse;
    const draw = createDrawer(drawPlan(model, folded, split, 'unconditional').plan);
    const { statistics } = draw(randomStream(1), ONE);
    for (const name of STATISTICS) expect(Number.isFinite(statistics[name]), name).toBe(true);
    expect(statistics.degrees.users.sum).toBe(statistics.edges);
    expect(statistics.degrees.items.sum).toBe(statistics.edges);
    expect(statistics.degrees.users.count).toBe(statistics.users);
  });
});
