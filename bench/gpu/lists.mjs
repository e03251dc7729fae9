// Ranking fits of many features on the GPU and on all cores, and lists for every user: the same lists first, then the time.
//
//   npm run build && DATA=ratings.csv node bench/gpu/lists.mjs        K=512, MEMBERS=4 and SWEEPS=10 unless set

import { evaluateRanking } from '../../dist/evaluate/evaluate-ranking.js';
import { splitRankingTask } from '../../dist/evaluate/split-task.js';
import { fit } from '../../dist/fit/fit.js';
import { readGraph } from '../../dist/ingest/read.js';
import { createRecommender } from '../../dist/predict/recommender.js';
import { factorScorer, joinedRows } from '../../dist/predict/scoring/scorer.js';
import { split } from '../../dist/sample/split.js';

const number = (name, otherwise) => Number(process.env[name] ?? otherwise);
const [features, average, iterations] = [number('K', 512), number('MEMBERS', 4), number('SWEEPS', 10)];
const timed = async (work) => {
  const began = performance.now();
  const value = await work();
  return { value, seconds: (performance.now() - began) / 1000 };
};

const { graph } = await readGraph(process.env.DATA);
const parts = split(graph, { method: 'edges', testUsers: 0.2, seed: 1 });
const { train } = parts;
console.log(
  `${train.edges} edges, ${train.users.count} × ${train.items.count}, K = ${features}, ${average} members, ${iterations} sweeps`,
);

const options = { method: 'ranking', features, average, iterations, tolerance: 0, seed: 1, blend: false };
const fits = {};
for (const engine of ['gpu', 'cpu']) {
  fits[engine] = await timed(() => fit(train, { ...options, engine }));
  console.log(`ranking fit, ${engine}: ${fits[engine].seconds.toFixed(2)} s`);
}
const { model } = fits.cpu.value;

const recommender = createRecommender(model);
const queries = Array.from({ length: model.users.count }, (_, u) => ({ user: model.users.ids.at(u) }));
const lists = {};
for (const engine of ['gpu', 'cpu', 'gpu']) {
  const threads = undefined;
  lists[engine] = await timed(async () => {
    const all = [];
    for (let at = 0; at < queries.length; at += 8192) {
      all.push(
        ...(await recommender.recommendMany(queries.slice(at, at + 8192), { n: 20, engine, threads })),
      );
    }
    return all;
  });
  console.log(`lists, ${engine}: ${Math.round(queries.length / lists[engine].seconds)} users/s`);
}
await recommender.close();
let same = 0;
for (const [u, list] of lists.gpu.value.entries()) {
  const other = lists.cpu.value[u];
  // The sums have another order, so neighbours in a list may change places, and the last item may differ.
  const gap = Math.max(...list.map(({ score }, i) => Math.abs(score / other[i].score - 1)));
  if (!(gap < 1e-4)) throw new Error(`NOT PROVED: lists of user ${u} differ by ${gap}`);
  if (list.every(({ item }, i) => item === other[i].item)) same++;
}
console.log(
  `${((100 * same) / queries.length).toFixed(1)} % of the lists are the same, the others by less than 1e-4 of the scores`,
);

const task = splitRankingTask(parts, model.items.ids);
const { members } = model.scores;
const joined = (side) => joinedRows(members.map((one) => ({ table: one[side], features: one.features })));
const width = members.reduce((sum, one) => sum + one.features, 0);
const scorer = factorScorer(joined('users'), joined('items'), width);
const evaluated = task.relevant.offsets
  .slice(1)
  .filter((end, row) => end > task.relevant.offsets[row]).length;
for (const engine of ['gpu', 'cpu', 'gpu']) {
  const { seconds } = await timed(() => evaluateRanking(task, scorer, { n: 20, engine }));
  const rate = evaluated / seconds;
  const own = queries.length / lists[engine].seconds;
  console.log(`evaluation, ${engine}: ${Math.round(rate)} users/s; lists ${(own / rate).toFixed(2)} of that`);
}
