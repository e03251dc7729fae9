// The leading singular vectors of small matrices, compared with many plain iterations in float64.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { collectLists, transposeLists } from '../../src/math/csr.js';
import { randomStream } from '../../src/math/random.js';
import { leadingDirections, withDirectionWorkers } from '../../src/solvers/leading-directions.js';

const [USERS, ITEMS] = [300, 90];
const random = randomStream(11);
/** Users have most of their items in one of nine groups. */
const users = collectLists(USERS, (u, add) => {
  for (let i = 0; i < ITEMS; i++) if (random.uniform() < (u % 9 === i % 9 ? 0.4 : 0.03)) add(i);
});
const edges = { users, items: transposeLists(users, ITEMS) };
const scales = {
  users: Float64Array.from({ length: USERS }, () => 0.5 + random.uniform()),
  items: Float64Array.from({ length: ITEMS }, (_, i) => (i === 5 ? 0 : 0.2 + random.uniform())),
};

/** D Rᵀ U² R D. */
const matrix = new Float64Array(ITEMS * ITEMS);
for (let u = 0; u < USERS; u++) {
  const own = users.values.subarray(users.offsets[u], users.offsets[u + 1]);
  for (const i of own) {
    for (const j of own) matrix[i * ITEMS + j] += scales.users[u] ** 2 * scales.items[i] * scales.items[j];
  }
}
const times = (x: ArrayLike<number>) =>
  Float64Array.from({ length: ITEMS }, (_, i) => dot(matrix.subarray(i * ITEMS, (i + 1) * ITEMS), x));
const dot = (x: ArrayLike<number>, y: ArrayLike<number>) => {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
  return sum;
};
const columnsOf = (table: ArrayLike<number>, width: number) =>
  Array.from({ length: width }, (_, k) =>
    Float64Array.from({ length: ITEMS }, (_, i) => table[i * width + k]),
  );

/** The sum of the largest eigenvalues, each found by power iteration orthogonal to those before. */
function largestSum(count: number): number {
  const found: Float64Array[] = [];
  let sum = 0;
  for (let k = 0; k < count; k++) {
    let x = Float64Array.from({ length: ITEMS }, () => random.uniform() - 0.5);
    for (let n = 0; n < 400; n++) {
      x = times(x);
      for (const other of found) {
        const part = dot(x, other);
        x = x.map((value, i) => value - part * other[i]);
      }
      const length = Math.sqrt(dot(x, x));
      x = x.map((value) => value / length);
    }
    sum += dot(x, times(x));
    found.push(x);
  }
  return sum;
}

test.each([9, 40])('%i directions are orthonormal and span the leading vectors', async (directions) => {
  const table = await leadingDirections(edges, scales, directions, 60, randomStream(2));
  const columns = columnsOf(table, directions);
  for (const [k, own] of columns.entries()) {
    for (const [l, other] of columns.entries()) {
      expect(Math.abs(dot(own, other) - (k === l ? 1 : 0))).toBeLessThan(1e-3);
    }
  }
  const captured = columns.reduce((sum, column) => sum + dot(column, times(column)), 0);
  const best = largestSum(directions);
  expect(captured / best).toBeGreaterThan(0.995);
  expect(captured / best).toBeLessThan(1.001);
  expect(table.subarray(5 * directions, 6 * directions).every((value) => value === 0)).toBe(true);
});

test('weak directions are found beside strong ones', async () => {
  const [groups, own] = [9, 10];
  const apart = collectLists(USERS, (u, add) => {
    for (let i = u % groups; i < groups * own; i += groups) add(i);
  });
  // The eigenvalues of the groups fall from 1 to 0.004. After two multiplications that would be 0.00002, whose square float32 loses.
  const weight = (i: number) => 10 ** (-0.15 * (i % groups));
  const weak = {
    users: new Float64Array(USERS).fill(1),
    items: Float64Array.from({ length: ITEMS }, (_, i) => weight(i)),
  };
  const table = await leadingDirections(
    { users: apart, items: transposeLists(apart, ITEMS) },
    weak,
    groups,
    16,
    randomStream(2),
  );
  for (let group = 0; group < groups; group++) {
    const direction = Float64Array.from({ length: ITEMS }, (_, i) =>
      i % groups === group ? Math.sqrt(1 / own) : 0,
    );
    const captured = columnsOf(table, groups).reduce((sum, column) => sum + dot(column, direction) ** 2, 0);
    expect(captured, `group ${group}`).toBeCloseTo(1, 2);
  }
});

