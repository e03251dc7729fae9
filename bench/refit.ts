// A fit from a former model beside a fresh one, after 5 % new edges: the bound it reaches (for ranking fits: recall on
// held-out users), and its time as a share of the fresh fit's, both in one run.
//
//   node scripts/run-ts.js bench/refit.ts [set …]      (simulated-small, movietweetings, online-retail, julia-general, goodbooks, acl-abstracts)

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { evaluateModel } from '../src/evaluate/evaluate.js';
import { fit } from '../src/fit/fit.js';
import type { FitOptions } from '../src/fit/options.js';
import { BipartiteGraph } from '../src/graph/public.js';
import { readGraph } from '../src/ingest/read.js';
import { randomStream } from '../src/math/random.js';
import { pqSample } from '../src/sample/pq.js';
import { split } from '../src/sample/split.js';
import { SETS } from './sets.js';

/** The share of the edges that the former model saw. */
const BEFORE = 0.95;
const wanted = process.argv.slice(2);

/** The first edges by the time in the fourth column, and all. */
function byTime(path: string): { before: BipartiteGraph; now: BipartiteGraph } {
  const rows = gunzipSync(readFileSync(path))
    .toString()
    .trim()
    .split('\n')
    .map((line) => line.split('::'));
  rows.sort((a, b) => Number(a[3]) - Number(b[3]));
  const pairs = rows.map(([user, item]) => [user, item] as [string, string]);
  return {
    before: BipartiteGraph.fromPairs(pairs.slice(0, Math.round(BEFORE * pairs.length))),
    now: BipartiteGraph.fromPairs(pairs),
  };
}

/** The law's own growth: some users and some items were not there yet. */
async function byCoins(source: string): Promise<{ before: BipartiteGraph; now: BipartiteGraph }> {
  const { graph } = await readGraph(source);
  const share = Math.sqrt(BEFORE);
  return { before: pqSample(graph, { users: share, items: share }, randomStream(1)), now: graph };
}

const seconds = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const began = performance.now();
  return [await work(), (performance.now() - began) / 1000];
};

console.log(
  '| set | growth | method | fresh | from the former | difference | iterations | share of the time |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const [name, source] of Object.entries(SETS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  if (!source.startsWith('@') && !existsSync(source)) {
    console.log(`| ${name} | skipped: no ${source} | | | | | | |`);
    continue;
  }
  const time = name === 'movietweetings';
  const { before, now } = time ? byTime(source) : await byCoins(source);
  const row = (method: string, fresh: number, from: number, iterations: string, share: number) =>
    console.log(
      `| ${name} | ${time ? 'time' : 'coins'} | ${method} | ${fresh.toPrecision(7)} | ${from.toPrecision(7)} | ` +
        `${((100 * (from - fresh)) / Math.abs(fresh)).toFixed(3)} % | ${iterations} | ${share.toFixed(2)} |`,
    );
  {
    const former = await fit(before, { features: 30, engine: 'cpu' });
    const [fresh, freshTime] = await seconds(() => fit(now, { features: 30, engine: 'cpu' }));
    const [next, nextTime] = await seconds(() => fit(now, { engine: 'cpu', from: former.model }));
    const iterations = `${fresh.model.provenance.iterations} → ${next.model.provenance.iterations}`;
    row('ascent', fresh.model.bound!, next.model.bound!, iterations, nextTime / freshTime);
  }
  {
    // The same users and items are held back from both, so that all are judged alike.
    const parts = split(now, { testUsers: 0.1, testItems: 0.2, seed: 2 });
    const options: FitOptions = { method: 'ranking', engine: 'cpu', seed: 1 };
    const old = withinIds(before, parts.train);
    const former = await fit(old, options);
    const [fresh, freshTime] = await seconds(() => fit(parts.train, options));
    const [next, nextTime] = await seconds(() => fit(parts.train, { ...options, from: former.model }));
    const recall = async (model: typeof fresh.model) =>
      (await evaluateModel(model, parts, { draws: 0 })).ranking.all.mean.recall;
    const iterations = `${fresh.model.provenance.iterations} → ${next.model.provenance.iterations}`;
    row(
      'ranking, recall@20',
      await recall(fresh.model),
      await recall(next.model),
      iterations,
      nextTime / freshTime,
    );
  }
}

/** The edges of a graph whose users and items another has. */
function withinIds(graph: BipartiteGraph, other: BipartiteGraph): BipartiteGraph {
  const pairs: [string, string][] = [];
  for (let i = 0; i < graph.users.count; i++) {
    const user = graph.users.ids.at(i);
    if (other.users.ids.find(user) < 0) continue;
    for (let e = graph.users.offsets[i]; e < graph.users.offsets[i + 1]; e++) {
      const item = graph.items.ids.at(graph.users.neighbors[e]);
      if (other.items.ids.find(item) >= 0) pairs.push([user, item]);
    }
  }
  return BipartiteGraph.fromPairs(pairs);
}
