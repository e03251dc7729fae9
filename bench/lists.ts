// How fast are lists for many users, compared with the ranking of an evaluation? Users a second of both, in turns, in one run, on the
// same model: known users, users who are folded in from what they have, and known users to a CSV file.
// node scripts/run-ts.js bench/lists.ts [threads]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluateRanking } from '../src/evaluate/evaluate-ranking.js';
import { splitRankingTask } from '../src/evaluate/split-task.js';
import { fit } from '../src/fit/fit.js';
import { meanTable } from '../src/fit/model.js';
import { createRecommender } from '../src/predict/recommender.js';
import { factorScorer } from '../src/predict/scoring/scorer.js';
import { simulate } from '../src/process/poisson-model.js';
import { split } from '../src/sample/split.js';
import { writeLists } from '../src/store/write-table.js';

const threads = process.argv[2] === undefined ? undefined : Number(process.argv[2]);
const side = { sigma: 0.2, tau: 1, size: 500, shape: 0.1, rate: 0.1 };
const { graph } = await simulate({ users: side, items: side, features: 30, seed: 1 });
const parts = split(graph, { method: 'edges', testUsers: 0.2, seed: 1 });
const { model } = await fit(parts.train, { features: 30, iterations: 5, model: 'sparse', threads });
if (model.type !== 'posterior') throw new Error('no posterior');
const task = splitRankingTask(parts, model.items.ids);
const [users, items] = [model.users, model.items].map((side) => meanTable(side, model.features));
const scorer = factorScorer(users, items, model.features);
const recommender = createRecommender(model);
const { ids, count } = model.users;
const known = Array.from({ length: count }, (_, u) => ({ user: ids.at(u) }));
const { offsets, neighbors } = parts.train.users;
const fresh = Array.from({ length: count }, (_, u) => ({
  likes: Array.from(neighbors.subarray(offsets[u], offsets[u + 1]), (i) => model.items.ids.at(i)),
}));
const folder = mkdtempSync(join(tmpdir(), 'graphex-lists-'));

const some = known.slice(0, 600);
const [one, several] = await Promise.all(
  [1, 2].map((n) => recommender.recommendMany(some, { n: 20, threads: n })),
);
if (JSON.stringify(one) !== JSON.stringify(several)) throw new Error('threads change the lists');

async function* batches() {
  for (let at = 0; at < count; at += 8192) {
    const lists = await recommender.recommendMany(known.slice(at, at + 8192), { n: 20, threads });
    yield lists.map((items, i) => ({ user: ids.at(at + i), items, basis: 'history' }));
  }
}
const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  evaluation: () => evaluateRanking(task, scorer, { n: 20, threads, engine: 'cpu' }),
  'known users': () => recommender.recommendMany(known, { n: 20, threads }),
  'folded in': () => recommender.recommendMany(fresh, { n: 20, threads }),
  'to a file': () => writeLists(join(folder, 'lists.csv'), batches(), false),
};
// The evaluated users: those with a test item.
const evaluated = task.relevant.offsets
  .slice(1)
  .filter((end, row) => end > task.relevant.offsets[row]).length;
const rows: Readonly<Record<string, number>> = { evaluation: evaluated };
const best: Record<string, number> = {};
for (let round = 0; round < 4; round++) {
  for (const [name, work] of Object.entries(ways)) {
    const began = performance.now();
    await work();
    const rate = (1000 * (rows[name] ?? count)) / (performance.now() - began);
    // The first round starts the workers.
    if (round > 0) best[name] = Math.max(best[name] ?? 0, rate);
  }
}
await recommender.close();
rmSync(folder, { recursive: true });
console.log(`${count} users × ${model.items.count} items, ${evaluated} of the users evaluated`);
for (const [name, rate] of Object.entries(best)) {
  console.log(
    `${name.padEnd(12)} ${Math.round(rate)} users/s, ${(rate / best.evaluation).toFixed(2)} of the evaluation`,
  );
}
