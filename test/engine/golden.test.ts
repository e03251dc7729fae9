// Replays the golden files, states and bounds of an independent implementation, on every engine.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Engine, SideHyper, Table, TableValues } from '../../src/engine/engine.js';
import { evidenceBound, logCountFactorials } from '../../src/fit/ascent/bound.js';
import { buildGraph } from '../../src/graph/build.js';
import { ENGINES } from './engines.js';

const folder = process.env.GRAPHEX_GOLDEN ?? join(import.meta.dirname, '../../../shared/golden');
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];

interface GoldenSide {
  readonly weightShape: number[];
  readonly weightRate: number[];
  readonly featureShape: number[][];
  readonly featureRate: number[][];
  readonly leftover?: number[];
}

interface Golden {
  readonly users: number;
  readonly items: number;
  readonly features: number;
  readonly multigraph: boolean;
  readonly edges: [number, number, number][];
  readonly hyper: { readonly user: SideHyper; readonly item: SideHyper };
  readonly initial: { readonly user: GoldenSide; readonly item: GoldenSide };
  readonly boundAfterHalfSteps: [number | null, number][];
  readonly states: Record<string, { readonly user: GoldenSide; readonly item: GoldenSide }>;
}

function values(side: GoldenSide): TableValues {
  return {
    weightShape: Float64Array.from(side.weightShape),
    weightRate: Float64Array.from(side.weightRate),
    featureShape: Float64Array.from(side.featureShape.flat()),
    featureRate: Float64Array.from(side.featureRate.flat()),
  };
}

/** The largest difference relative to the larger of the value and the vector's mean size. */
function worst(actual: ArrayLike<number>, expected: readonly number[]): number {
  const scale = expected.reduce((s, x) => s + Math.abs(x), 0) / Math.max(1, expected.length);
  return expected.reduce(
    (max, x, i) => Math.max(max, Math.abs(actual[i] - x) / Math.max(Math.abs(x), scale, 1e-300)),
    0,
  );
}

/** Half-steps and bounds that are queued before the first answer is awaited. */
const STRETCH = 80;

if (files.length === 0) test.skip('no golden files here: set GRAPHEX_GOLDEN to their folder');
else
  describe('golden files', () => {
    for (const engineCase of ENGINES) {
      describe(engineCase.name, () => {
        const engine = engineCase.create();
        afterAll(async () => (await engine).close());
        // A software GPU takes seconds for 200 sweeps. So it replays most files only to their second state.
        const isTiny = engineCase.name === 'gpu, tiny tasks';
        const isMade = /^sharded cpu|tiny tasks/.test(engineCase.name);
        test.each(files.filter((file) => !isMade || /multi/.test(file)))('%s', async (file) => {
          const golden: Golden = JSON.parse(readFileSync(join(folder, file), 'utf8'));
          const isWhole = !engineCase.name.startsWith('gpu') || (!isTiny && /multi/.test(file));
          await replay(await engine, golden, isWhole ? golden.boundAfterHalfSteps.length : 10);
        });
      });
    }
  });

async function replay(engine: Engine, golden: Golden, sweeps: number): Promise<void> {
  const graph = buildGraph({
    users: golden.edges.map((e) => e[0]),
    items: golden.edges.map((e) => e[1]),
    counts: golden.edges.map((e) => e[2]),
    userCount: golden.users,
    itemCount: golden.items,
    multigraph: golden.multigraph,
  });
  const users = await engine.createTable(golden.features, values(golden.initial.user), 'geometric', true);
  const items = await engine.createTable(golden.features, values(golden.initial.item), 'geometric');
  const byUser = await engine.createIndex(graph.users, { side: 'own', rows: golden.users });
  const byItem = await engine.createIndex(graph.items, { side: 'other', rows: golden.users });
  const hyper = { users: golden.hyper.user, items: golden.hyper.item };
  // Operations are queued and take effect in the order of the calls. So the test waits for a GPU at the end of a stretch, not
  // after each of hundreds of half-steps.
  const bound = async () => {
    const [edges, rest] = await Promise.all([
      engine.edgeTerm(users, byUser, items),
      evidenceBound(engine, { users, items }, hyper, 0, logCountFactorials(graph.users.counts)),
    ]);
    return edges + rest;
  };
  const tolerance = engine.tolerance;
  let asked: Promise<unknown>[] = [];
  const expectBound = (expected: number) =>
    asked.push(bound().then((actual) => expect(relative(actual, expected)).toBeLessThan(tolerance)));
  for (let t = 0; t < sweeps; t++) {
    const [afterUsers, afterItems] = golden.boundAfterHalfSteps[t];
    asked.push(engine.update(users, byUser, items, { hyper: hyper.users, activity: 'geometric' }));
    if (afterUsers !== null) expectBound(afterUsers);
    asked.push(engine.update(items, byItem, users, { hyper: hyper.items, activity: 'geometric' }));
    expectBound(afterItems);
    const state = golden.states[String(t + 1)];
    if (!state && asked.length < STRETCH) continue;
    await Promise.all(asked);
    asked = [];
    if (!state) continue;
    await compare(engine, users, state.user, tolerance);
    await compare(engine, items, state.item, tolerance);
  }
  await Promise.all(asked);
}

const relative = (actual: number, expected: number) => Math.abs(actual - expected) / Math.abs(expected);

async function compare(engine: Engine, table: Table, expected: GoldenSide, tolerance: number): Promise<void> {
  const actual = await engine.read(table);
  const goldenValues = values(expected);
  for (const field of ['weightShape', 'weightRate', 'featureShape', 'featureRate'] as const) {
    expect(worst(actual[field], Array.from(goldenValues[field])), field).toBeLessThan(tolerance);
  }
  const { unseenMass: leftover } = await engine.totals(table);
  expect(worst(leftover, expected.leftover ?? []), 'leftover').toBeLessThan(tolerance);
}
