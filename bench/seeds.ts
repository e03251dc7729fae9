// Does the result of a fit depend on the seed? Fits of several seeds, by one or two builds in turn: bound, iterations, CPU seconds,
// capped recall@20 and nDCG on held-out users, and a refit of the result. Training parts of splits (0.2, 0.2), K = 30, one thread.
//
//   node scripts/run-ts.js bench/seeds.ts [set …] [--seeds 3] [--first 1] [--against DIST] [--refit]
//
// DIST is the dist folder of another version: both run in this process, one after the other for every seed.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SETS } from './sets.js';

type Library = Pick<
  typeof import('../src/index.js'),
  'evaluateModel' | 'fit' | 'readGraph' | 'simulate' | 'split'
>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '3' },
    first: { type: 'string', default: '1' },
    against: { type: 'string' },
    refit: { type: 'boolean', default: false },
    threads: { type: 'string', default: '1' },
  },
});
const threads = Number(values.threads);
/** CPU seconds up to now: other work on the machine does not count. */
const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const load = async (dist: string): Promise<Library> => import(`${resolve(dist)}/index.js`);
const versions: Record<string, Library> = {
  ...(values.against && { against: await load(values.against) }),
  now: await load('dist'),
};

async function graphOf(set: string, { readGraph, simulate }: Library) {
  // simulated:SIZE is a fresh set: 400 has 1.1 million edges, 1250 has 10.8 million.
  const [kind, size] = set.split(':');
  if (kind === 'simulated' && size) {
    const side = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: Number(size) };
    return (await simulate({ users: side, items: side, features: 30, seed: 5 })).graph;
  }
  const source = SETS[set] ?? set;
  if (!source.startsWith('@') && !existsSync(source)) return undefined;
  return (await readGraph(source)).graph;
}

for (const set of positionals) {
  const lines: Record<string, number[]> = {};
  const first = Number(values.first);
  for (let seed = first; seed < first + Number(values.seeds); seed++) {
    for (const [version, library] of Object.entries(versions)) {
      const graph = await graphOf(set, library);
      if (!graph) {
        console.log(`${set}: skipped, it is not there`);
        continue;
      }
      const parts = library.split(graph, { testUsers: 0.2, testItems: 0.2, seed: 1 });
      const began = cpuSeconds();
      const { model } = await library.fit(parts.train, { features: 30, seed, threads, engine: 'cpu' });
      const seconds = cpuSeconds() - began;
      const { ranking } = await library.evaluateModel(model, parts, { draws: 0, threads });
      const { recallCapped: recall, ndcg } = ranking.all.mean;
      const row = [model.bound!, model.provenance.iterations, seconds, recall, ndcg];
      if (values.refit) {
        const again = cpuSeconds();
        const { model: next } = await library.fit(parts.train, { from: model, threads, engine: 'cpu' });
        row.push(next.bound!, next.provenance.iterations, cpuSeconds() - again);
      }
      console.log(
        set,
        seed,
        version,
        row.map((x) => (Math.abs(x) < 100 ? x.toFixed(4) : Math.round(x))).join(' '),
      );
      for (const [at, x] of row.entries()) (lines[`${version} ${at}`] ??= []).push(x);
    }
  }
  const of = (version: string, at: number) => lines[`${version} ${at}`] ?? [];
  const mean = (xs: number[]) => xs.reduce((sum, x) => sum + x, 0) / xs.length;
  const spread = (xs: number[]) => (100 * (Math.max(...xs) - Math.min(...xs))) / Math.abs(mean(xs));
  if (!values.against || of('now', 0).length === 0) continue;
  const ratio = (at: number) => mean(of('now', at)) / mean(of('against', at));
  console.log(
    `| ${set} | ${(100 * (1 - ratio(0))).toFixed(2)} % | ${spread(of('against', 0)).toFixed(2)} → ${spread(of('now', 0)).toFixed(2)} % | ` +
      `${ratio(3).toFixed(3)} | ${ratio(4).toFixed(3)} | ${ratio(2).toFixed(2)} |`,
  );
}
process.exit(0);
