import { describe, expect, it } from 'vitest';
import { transposeLists } from '../../src/math/csr.js';
import { randomStream } from '../../src/math/random.js';
import { addScaled, degreeScale, scaleTargets } from '../../src/solvers/combine-weights.js';
import { createItemRegression, type RegressionSetting } from '../../src/solvers/item-regression.js';
import { weighUsers } from '../../src/solvers/user-weights.js';
import type { SparseWeights } from '../../src/topn/query.js';
import { communityLists, solve } from '../evaluate/baseline-data.js';
import { listOf } from '../evaluate/brute-force.js';

const ITEMS = 40;
const users = communityLists(80, ITEMS, 3, 4);
const items = transposeLists(users, ITEMS);
const owners = Array.from({ length: ITEMS }, (_, i) => new Set(listOf(items, i)));
const common = (i: number, j: number) => [...owners[i]].filter((user) => owners[j].has(user)).length;

/** inputs × targets. */
function dense({ offsets, targets, weights }: SparseWeights, width: number): number[][] {
  return Array.from({ length: offsets.length - 1 }, (_, i) => {
    const row = new Array<number>(width).fill(0);
    for (let e = offsets[i]; e < offsets[i + 1]; e++) row[targets[e]] = weights[e];
    return row;
  });
}

/** The regression of one item, in float64, on the items that each explain most of it alone. */
function weightsOf(target: number, inputs: readonly number[], setting: RegressionSetting): number[] {
  const { neighbours, lambda, dropout } = setting;
  const gain = (i: number) => common(i, target) ** 2 / (owners[i].size + lambda);
  const chosen = inputs
    .filter((i) => i !== target && common(i, target) > 0)
    .toSorted((a, b) => gain(b) - gain(a))
    .slice(0, neighbours);
  const gram = chosen.map((i) =>
    chosen.map((j) => common(i, j) + (i === j ? lambda + dropout * common(i, i) : 0)),
  );
  const found = solve(
    gram,
    chosen.map((i) => common(i, target)),
  );
  const row = new Array<number>(ITEMS).fill(0);
  for (const [at, i] of chosen.entries()) row[i] = found[at];
  return row;
}

