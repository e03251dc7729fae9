// One case suite for all engines: each is compared with the reference, to the tolerance that it declares.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Activity, Engine, Table } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.js';
import { evidenceBound, logCountFactorials } from '../../src/fit/ascent/bound.js';
import { type GraphSide, SIDES } from '../../src/graph/graph.js';
import { ENGINES } from './engines.js';
import {
  BATCH_BORDERS,
  type Problem,
  type ProblemShape,
  problemOfDegrees,
  randomProblem,
} from './random-problem.js';

const SHAPES: Record<string, ProblemShape> = {
  'simple, sparse': { users: 40, items: 30, edges: 400, features: 6, multigraph: false },
  'multi, sparse': { users: 40, items: 30, edges: 400, features: 6, multigraph: true },
  'simple, dense': { users: 25, items: 60, edges: 300, features: 4, multigraph: false, dense: true },
  'one feature': { users: 30, items: 20, edges: 150, features: 1, multigraph: false },
  'a feature more than a multiple of four': {
    users: 30,
    items: 20,
    edges: 150,
    features: 9,
    multigraph: true,
  },
  '32 features': { users: 50, items: 50, edges: 800, features: 32, multigraph: false },
  '100 features': { users: 20, items: 20, edges: 200, features: 100, multigraph: false },
  '512 features': { users: 6, items: 6, edges: 30, features: 512, multigraph: false },
  'one edge': { users: 1, items: 1, edges: 1, features: 3, multigraph: false },
  'many rows of one edge': { users: 3000, items: 5, edges: 3000, features: 4, multigraph: false },
  'one row of many edges': { users: 2, items: 3000, edges: 4000, features: 4, multigraph: false },
};

interface Running {
  readonly users: Table;
  readonly items: Table;
  sweep(activity: Activity): Promise<void>;
  bound(): Promise<number>;
}

async function start(engine: Engine, problem: Problem): Promise<Running> {
  const { graph, features, hyper } = problem;
  const users = await engine.createTable(features, problem.start.users, 'geometric', true);
  const items = await engine.createTable(features, problem.start.items, 'geometric');
  const byUser = await engine.createIndex(graph.users, { side: 'own', rows: graph.users.count });
  const byItem = await engine.createIndex(graph.items, { side: 'other', rows: graph.users.count });
  return {
    users,
    items,
    async sweep(activity) {
      void engine.update(users, byUser, items, { hyper: hyper.users, activity });
      await engine.update(items, byItem, users, { hyper: hyper.items, activity });
    },
    async bound() {
      const edges = await engine.edgeTerm(users, byUser, items);
      return evidenceBound(engine, { users, items }, hyper, edges, logCountFactorials(graph.users.counts));
    },
  };
}

/** Largest difference relative to the typical size of the values. */
function difference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let scale = 0;
  for (let i = 0; i < expected.length; i++) scale += Math.abs(expected[i]) / expected.length;
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const d = Math.abs(actual[i] - expected[i]) / Math.max(Math.abs(expected[i]), scale, 1e-300);
    worst = Math.max(worst, Number.isNaN(d) ? Infinity : d);
  }
  return worst;
}

