// Moves of a table ahead, where it lies: to the values that the host would write, on any number of threads, and back.

import { expect, test } from 'vitest';
import { createCpuEngine } from '../../src/engine/cpu/engine.js';
import type { Engine, TableValues } from '../../src/engine/engine.js';
import {
  copyTables,
  dropCopies,
  extrapolate,
  extrapolated,
  restoreTables,
} from '../../src/fit/ascent/extrapolate.js';
import { placed, randomProblem } from './random-problem.js';

const problem = randomProblem({ users: 301, items: 130, edges: 6_000, features: 13, multigraph: false }, 4);
const { graph, hyper, features } = problem;

/** Three states of both tables, two sweeps from each to the next, then what `end` makes of the last. */
async function walk<T>(
  engine: Engine,
  end: (
    tables: Parameters<typeof extrapolate>[1],
    copies: [Parameters<typeof extrapolate>[3], Parameters<typeof extrapolate>[4]],
    read: { readonly users: TableValues; readonly items: TableValues }[],
  ) => Promise<T>,
): Promise<T> {
  const { tables, index } = await placed(engine, problem);
  const read = async () => ({
    users: await engine.read(tables.users),
    items: await engine.read(tables.items),
  });
  const sweeps = async () => {
    for (let s = 0; s < 2; s++) {
      await engine.update(tables.users, index.users, tables.items, { hyper: hyper.users, activity: 'exact' });
      await engine.update(tables.items, index.items, tables.users, { hyper: hyper.items, activity: 'exact' });
    }
  };
  try {
    await sweeps();
    const states = [await read()];
    const first = await copyTables(engine, tables);
    await sweeps();
    states.push(await read());
    const second = await copyTables(engine, tables);
    await sweeps();
    states.push(await read());
    const result = await end(tables, [first, second], states);
    dropCopies(engine, first);
    dropCopies(engine, second);
    return result;
  } finally {
    await engine.close();
  }
}

const jumped = (engine: Engine) =>
  walk(engine, async (tables, [first, second]) => {
    await extrapolate(engine, tables, hyper, first, second);
    return { values: await engine.read(tables.users), totals: await engine.totals(tables.users) };
  });

test('tables move to what the host would write, but for rounding', async () => {
  const engine = await createCpuEngine({ threads: 2 });
  expect(engine.extrapolator).toBeDefined();
  await walk(engine, async (tables, [first, second], [one, two, now]) => {
    await extrapolate(engine, tables, hyper, first, second);
    for (const side of ['users', 'items'] as const) {
      const moved = await engine.read(tables[side]);
      expect(moved.weightShape).toEqual(now[side].weightShape);
      for (const [name, base] of [
        ['weightRate', 0],
        ['featureRate', 0],
        ['featureShape', 0.999 * hyper[side].shape],
      ] as const) {
        const wanted = extrapolated(one[side][name], two[side][name], now[side][name], base);
        let unlike = 0;
        let changed = 0;
        for (let i = 0; i < wanted.length; i++) {
          if (Math.abs(moved[name][i] - wanted[i]) > 1e-4 * wanted[i]) unlike++;
          if (moved[name][i] !== now[side][name][i]) changed++;
        }
        // Where a value hardly moved, rounding decides whether it turned.
        expect(unlike / wanted.length).toBeLessThan(0.01);
        expect(changed / wanted.length).toBeGreaterThan(0.3);
      }
    }
  });
});

test('one thread and three move them to the same bits', async () => {
  const one = await jumped(await createCpuEngine({ threads: 1 }));
  expect(await jumped(await createCpuEngine({ threads: 3 }))).toEqual(one);
});

test('values that were kept are put back to the bit, activity and all', async () => {
  const engine = await createCpuEngine({ threads: 2 });
  await walk(engine, async (tables, [first], [one]) => {
    const totals = { users: await engine.totals(tables.users), items: await engine.totals(tables.items) };
    await restoreTables(engine, tables, first, totals);
    expect(await engine.read(tables.users)).toEqual(one.users);
    expect(await engine.read(tables.items)).toEqual(one.items);
    const again = await engine.createTable(features, one.users, 'exact');
    const items = await engine.createTable(features, one.items, 'exact');
    const index = await engine.createIndex(graph.users);
    expect(await engine.edgeTerm(tables.users, index, tables.items)).toBe(
      await engine.edgeTerm(again, index, items),
    );
  });
});
