// Lists with and without a filter: the time of a request as a worker of the server answers it, and of compiling a filter.
//
//   npm run build && node scripts/run-ts.js bench/filter.ts [items] [features] [requests]
//
// The bench first checks that a filtered list is the plain list without the items that do not meet the condition.

import type { SideInfo } from '../src/attributes/info.js';
import { itemFilter } from '../src/attributes/item-filter.js';
import type { Ranker } from '../src/fit/model.js';
import { VertexIds } from '../src/graph/ids.js';
import { randomStream } from '../src/math/random.js';
import { createRecommender } from '../src/predict/recommender.js';
import { createLiveView } from '../src/serve/live/live-view.js';
import { answerQueries } from '../src/serve/queries.js';
import { randomRanker } from './serve-target.js';

const items = Number(process.argv[2] ?? 20_000);
const features = Number(process.argv[3] ?? 150);
const requests = Number(process.argv[4] ?? 1000);
const GENRES = 1000;
const random = randomStream(1, items, features);

/** Every item has one genre, genre g with a share that falls with g, and a year. */
function randomInfo(): SideInfo {
  const offsets = Uint32Array.from({ length: items + 1 }, (_, item) => item);
  const targets = Uint32Array.from({ length: items }, () => Math.floor(GENRES * random.uniform() ** 8));
  const years = Float64Array.from({ length: items }, () => 1950 + random.below(75));
  return {
    added: VertexIds.texts([]),
    titles: [],
    columns: [{ name: 'genre', kind: 'category', first: 0, count: GENRES }],
    names: Array.from({ length: GENRES }, (_, genre) => `g${genre}`),
    rows: { offsets, targets, weights: new Float32Array(items).fill(1) },
    numbers: [{ column: 'year', values: years }],
  };
}

const model: Ranker = { ...randomRanker(items, features), info: { items: randomInfo() } };

const recommender = createRecommender(model);
const served = { recommender, live: createLiveView(model.items, []) };
const likes = () => [...new Set(Array.from({ length: 20 }, () => String(random.below(items))))];

async function time(filter: string | undefined): Promise<number> {
  const request = { likes: likes(), n: 20, ...(filter !== undefined && { filter }) };
  const began = performance.now();
  const [reply] = await answerQueries(served, [{ endpoint: 'recommend', request }]);
  const taken = performance.now() - began;
  if (!('value' in reply)) throw new Error(JSON.stringify(reply));
  return taken;
}

const FILTERS = [
  'year >= 1960',
  "genre = 'g0'",
  "genre = 'g7' and year >= 1990",
  "genre in ('g500', 'g501')",
];
const question = { likes: likes() };
const everything = await recommender.recommend(question, { n: items });
for (const filter of FILTERS) {
  const { has } = itemFilter(model, filter);
  const wanted = everything.filter(({ item }) => has(item)).slice(0, 20);
  const found = await recommender.recommend(question, { n: 20, filter });
  if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(`${filter}: another list`);
}

console.log(`${items} items, ${features} features, ${requests} requests of each kind in turn`);
const compiled: number[] = [];
for (let i = 0; i < 5; i++) {
  const began = performance.now();
  itemFilter(model, `genre = 'g${i}' and year >= ${1960 + i}`);
  compiled.push(performance.now() - began);
}
console.log(`compiling a filter: ${compiled.map((one) => one.toFixed(1)).join(', ')} ms`);
const kinds = [undefined, ...FILTERS];
const times = kinds.map((): number[] => []);
for (let i = -20; i < requests; i++) {
  for (const [k, filter] of kinds.entries()) {
    const taken = await time(filter);
    if (i >= 0) times[k].push(taken);
  }
}
const at = (list: number[], part: number) => list.sort((a, b) => a - b)[Math.floor(part * (list.length - 1))];
for (const [k, filter] of kinds.entries()) {
  const [median, p99] = [at(times[k], 0.5), at(times[k], 0.99)];
  const kept = filter === undefined ? items : itemFilter(model, filter).count;
  const ratio = `${(median / at(times[0], 0.5)).toFixed(2)}, ${(p99 / at(times[0], 0.99)).toFixed(2)}`;
  console.log(
    `${filter ?? 'no filter'} (${kept} items): ${median.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ratios ${ratio}`,
  );
}
await recommender.close();