describe('regressions of items on their neighbours', () => {
  it('have the weights of a second regression on the nearest of them added', async () => {
    const { solve: regress } = await createItemRegression({ users, items });
    const setting = { neighbours: 9, lambda: 4, dropout: 0.8 };
    const nearest = { neighbours: 3, dropout: 0.2 };
    const found = dense(await regress({ ...setting, nearest }), ITEMS);
    const all = Array.from({ length: ITEMS }, (_, i) => i);
    for (const target of all) {
      const many = weightsOf(target, all, setting);
      const few = weightsOf(target, all, { ...setting, ...nearest });
      expect(few.filter((weight) => weight !== 0).length).toBeLessThanOrEqual(3);
      for (const i of all) expect(Math.abs(found[i][target] - many[i] - few[i])).toBeLessThan(4e-4);
    }
  });

  it('equal those solved one by one, from inputs to targets', async () => {
    const inputs = Uint8Array.from({ length: ITEMS }, (_, i) => (i % 4 === 1 ? 0 : 1));
    const targets = Uint32Array.from({ length: ITEMS }, (_, i) => i).filter((i) => i % 4 <= 1);
    const { solve: regress } = await createItemRegression({ users, items, inputs, targets });
    for (const setting of [
      { neighbours: 6, lambda: 3.5, dropout: 0 },
      { neighbours: 7, lambda: 20, dropout: 0.8 },
    ]) {
      const found = dense(await regress(setting), targets.length);
      for (const [t, target] of targets.entries()) {
        const allowed = Array.from(inputs.keys()).filter((i) => inputs[i]);
        for (const [i, want] of weightsOf(target, allowed, setting).entries()) {
          expect(Math.abs(found[i][t] - want)).toBeLessThan(2e-4);
        }
      }
    }
  });

  it('are EASE if every item is a neighbour: minus the inverse over its diagonal', async () => {
    const lambda = 8;
    const { solve: regress } = await createItemRegression({ users, items });
    const found = dense(await regress({ neighbours: ITEMS, lambda, dropout: 0 }), ITEMS);
    const all = Array.from({ length: ITEMS }, (_, i) => i);
    const gram = all.map((i) => all.map((j) => common(i, j) + (i === j ? lambda : 0)));
    for (const j of [0, 7, 39]) {
      const column = solve(
        gram,
        all.map((i) => (i === j ? 1 : 0)),
      );
      for (const i of all) {
        // Items without a common user are not neighbours; EASE gives a few of them small weights.
        const want = i === j ? 0 : -column[i] / column[j];
        if (common(i, j) > 0) expect(Math.abs(found[i][j] - want)).toBeLessThan(0.02);
        else expect(found[i][j]).toBe(0);
      }
    }
  });

  it('have targets ascending, no item as its own input, and no more inputs than asked for', async () => {
    const { solve: regress } = await createItemRegression({ users, items });
    const { offsets, targets } = await regress({ neighbours: 5, lambda: 10, dropout: 0.5 });
    const perTarget = new Uint32Array(ITEMS);
    for (let i = 0; i < ITEMS; i++) {
      const own = Array.from(targets.subarray(offsets[i], offsets[i + 1]));
      expect(own).toEqual(own.toSorted((a, b) => a - b));
      expect(own).not.toContain(i);
      for (const target of own) perTarget[target]++;
    }
    expect(Math.max(...perTarget)).toBe(5);
  });

  it('are the same whether the pairs of users are counted or found in lists', async () => {
    const setting = { neighbours: 13, lambda: 6, dropout: 0.4, nearest: { neighbours: 4, dropout: 0.2 } };
    const inputs = Uint8Array.from({ length: ITEMS }, (_, i) => (i % 5 === 2 ? 0 : 1));
    const [counted, listed] = await Promise.all(
      [undefined, 8].map(async (pairBytes) => {
        const regression = await createItemRegression({ users, items, inputs, pairBytes });
        return regression.solve(setting);
      }),
    );
    expect(listed).toEqual(counted);
    expect(counted.weights.length).toBeGreaterThan(5 * ITEMS);
  });

  it('do not depend on settings that were tried before', async () => {
    const settings = [
      { neighbours: 11, lambda: 5, dropout: 0.5 },
      { neighbours: 6, lambda: 5, dropout: 2 },
      { neighbours: 6, lambda: 40, dropout: 2 },
      { neighbours: 22, lambda: 5, dropout: 0 },
      { neighbours: 11, lambda: 40, dropout: 1 },
      { neighbours: 3, lambda: 5, dropout: 0.5 },
    ].map((setting) => ({ ...setting, nearest: { neighbours: 3, dropout: setting.dropout / 2 } }));
    for (const rows of [users, communityLists(600, ITEMS, 3, 4)]) {
      const data = { users: rows, items: transposeLists(rows, ITEMS) };
      const open = await createItemRegression(data, { threads: 2, several: true });
      const single = await createItemRegression(data);
      try {
        for (const setting of settings)
          expect(await open.solve(setting)).toEqual(await single.solve(setting));
      } finally {
        await open.close();
      }
    }
  });

  it('weigh users by degree in the same way from tables and from lists of users', async () => {
    const rows = communityLists(700, ITEMS, 3, 9);
    const byItem = transposeLists(rows, ITEMS);
    const inputs = Uint8Array.from({ length: ITEMS }, (_, i) => (i % 5 === 2 ? 0 : 1));
    const { users: ordered, weights, mean } = weighUsers(rows, 0.25);
    expect(new Set(weights).size).toBeGreaterThan(2);
    const owned = Array.from({ length: 700 }, (_, u) => new Set(listOf(ordered, u)));
    const shared = (i: number, j: number) =>
      owned.reduce((sum, own, u) => sum + (own.has(i) && own.has(j) ? weights[u] : 0), 0) / mean;
    const setting = { neighbours: 8, lambda: 6, dropout: 0.4 };
    const similarity = { neighbours: 6, history: 0.6, candidates: 0.2 };
    const data = { users: rows, items: byItem, inputs, userExponent: 0.25 };
    const tables = await createItemRegression(data);
    const lists = await createItemRegression({ ...data, pairBytes: 8 });
    const found = await tables.solve(setting);
    expect(await lists.solve(setting)).toEqual(found);
    const near = await tables.similar(similarity);
    expect(await lists.similar(similarity)).toEqual(near);
    const degree = Array.from({ length: ITEMS }, (_, i) => listOf(byItem, i).length);
    const scaled = scaleTargets(found, degreeScale(degree, undefined, 0.2));
    const [solved, similar] = [dense(scaled, ITEMS), dense(near, ITEMS)];
    const sum = dense(addScaled(scaled, near, 0.5), ITEMS);
    for (const [i, row] of sum.entries()) {
      for (const [j, weight] of row.entries()) {
        expect(weight).toBeCloseTo(solved[i][j] + 0.5 * similar[i][j], 6);
      }
    }
    const edges = rows.values.length;
    const scale = edges / degree.reduce((sum, d) => sum + d ** 0.8, 0);
    const typical = degree.reduce((sum, d) => sum + d * d, 0) / edges;
    for (const target of [0, 7, 12]) {
      const allowed = Array.from(inputs.keys()).filter((i) => inputs[i] && i !== target);
      const gain = (i: number) => shared(i, target) ** 2 / (shared(i, i) + setting.lambda);
      const chosen = allowed.toSorted((a, b) => gain(b) - gain(a)).slice(0, setting.neighbours);
      const right = chosen.map((i) => shared(i, target));
      const system = chosen.map((i) =>
        chosen.map((j) => shared(i, j) + (i === j ? setting.lambda + setting.dropout * shared(i, i) : 0)),
      );
      for (const [at, weight] of solve(system, right).entries()) {
        expect(solved[chosen[at]][target]).toBeCloseTo(weight * scale * degree[target] ** -0.2, 3);
      }
      const alike = (i: number) =>
        shared(i, target) / (typical * (degree[i] / typical) ** 0.6 * (degree[target] / typical) ** 0.2);
      for (const i of allowed.toSorted((a, b) => alike(b) - alike(a)).slice(0, 6)) {
        expect(similar[i][target]).toBeCloseTo(alike(i), 5);
      }
    }
  });

  it('have the same similarities, however many targets are counted together', async () => {
    const rows = communityLists(90, ITEMS, 3, 9);
    const inputs = Uint8Array.from({ length: ITEMS }, (_, i) => (i % 3 === 0 ? 0 : 1));
    const data = { users: rows, items: transposeLists(rows, ITEMS), inputs, onlySimilar: true };
    const setting = { neighbours: 6, history: 0.6, candidates: 0.2, shrinkage: 3 };
    const found = await (await createItemRegression(data)).similar(setting);
    expect(found.weights.length).toBeGreaterThan(4 * ITEMS);
    for (const pairBytes of [1, 1000]) {
      expect(await (await createItemRegression({ ...data, pairBytes })).similar(setting)).toEqual(found);
    }
  });

  it('count two edges of a user with the smaller of their weights', async () => {
    const rows = communityLists(90, ITEMS, 3, 9);
    const random = randomStream(5, 1);
    const weights = Float32Array.from(rows.values, () => 2 ** (-7 * random.uniform()));
    const weighted = { ...rows, weights };
    const rounded = weights.map((weight) => 2 ** -Math.min(4, Math.round(-Math.log2(weight))));
    const byItem = transposeLists(rows, ITEMS);
    const degree = Array.from({ length: 90 }, (_, u) => listOf(rows, u).length);
    for (const exponent of [0, 0.25]) {
      const { users: parts, weights: counts, mean } = weighUsers(weighted, exponent);
      const ofUser = (u: number) =>
        new Map(listOf(rows, u).map((item, n) => [item, rounded[rows.offsets[u] + n]]));
      const own = degree.map((_, u) => ofUser(u));
      const usual = weighUsers(rows, exponent);
      const table = new Map(Array.from(usual.weights, (w, u) => [listOf(usual.users, u).join(), w]));
      const shared = (i: number, j: number) =>
        own.reduce((sum, of, u) => {
          const user = Math.min(8, table.get(listOf(rows, u).join())!);
          return sum + (of.has(i) && of.has(j) ? 16 * user * Math.min(of.get(i)!, of.get(j)!) : 0);
        }, 0);
      for (const [i, j] of [
        [0, 1],
        [3, 3],
        [5, 17],
        [8, 30],
      ]) {
        let sum = 0;
        for (const [u, count] of counts.entries()) {
          const list = listOf(parts, u);
          if (list.includes(i) && list.includes(j)) sum += count;
        }
        expect(sum).toBe(shared(i, j));
      }
      expect(mean).toBeCloseTo(
        Array.from({ length: ITEMS }, (_, i) => shared(i, i)).reduce((a, b) => a + b) / rows.values.length,
        6,
      );
      const data = { users: weighted, items: byItem, userExponent: exponent };
      const setting = { neighbours: 8, lambda: 3, dropout: 0.4 };
      const tables = await createItemRegression(data, { threads: 1 });
      const lists = await createItemRegression({ ...data, pairBytes: 8 }, { threads: 3 });
      const found = await tables.solve(setting, { threads: 1 });
      expect(await lists.solve(setting, { threads: 3 })).toEqual(found);
      const plain = await createItemRegression({ ...data, users: rows });
      expect(await plain.solve(setting)).not.toEqual(found);
      // Equal weights are no weights.
      const same = { ...rows, weights: new Float32Array(rows.values.length).fill(1) };
      const equal = await createItemRegression({ ...data, users: same });
      if (exponent === 0)
        expect((await equal.solve(setting)).weights).toEqual((await plain.solve(setting)).weights);
    }
  });

  it('are the same on any number of threads, and stop when they are aborted', async () => {
    const many = communityLists(700, 900, 4, 6);
    const data = { users: many, items: transposeLists(many, 900), userExponent: 0.25 };
    const setting = { neighbours: 180, lambda: 30, dropout: 0.5 };
    const solved = async (threads: number) =>
      (await createItemRegression(data, { threads })).solve(setting, { threads });
    const [one, three] = await Promise.all([solved(1), solved(3)]);
    expect(three.targets).toEqual(one.targets);
    expect(Buffer.from(three.weights.buffer).equals(Buffer.from(one.weights.buffer))).toBe(true);
    const waiting = await createItemRegression(data, { threads: 2 });
    const stopped = waiting.solve(setting, { threads: 2, signal: AbortSignal.timeout(5) });
    await expect(stopped).rejects.toThrow();
  });
});
