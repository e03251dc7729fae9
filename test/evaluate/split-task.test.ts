import { describe, expect, it } from 'vitest';
import { historyOf, splitRankingTask } from '../../src/evaluate/split-task.js';
import { buildGraph } from '../../src/graph/build.js';
import { VertexIds } from '../../src/graph/ids.js';
import { randomStream } from '../../src/math/random.js';
import { split } from '../../src/sample/split.js';
import { listOf } from './brute-force.js';

function randomGraph(users: number, items: number, edges: number, seed: number) {
  const random = randomStream(seed, 5);
  const list = Array.from(
    { length: edges },
    () => [random.below(users), Math.floor(items * random.uniform() ** 3)] as const,
  );
  const usedUsers = [...new Set(list.map(([u]) => u))];
  const usedItems = [...new Set(list.map(([, i]) => i))];
  return buildGraph({
    users: list.map(([u]) => usedUsers.indexOf(u)),
    items: list.map(([, i]) => usedItems.indexOf(i)),
    userCount: usedUsers.length,
    itemCount: usedItems.length,
    userIds: VertexIds.texts(usedUsers.map((u) => `user ${u}`)),
    itemIds: VertexIds.texts(usedItems.map((i) => `item ${i}`)),
  });
}

describe('splitRankingTask', () => {
  it.each(['pq', 'edges'] as const)(
    'asks for the test items of every user of whom something is known (%s)',
    (method) => {
      const graph = randomGraph(120, 80, 700, 3);
      const parts = split(graph, {
        ...{ method, seed: 4, testUsers: 0.4 },
        ...(method === 'pq' && { testItems: 0.4 }),
      });
      const task = splitRankingTask(parts);
      const known = historyOf(parts);
      const trained = new Set(
        Array.from({ length: parts.train.items.count }, (_, j) => parts.train.items.ids.at(j)),
      );
      const name = (item: number) => parts.train.items.ids.at(item);
      const edgesOf = (part: typeof graph, user: string) => {
        const u = part.users.ids.find(user);
        if (u < 0) return [];
        return Array.from(
          part.users.neighbors.subarray(part.users.offsets[u], part.users.offsets[u + 1]),
          (j) => part.items.ids.at(j),
        ).filter((id) => trained.has(id));
      };
      let asked = 0;
      let unknown = 0;
      for (let row = 0; row < task.rows; row++) {
        const user = known.users.ids.at(row);
        const history = edgesOf(known, user);
        expect(listOf(task.history, row).map(name).sort()).toEqual(history.sort());
        const test = history.length > 0 ? edgesOf(parts.test, user) : [];
        const relevant = listOf(task.relevant, row).map((p) => name(task.candidates[p]));
        expect(relevant.sort()).toEqual(test.sort());
        asked += test.length > 0 ? 1 : 0;
      }
      for (let u = 0; u < parts.test.users.count; u++) {
        const user = parts.test.users.ids.at(u);
        if (edgesOf(parts.test, user).length > 0 && edgesOf(known, user).length === 0) unknown++;
      }
      expect(asked).toBeGreaterThan(20);
      expect(task.left.usersWithoutHistory).toBe(unknown);
      const testItems = Array.from({ length: parts.test.items.count }, (_, j) => parts.test.items.ids.at(j));
      expect(Array.from(task.candidates, name).sort()).toEqual(
        testItems.filter((id) => trained.has(id)).sort(),
      );
      // What is known of a user is not ranked for that user.
      if (method === 'edges') expect(task.excluded!.values.length).toBeGreaterThan(0);
      else expect(task.excluded).toBeUndefined();
      const degree = (item: number) => parts.train.items.offsets[item + 1] - parts.train.items.offsets[item];
      const rare = Array.from(task.candidates.keys()).filter((p) => !task.popular.includes(p));
      const least = Math.min(...Array.from(task.popular, (p) => degree(task.candidates[p])));
      expect(task.popular.length).toBeGreaterThan(0);
      expect(Math.max(...rare.map((p) => degree(task.candidates[p])))).toBeLessThan(least);
    },
  );

  it('uses the given order of items', () => {
    const parts = split(randomGraph(60, 40, 300, 6), { seed: 1, testUsers: 0.4, testItems: 0.4 });
    const ids = Array.from({ length: parts.train.items.count }, (_, j) =>
      parts.train.items.ids.at(j),
    ).reverse();
    const straight = splitRankingTask(parts);
    const reversed = splitRankingTask(parts, VertexIds.texts(ids));
    const last = ids.length - 1;
    expect(Array.from(reversed.candidates, (item) => last - item).reverse()).toEqual(
      Array.from(straight.candidates),
    );
    expect(reversed.popular.length).toBe(straight.popular.length);
  });
});
