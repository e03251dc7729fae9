// The same bits for any number of threads.

import { describe, expect, test } from 'vitest';
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.js';
import { BATCH_BORDERS, problemOfDegrees, randomProblem } from './random-problem.js';

async function run(threads: number, multigraph: boolean) {
  const problem = randomProblem({ users: 700, items: 500, edges: 40_000, features: 13, multigraph }, 8);
  const { graph, hyper, features } = problem;
  const engine = await createCpuEngine({ threads, limits: { edges: 512, rows: 64 } });
  try {
    const users = await engine.createTable(features, problem.start.users, 'geometric');
    const items = await engine.createTable(features, problem.start.items, 'geometric');
    const byUser = await engine.createIndex(graph.users);
    const byItem = await engine.createIndex(graph.items);
    for (let t = 0; t < 5; t++) {
      await engine.update(users, byUser, items, {
        hyper: hyper.users,
        activity: 'geometric',
        edgeTerm: true,
      });
      await engine.update(items, byItem, users, { hyper: hyper.items, activity: 'geometric' });
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

async function runBorders(
  threads: number,
  { features, degrees }: (typeof BATCH_BORDERS)[number],
  multigraph: boolean,
) {
  const problem = problemOfDegrees(degrees, features, multigraph, 21);
  const engine = await createCpuEngine({ threads, limits: { edges: 2 * Math.max(...degrees), rows: 7 } });
  try {
    const own = await engine.createTable(features, problem.own, 'geometric');
    const other = await engine.createTable(features, problem.other, 'geometric');
    const index = await engine.createIndex(problem.rows);
    const options = { hyper: problem.hyper, activity: 'geometric', edgeTerm: true } as const;
    let term: number | undefined;
    for (let t = 0; t < 3; t++) term = await engine.update(own, index, other, options);
    return {
      own: await engine.read(own),
      totals: await engine.totals(own),
      terms: [term, await engine.edgeTerm(own, index, other)],
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

  test.each(BATCH_BORDERS)('so do rows at the borders of batches, $features features', async (border) => {
    const one = await runBorders(1, border, multigraph);
    for (const threads of [2, 3, 8]) expect(await runBorders(threads, border, multigraph)).toEqual(one);
  });
});
