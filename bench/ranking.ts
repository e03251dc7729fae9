// Full ranking of 40,000 users × 40,000 items at K = 32 for capped recall@20 and nDCG@1000. Checks a few users against a full
// sort, then times; seeded, warmed up, repeated.
//
//   npm run build && node scripts/run-ts.js bench/ranking.ts

import { cpus } from 'node:os';
import { evaluateRanking } from '../src/evaluate/evaluate-ranking.js';
import { collectLists } from '../src/math/csr.js';
import { randomStream } from '../src/math/random.js';
import { rankingTask } from '../src/metrics/ranking-task.js';
import { factorScorer } from '../src/predict/scoring/scorer.js';

const [users, items, features, n, depth, repeats] = [40_000, 40_000, 32, 20, 1000, 3];
const random = randomStream(1);
// Skewed like posterior means: few features of a vertex are active, and vertices differ in weight.
const table = (rows: number) => {
  const values = new Float32Array(new SharedArrayBuffer(4 * rows * features));
  for (let r = 0; r < rows; r++) {
    const weight = random.uniform() ** -0.7;
    for (let k = 0; k < features; k++) values[r * features + k] = weight * random.uniform() ** 8;
  }
  return values;
};
const scorer = factorScorer(table(users), table(items), features);
const relevant = collectLists(users, (_row, add) => {
  const wanted = 1 + Math.floor(20 * random.uniform() ** -0.5);
  for (let i = 0; i < wanted; i++) add(random.below(items));
});
const task = rankingTask({
  rows: users,
  items,
  relevant,
  candidates: Uint32Array.from({ length: items }, (_, i) => i),
});

const before = process.memoryUsage();
const result = await evaluateRanking(task, scorer, { n, depth });
const after = process.memoryUsage();
for (let row = 0; row < users; row += 997) checkUser(row);

const seconds: number[] = [];
const cpu = process.cpuUsage();
for (let r = 0; r < repeats; r++) {
  const start = performance.now();
  await evaluateRanking(task, scorer, { n, depth });
  seconds.push((performance.now() - start) / 1000);
}
const { user, system } = process.cpuUsage(cpu);
seconds.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    what: `ranking ${users} × ${items}, K = ${features}, recall@${n}, nDCG@${depth}, ${relevant.values.length} relevant`,
    machine: `${cpus()[0]?.model} × ${cpus().length}`,
    node: process.version,
    secondsMedian: seconds[repeats >> 1],
    secondsBest: seconds[0],
    // CPU time over all threads. It depends less on other work than the wall clock.
    cpuSecondsEach: (user + system) / 1e6 / repeats,
    memoryGrownMiB: Math.round((after.rss - before.rss) / 2 ** 20),
    recall: result.all.mean.recallCapped,
    ndcg: result.all.mean.ndcg,
  }),
);

function checkUser(row: number): void {
  const score = new Float64Array(items);
  for (let i = 0; i < items; i++) {
    for (let k = 0; k < features; k++) {
      score[i] += scorer.users[row * features + k] * scorer.items[i * features + k];
    }
  }
  const order = Array.from(score.keys()).sort((a, b) => score[b] - score[a] || a - b);
  const wanted = new Set(relevant.values.subarray(relevant.offsets[row], relevant.offsets[row + 1]));
  const gain = order
    .slice(0, depth)
    .reduce((sum, item, i) => sum + (wanted.has(item) ? 1 / Math.log2(i + 2) : 0), 0);
  let ideal = 0;
  for (let i = 0; i < Math.min(depth, wanted.size); i++) ideal += 1 / Math.log2(i + 2);
  const got = result.all.perUser.ndcg[result.all.rows.indexOf(row)];
  // float32 scores may exchange neighbours; that moves nDCG by far less than this.
  if (Math.abs(got - gain / ideal) > 1e-4)
    throw new Error(`user ${row}: nDCG ${got}, a full sort gives ${gain / ideal}`);
}
