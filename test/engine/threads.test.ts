// The same bits for any number of threads.

import { describe, expect, test } from 'vitest';
import { createCpuEngine } from '../../src/engine/cpu/engine.js';
import { randomProblem } from './random-problem.js';

async function run(threads: number, multigraph: boolean) {
  const problem = randomProblem({ users: 700, items: 500, edges: 40_000, features: 13, multigraph }, 8);
  const { graph, hyper, features } = problem;
  const engine = await createCpuEngine({ threads, limits: { edges: 512, rows: 64 } });
  try {
    const users = await engine.createTable(features, problem.start.users, 'exact');
    const items = await engine.createTable(features, problem.start.items, 'exact');
    const byUser = await engine.createIndex(graph.users);
    const byItem = await engine.createIndex(graph.items);
    for (let t = 0; t < 5; t++) {
      await engine.update(users, byUser, items, { hyper: hyper.users, activity: 'exact', edgeTerm: true });
      await engine.update(items, byItem, users, { hyper: hyper.items, activity: 'exact' });
    }
    return {
      users: await engine.read(users),
      items: await engine.read(items),
      totals: await engine.totals(items),
      edgeTerm: await engine.edgeTerm(users, byUser, items),
      rowTerms: await engine.rowTerms(users, hyper.users),
    };
  } finally {
    await engine.close();
  }
}

describe.each([false, true])('multigraph %s', (multigraph) => {
  test('1, 2, 3 and 8 threads give the same bits', async () => {
    const one = await run(1, multigraph);
    for (const threads of [2, 3, 8]) expect(await run(threads, multigraph)).toEqual(one);
  });
});
