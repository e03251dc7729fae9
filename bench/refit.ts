// A fit from a previous model compared with a fresh one, after 5 % new edges: the bound it reaches (for ranking fits: recall on
// held-out users), when it comes within 0.05 % of the fresh fit's bound, and the ratio of the times, all in one run. Seeds differ
// by more than this, so the bench prints means over several seeds. It first checks that threads change no bit of a fit from a
// previous model.
//
//   node scripts/run-ts.js bench/refit.ts [--seeds 4] [--cut 1] [--method ascent] [set …]
//     (cut: which users and items, or which time, are new; schedules are chosen on 2 and 3, the appendix has 1; simulated-small, movietweetings, online-retail, julia-general, goodbooks, acl-abstracts, simulated; ascent or ranking)

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { evaluateModel } from '../src/evaluate/evaluate.js';
import { fit } from '../src/fit/fit.js';
import type { Model } from '../src/fit/model.js';
import { BipartiteGraph } from '../src/graph/public.js';
import { readGraph } from '../src/ingest/read.js';
import { mean } from '../src/math/moments.js';
import { randomStream } from '../src/math/random.js';
import { pqSample } from '../src/sample/pq.js';
import { split } from '../src/sample/split.js';
import { flag } from './flag.js';
import { SETS as SHARED_SETS } from './sets.js';

/** The fraction of the edges that the previous model saw. */
const BEFORE = 0.95;
/** A bound this near to that of the fresh fit counts as reached. */
const NEAR = 5e-4;
const SETS: Readonly<Record<string, string>> = { ...SHARED_SETS, simulated: '@simulated' };
const seeds = Array.from({ length: Number(flag('--seeds', '4')) }, (_, i) => i + 1);
const cut = Number(flag('--cut', '1'));
const methods = flag('--method', 'ascent,ranking').split(',');
const wanted = process.argv.slice(2).filter((name) => name in SETS);

/** All edges, and the first of them by the time in the fourth column. Each further cut ends a tenth of the edges earlier. */
function byTime(path: string): { before: BipartiteGraph; now: BipartiteGraph } {
  const rows = gunzipSync(readFileSync(path))
    .toString()
    .trim()
    .split('\n')
    .map((line) => line.split('::'));
  rows.sort((a, b) => Number(a[3]) - Number(b[3]));
  const pairs = rows
    .slice(0, Math.round((1 - 0.1 * (cut - 1)) * rows.length))
    .map(([user, item]) => [user, item] as [string, string]);
  return {
    before: BipartiteGraph.fromPairs(pairs.slice(0, Math.round(BEFORE * pairs.length))),
    now: BipartiteGraph.fromPairs(pairs),
  };
}

/** Growth as in the model: earlier data lack some users and some items. */
async function byThinning(source: string): Promise<{ before: BipartiteGraph; now: BipartiteGraph }> {
  const { graph } = await readGraph(source);
  const share = Math.sqrt(BEFORE);
  return { before: pqSample(graph, { users: share, items: share }, randomStream(cut)), now: graph };
}

const seconds = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const began = performance.now();
  return [await work(), (performance.now() - began) / 1000];
};

const percent = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(3)} %`;

/** Checks that a fit from a previous model has the same bits on any number of threads. */
async function prove(before: BipartiteGraph, now: BipartiteGraph): Promise<void> {
  const { model } = await fit(before, { features: 30, engine: 'cpu', iterations: 80 });
  const bounds: (number | undefined)[] = [];
  for (const threads of [1, 2]) {
    bounds.push((await fit(now, { engine: 'cpu', threads, from: model })).model.bound);
  }
  if (bounds[0] === undefined || bounds[0] !== bounds[1]) {
    throw new Error(`the bound is ${bounds[0]} on one thread and ${bounds[1]} on two`);
  }
}

console.log(
  '| set | growth | method | fresh | from the previous model: difference | of each seed | iterations | within 0.05 % after | seconds | share of the time |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|');
for (const [name, source] of Object.entries(SETS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  if (!source.startsWith('@') && !existsSync(source)) {
    console.log(`| ${name} | skipped: no ${source} | | | | | | | | |`);
    continue;
  }
  const time = name === 'movietweetings';
  const { before, now } = time ? byTime(source) : await byThinning(source);
  await prove(before, now);
  const row = (method: string, pairs: readonly Pair[], reached: string) => {
    const fresh = mean(pairs.map((pair) => pair.fresh));
    const share = ({ fresh, from }: Pick<Pair, 'fresh' | 'from'>) => (from - fresh) / Math.abs(fresh);
    const iterations = (side: 0 | 1) => mean(pairs.map((pair) => pair.iterations[side])).toFixed(0);
    console.log(
      `| ${name} | ${time ? 'time' : 'random'} | ${method} | ${fresh.toPrecision(7)} | ` +
        `${percent(share({ fresh, from: mean(pairs.map(({ from }) => from)) }))} | ` +
        `${pairs.map((pair) => percent(share(pair))).join(', ')} | ${iterations(0)} → ${iterations(1)} | ${reached} | ` +
        `${[0, 1].map((at) => mean(pairs.map(({ seconds }) => seconds[at])).toFixed(2)).join(' → ')} | ` +
        `${mean(pairs.map(({ seconds: [of, is] }) => is / of)).toFixed(2)} |`,
    );
  };
  if (methods.includes('ascent')) {
    const pairs: Pair[] = [];
    const reached: (number | undefined)[] = [];
    for (const seed of seeds) {
      const options = { engine: 'cpu', seed } as const;
      const previous = await fit(before, { ...options, features: 30 });
      const [fresh, freshTime] = await seconds(() => fit(now, { ...options, features: 30 }));
      const [next, nextTime] = await seconds(() => fit(now, { ...options, from: previous.model }));
      const [bound, iterations] = [fresh.model.bound!, fresh.model.provenance.iterations];
      const near = next.model.provenance.bounds?.find(([, value]) => value >= bound - NEAR * Math.abs(bound));
      reached.push(near?.[0]);
      pairs.push({
        fresh: bound,
        from: next.model.bound!,
        iterations: [iterations, next.model.provenance.iterations],
        seconds: [freshTime, nextTime],
      });
    }
    row('ascent', pairs, reached.map((iteration) => iteration ?? 'never').join(', '));
  }
  if (methods.includes('ranking')) {
    // The same users and items are held back from both, so that both are evaluated on the same ones.
    const parts = split(now, { testUsers: 0.1, testItems: 0.2, seed: 2 });
    const old = withinIds(before, parts.train);
    const recall = async (model: Model) =>
      (await evaluateModel(model, parts, { draws: 0 })).ranking.all.mean.recallCapped;
    const pairs: Pair[] = [];
    for (const seed of seeds) {
      const options = { method: 'ranking', engine: 'cpu', seed } as const;
      const previous = await fit(old, options);
      const [fresh, freshTime] = await seconds(() => fit(parts.train, options));
      const [next, nextTime] = await seconds(() => fit(parts.train, { ...options, from: previous.model }));
      pairs.push({
        fresh: await recall(fresh.model),
        from: await recall(next.model),
        iterations: [fresh.model.provenance.iterations, next.model.provenance.iterations],
        seconds: [freshTime, nextTime],
      });
    }
    row('ranking, capped recall@20', pairs, '');
  }
}

/** A fresh fit and one from a previous model, from the same seed. */
interface Pair {
  readonly fresh: number;
  readonly from: number;
  readonly iterations: readonly [number, number];
  readonly seconds: readonly [number, number];
}

/** The edges of a graph whose users and items occur in another graph. */
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