describe.each(ENGINES.filter((e) => e.name !== 'reference'))('$name against the reference', (engineCase) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await engineCase.create();
  });
  afterAll(async () => engine?.close());
  const reference = createReferenceEngine();
  // The tolerance after a few sweeps. A whole fit may differ by the tolerance that the engine declares.
  const least = () => Math.min(engine.tolerance, 2e-5);

  // A software GPU compiles for seconds. With tiny tasks it runs only the cases that cut rows and tasks; the cpu engine tests
  // batches.
  const isGpu = engineCase.name.startsWith('gpu');
  const isTiny = engineCase.name === 'gpu, tiny tasks';
  const shapes = Object.entries(SHAPES).filter(([name]) => !isTiny || /, sparse|one row/.test(name));
  const borders = BATCH_BORDERS.filter(({ features }) => !isTiny && (!isGpu || features === 8));

  test.each(shapes)('%s', async (_name, shape) => {
    const problem = randomProblem(shape, shape.features);
    const expected = await start(reference, problem);
    const actual = await start(engine, problem);
    for (const activity of ['mean', 'mean', 'geometric', 'geometric', 'geometric', 'geometric'] as const) {
      await expected.sweep(activity);
      await actual.sweep(activity);
    }
    expect(Math.abs((await actual.bound()) / (await expected.bound()) - 1)).toBeLessThan(1e-5);
    for (const side of SIDES) {
      const a = await engine.read(actual[side]);
      const e = await reference.read(expected[side]);
      for (const field of ['weightShape', 'weightRate', 'featureShape', 'featureRate'] as const) {
        expect(difference(a[field], e[field]), `${side} ${field}`).toBeLessThan(least());
      }
      const [at, et] = [await engine.totals(actual[side]), await reference.totals(expected[side])];
      for (const field of ['mass', 'unseenMass', 'unseenMassAt'] as const) {
        expect(difference(at[field], et[field]), `${side} ${field}`).toBeLessThan(least());
      }
      const weights = (await engine.weightSum(actual[side])) / (await reference.weightSum(expected[side]));
      expect(Math.abs(weights - 1)).toBeLessThan(least());
    }
  });

  test('counts may be fractions', async () => {
    const problem = randomProblem({ users: 60, items: 40, edges: 900, features: 6, multigraph: true }, 5);
    const weighed = (side: GraphSide) => ({
      ...side,
      counts: Float32Array.from(side.counts!, (c) => 0.3 * c),
    });
    const graph = {
      ...problem.graph,
      users: weighed(problem.graph.users),
      items: weighed(problem.graph.items),
    };
    const expected = await start(reference, { ...problem, graph: graph as never });
    const actual = await start(engine, { ...problem, graph: graph as never });
    const whole = await start(reference, problem);
    for (const run of [expected, actual, whole]) for (let s = 0; s < 3; s++) await run.sweep('mean');
    const a = await engine.read(actual.items);
    const e = await reference.read(expected.items);
    expect(difference(a.featureShape, e.featureShape)).toBeLessThan(least());
    expect(difference(e.weightShape, (await reference.read(whole.items)).weightShape)).toBeGreaterThan(0.1);
  });

  test('the edge term of an update is that of the state before it', async () => {
    for (const multigraph of [false, true]) {
      const problem = randomProblem({ users: 30, items: 40, edges: 500, features: 9, multigraph }, 3);
      const { graph, hyper, features } = problem;
      const users = await engine.createTable(features, problem.start.users, 'geometric', true);
      const items = await engine.createTable(features, problem.start.items, 'geometric');
      const index = await engine.createIndex(graph.users, { side: 'own', rows: graph.users.count });
      const before = await engine.edgeTerm(users, index, items);
      const options = { hyper: hyper.users, activity: 'geometric' } as const;
      const term = await engine.update(users, index, items, { ...options, edgeTerm: true });
      expect(Math.abs(term! / before - 1)).toBeLessThan(1e-6);
      expect(await engine.update(users, index, items, options)).toBeUndefined();
    }
  });

  test('an update of a range changes only its rows, and the mass becomes that of the range', async () => {
    const problem = randomProblem({ users: 30, items: 40, edges: 500, features: 6, multigraph: false }, 4);
    const { graph, hyper, features } = problem;
    const otherMass = Float64Array.from({ length: features }, (_, k) => 3 + k);
    const run = async (e: Engine) => {
      const users = await e.createTable(features, problem.start.users, 'mean', true);
      const items = await e.createTable(features, problem.start.items, 'mean');
      const index = await e.createIndex(graph.users, { side: 'own', rows: graph.users.count });
      const options = {
        hyper: hyper.users,
        activity: 'mean' as const,
        otherMass,
        rows: { first: 7, last: 19 },
      };
      await e.update(users, index, items, options);
      return { values: await e.read(users), totals: await e.totals(users) };
    };
    const actual = await run(engine);
    const expected = await run(reference);
    expect(difference(actual.totals.mass, expected.totals.mass)).toBeLessThan(engine.tolerance);
    for (const field of ['weightShape', 'featureShape', 'featureRate'] as const) {
      expect(difference(actual.values[field], expected.values[field])).toBeLessThan(engine.tolerance);
    }
    const given = problem.start.users.weightShape;
    const untouched = actual.values.weightShape instanceof Float32Array ? Float32Array.from(given) : given;
    expect(actual.values.weightShape[6]).toBe(untouched[6]);
    expect(actual.values.weightShape[19]).toBe(untouched[19]);
    expect(actual.values.weightShape[7]).not.toBe(untouched[7]);
  });

  test.each(borders.flatMap((border) => [false, true].map((multigraph) => ({ ...border, multigraph }))))(
    'rows at the borders of batches: $features features, multigraph $multigraph',
    async (border) => {
      const { features, degrees, multigraph } = border;
      const problem = problemOfDegrees(degrees, features, multigraph, 21);
      const run = async (e: Engine) => {
        const own = await e.createTable(features, problem.own, 'geometric', true);
        const other = await e.createTable(features, problem.other, 'geometric');
        const index = await e.createIndex(problem.rows, { side: 'own', rows: degrees.length });
        const options = { hyper: problem.hyper, activity: 'geometric' as const };
        await e.update(own, index, other, options);
        const term = await e.update(own, index, other, { ...options, edgeTerm: true });
        const terms = [term!, await e.edgeTerm(own, index, other)];
        return { terms, values: await e.read(own), mass: (await e.totals(own)).mass };
      };
      const actual = await run(engine);
      const expected = await run(reference);
      for (const [t, term] of expected.terms.entries()) {
        expect(Math.abs(actual.terms[t] / term - 1)).toBeLessThan(1e-6);
      }
      for (const field of ['weightShape', 'weightRate', 'featureShape', 'featureRate'] as const) {
        expect(difference(actual.values[field], expected.values[field]), field).toBeLessThan(
          engine.tolerance,
        );
      }
      expect(difference(actual.mass, expected.mass)).toBeLessThan(engine.tolerance);
    },
  );

  test('over-relaxation moves the features as in the reference', async () => {
    const problem = randomProblem({ users: 20, items: 25, edges: 200, features: 6, multigraph: false }, 15);
    const { graph, hyper, features } = problem;
    const run = async (e: Engine, relaxation: number) => {
      const users = await e.createTable(features, problem.start.users, 'geometric', true);
      const items = await e.createTable(features, problem.start.items, 'geometric');
      const index = await e.createIndex(graph.users, { side: 'own', rows: graph.users.count });
      const options = { hyper: hyper.users, activity: 'geometric' as const, relaxation };
      for (let t = 0; t < 3; t++) await e.update(users, index, items, options);
      return (await e.read(users)).featureShape;
    };
    const relaxed = await run(engine, 0.8);
    expect(difference(relaxed, await run(reference, 0.8))).toBeLessThan(engine.tolerance);
    expect(difference(relaxed, await run(reference, 0))).toBeGreaterThan(0.01);
  });

  test('scaling the weights, setting masses and switching activity', async () => {
    const problem = randomProblem({ users: 20, items: 25, edges: 200, features: 6, multigraph: false }, 5);
    const { graph, hyper, features } = problem;
    const run = async (e: Engine) => {
      const users = await e.createTable(features, problem.start.users, 'geometric', true);
      const items = await e.createTable(features, problem.start.items, 'mean');
      const index = await e.createIndex(graph.users, { side: 'own', rows: graph.users.count });
      await e.scale(users, 2.5, 'mean');
      await e.setActivity(items, 'geometric');
      e.setMass(items, new Float64Array(features).fill(4));
      e.setUnseenMass(items, new Float64Array(features).fill(0.5), new Float64Array(features).fill(1));
      const scaled = await e.totals(users);
      await e.update(users, index, items, { hyper: hyper.users, activity: 'geometric' });
      return { scaled, values: await e.read(users), totals: await e.totals(users) };
    };
    const actual = await run(engine);
    const expected = await run(reference);
    expect(difference(actual.scaled.mass, expected.scaled.mass)).toBeLessThan(engine.tolerance);
    expect(difference(actual.values.featureRate, expected.values.featureRate)).toBeLessThan(engine.tolerance);
    expect(difference(actual.totals.unseenMass, expected.totals.unseenMass)).toBeLessThan(engine.tolerance);
    expect(difference(actual.totals.unseenMassAt, expected.totals.unseenMassAt)).toBeLessThan(
      engine.tolerance,
    );
  });

  test('a row without edges, tiny shapes and huge counts stay finite', async () => {
    const problem = randomProblem({ users: 8, items: 8, edges: 30, features: 3, multigraph: true }, 6);
    const hyper = { ...problem.hyper.users, sigma: 0.5, shape: 0.01, rate: 0.01 };
    const offsets = Uint32Array.from([0, 0, 2, 4, 4, 4, 4, 4, 4]);
    const neighbors = Uint32Array.from([0, 1, 2, 3]);
    const counts = Uint32Array.from([1, 80995, 3, 2_000_000]);
    const users = await engine.createTable(3, problem.start.users, 'geometric', true);
    const items = await engine.createTable(3, problem.start.items, 'geometric');
    const index = await engine.createIndex({ offsets, neighbors, counts }, { side: 'own', rows: 8 });
    for (let t = 0; t < 20; t++) await engine.update(users, index, items, { hyper, activity: 'geometric' });
    const values = await engine.read(users);
    for (const field of ['weightShape', 'weightRate', 'featureShape', 'featureRate'] as const) {
      expect(
        Array.from(values[field]).every((x) => Number.isFinite(x) && x > 0),
        field,
      ).toBe(true);
    }
    expect(Number.isFinite(await engine.edgeTerm(users, index, items))).toBe(true);
  });
});