test('more directions than the matrix has: all of it is in the first ones, and the others stay small', async () => {
  const items = 300;
  const same = collectLists(USERS, (u, add) => {
    for (let i = u % 9; i < items; i += 9) add(i);
  });
  const one = (count: number) => new Float64Array(count).fill(1);
  const table = await leadingDirections(
    { users: same, items: transposeLists(same, items) },
    { users: one(USERS), items: one(items) },
    ...([150, 5, randomStream(2)] as const),
  );
  expect(table.every(Number.isFinite)).toBe(true);
  // Nine groups of users: each list of a group has length 1 in the space of the first nine columns.
  for (let group = 0; group < 9; group++) {
    const parts = Float64Array.from({ length: 150 }, (_, k) => {
      let sum = 0;
      for (let i = group; i < items; i += 9) sum += table[i * 150 + k];
      return sum / Math.sqrt(Math.ceil((items - group) / 9));
    });
    expect(dot(parts.subarray(0, 9), parts.subarray(0, 9))).toBeCloseTo(1, 2);
    expect(dot(parts, parts)).toBeLessThan(1.1);
  }
});

test('columns are multiplied by the matrix that is asked for', async () => {
  const plain = await leadingDirections(edges, scales, 4, 10, randomStream(2));
  const turned = await leadingDirections(edges, scales, 4, 10, randomStream(2), {
    turns: ({ values, stride }) => {
      expect(values[2 * stride + 1]).toBe(plain[2 * 4 + 1]);
      return Float64Array.of(...[0, 2, 0, 0], ...[1, 0, 0, 0], ...[0, 0, 0, -1], ...[0, 0, 1, 0]);
    },
  });
  for (let i = 0; i < ITEMS; i++) {
    const [a, b, c, d] = plain.subarray(4 * i, 4 * i + 4);
    expect([...turned.subarray(4 * i, 4 * i + 4)]).toEqual([b, 2 * a, d, -c].map((value) => value + 0));
  }
});

test('numbers do not depend on the number of threads', async () => {
  const many = collectLists(20_000, (u, add) => {
    for (let i = u % 9; i < ITEMS; i += 1 + ((u * i) % 7)) add(i);
  });
  const sides = { users: many, items: transposeLists(many, ITEMS) };
  const one = (count: number) => new Float64Array(count).fill(1);
  const scales = { users: one(20_000), items: one(ITEMS) };
  const work = { edges: many.values.length, directions: 40, multiplications: 16 };
  const counts: number[] = [];
  const tables = await Promise.all(
    [1, 2, 3].map((threads) =>
      withDirectionWorkers(work, threads, (workers) => {
        counts.push(workers.count);
        return leadingDirections(sides, scales, 40, 16, randomStream(2), { workers });
      }),
    ),
  );
  expect(counts).toEqual([1, 2, 3]);
  expect(tables[1]).toEqual(tables[0]);
  expect(tables[2]).toEqual(tables[0]);
});

test.runIf(process.platform === 'linux')(
  'no worker starts if addresses are limited, since many are reserved at once',
  () => {
    const script = `import { withDirectionWorkers } from ${JSON.stringify(new URL('../../dist/solvers/leading-directions.js', import.meta.url))};
    const work = { edges: 1e7, directions: 32, multiplications: 16 };
    console.log(await withDirectionWorkers(work, 4, async ({ count }) => count));`;
    const count = (limit: string) =>
      String(
        execFileSync('sh', [
          '-c',
          `ulimit -v ${limit}; exec "$0" "$@"`,
          process.execPath,
          '--input-type=module',
          '-e',
          script,
        ]),
      ).trim();
    expect(count('unlimited')).toBe('4');
    expect(count('60000000')).toBe('1');
  },
);

test('a signal stops it', async () => {
  const signal = AbortSignal.abort();
  const task = leadingDirections(edges, scales, 4, 10, randomStream(2), { signal });
  await expect(task).rejects.toThrow();
});
