// The ladder of docs/recommending.md: baselines, the evidence fit and the ranking fit on the same splits, everything
// tuned on the same held-back training users. A split is done once: results are kept, one JSON line for each, in the
// file given, and a later run does what is missing and prints the tables of all.
//
//   node scripts/run-ts.js bench/recommending.ts RESULTS.jsonl [set …] [seed …] [minutes=N]
//
// minutes: budget of the ranking fit's tuning for one split, default 10.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { baselineData, fitBaselines } from '../src/evaluate/baselines/ladder.js';
import { type PairedInterval, pairedBootstrap } from '../src/evaluate/bootstrap.js';
import { evaluateModel } from '../src/evaluate/evaluate.js';
import type { RankingResult } from '../src/evaluate/ranking.js';
import { splitRankingTask } from '../src/evaluate/ranking-task.js';
import { tuneRanking } from '../src/evaluate/tune.js';
import { fit } from '../src/fit/fit.js';
import type { FitOptions } from '../src/fit/options.js';
import { readGraph } from '../src/ingest/read.js';
import { split } from '../src/sample/split.js';

const SETS: Record<string, string> = {
  'online-retail': '../shared/data/online-retail/customer_product_qty.tsv.gz',
  'julia-general': '../shared/data/julia-general/package_depends.tsv.gz',
  movietweetings: '../shared/data/movietweetings/ratings.dat.gz',
  goodbooks: '../shared/data/goodbooks/to_read.csv.gz',
};
const METRICS = ['recall', 'ndcg', 'recallUnpopular', 'ndcgUnpopular'] as const;
type Metric = (typeof METRICS)[number];

interface Contestant {
  readonly name: string;
  readonly baseline: boolean;
  readonly mean: Readonly<Record<Metric, number>>;
  readonly setting: Readonly<Record<string, unknown>>;
  readonly seconds: number;
  /** Against the best baseline by that metric; none for baselines. */
  readonly against?: Readonly<Record<'recall' | 'ndcg', PairedInterval & { readonly best: string }>>;
}
interface Result {
  readonly set: string;
  readonly seed: number;
  readonly users: number;
  readonly machine: string;
  readonly contestants: readonly Contestant[];
}

const [file, ...rest] = process.argv.slice(2);
if (!file) throw new Error('usage: bench/recommending.ts RESULTS.jsonl [set …] [seed …] [minutes=N]');
const sets = rest.filter((word) => word in SETS);
const seeds = rest.filter((word) => /^\d+$/.test(word)).map(Number);
const minutes = Number(rest.find((word) => word.startsWith('minutes='))?.slice(8) ?? 10);
const results: Result[] = existsSync(file)
  ? readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  : [];

for (const set of sets.length > 0 ? sets : Object.keys(SETS)) {
  for (const seed of seeds.length > 0 ? seeds : [1, 2, 3]) {
    if (results.some((result) => result.set === set && result.seed === seed)) continue;
    if (!existsSync(SETS[set])) {
      console.error(`${set}: skipped, no ${SETS[set]}`);
      continue;
    }
    const result = await oneSplit(set, seed);
    appendFileSync(file, `${JSON.stringify(result)}\n`);
    results.push(result);
  }
}
for (const set of Object.keys(SETS)) printSet(results.filter((result) => result.set === set));

async function oneSplit(set: string, seed: number): Promise<Result> {
  const { graph } = await readGraph(SETS[set]);
  const parts = split(graph, { testUsers: 0.2, testItems: 0.2, seed });
  const task = splitRankingTask(parts);
  const rankings = new Map<string, RankingResult>();
  const contestants: Contestant[] = [];
  const say = (name: string) => console.error(`${set} ${seed}: ${name}`);
  const baselines = await fitBaselines(parts, task, { seed: 1 });
  for (const { title, ranking, setting, seconds } of baselines.results) {
    rankings.set(title, ranking);
    contestants.push({ name: title, baseline: true, mean: means(ranking), setting, seconds });
    say(`${title} ${JSON.stringify(means(ranking))}`);
  }
  for (const { title, reason } of baselines.skipped) say(`${title} skipped: ${reason}`);
  const best = (metric: 'recall' | 'ndcg') =>
    contestants.filter((c) => c.baseline).reduce((a, b) => (b.mean[metric] > a.mean[metric] ? b : a)).name;
  const add = async (name: string, options: FitOptions, tuning = 0) => {
    const began = performance.now();
    const { model } = await fit(parts.train, { seed: 1, ...options });
    const { ranking } = await evaluateModel(model, parts, { draws: 0 });
    const seconds = (performance.now() - began) / 1000 + tuning;
    const against = (metric: 'recall' | 'ndcg') => ({
      best: best(metric),
      ...pairedBootstrap(ranking.all.perUser[metric], rankings.get(best(metric))!.all.perUser[metric]),
    });
    const { features, provenance, users } = model;
    contestants.push({
      name,
      baseline: false,
      mean: means(ranking),
      setting: { features, shape: users.hyper.shape, sweeps: provenance.iterations },
      seconds,
      against: { recall: against('recall'), ndcg: against('ndcg') },
    });
    say(`${name} ${JSON.stringify(means(ranking))} ${seconds.toFixed(0)} s`);
  };
  await add('evidence fit, K 30', { features: 30 });
  await add('ranking fit', { objective: 'ranking' });
  await add('ranking fit, 4 added', { objective: 'ranking', average: 4 });
  const began = performance.now();
  const { shown } = baselineData(parts, task);
  const tuned = await tuneRanking(parts.train, { shown, seed: 1, budgetMinutes: minutes });
  say(`tuned ${JSON.stringify(tuned.trials)}${tuned.finished ? '' : ', the budget ended the search'}`);
  const tuning = (performance.now() - began) / 1000;
  await add('ranking fit, tuned, 4 added', { ...tuned.options, average: 4 }, tuning);
  const machine = `${cpus()[0]?.model} × ${cpus().length}, Node ${process.version}`;
  return { set, seed, users: rankings.values().next().value!.all.users, machine, contestants };
}

function means({ all, unpopular }: RankingResult): Record<Metric, number> {
  return {
    recall: all.mean.recall,
    ndcg: all.mean.ndcg,
    recallUnpopular: unpopular?.mean.recall ?? 0,
    ndcgUnpopular: unpopular?.mean.ndcg ?? 0,
  };
}

function printSet(all: readonly Result[]): void {
  if (all.length === 0) return;
  const short = (x: number) => x.toFixed(4).replace(/^0/, '');
  console.log(`\n### ${all[0].set}\n`);
  for (const { seed, users, contestants } of all) {
    console.log(`Split seed ${seed}, ${users} users.\n`);
    console.log(
      '| | recall@20 | nDCG | unpopular recall@20 | unpopular nDCG | recall − best baseline | nDCG − best baseline | setting |',
    );
    console.log('|---|---|---|---|---|---|---|---|');
    for (const { name, mean, against, setting } of contestants) {
      const interval = (metric: 'recall' | 'ndcg') => {
        const a = against?.[metric];
        if (!a) return '';
        const sign = (x: number) => `${x < 0 ? '−' : '+'}${short(Math.abs(x))}`;
        return `${sign(a.difference)} [${sign(a.low)}, ${sign(a.high)}] (${a.best})`;
      };
      const dials = Object.entries(setting)
        .map(([key, value]) => `${key} ${typeof value === 'number' ? Number(value.toPrecision(3)) : value}`)
        .join(', ');
      console.log(
        `| ${name} | ${METRICS.map((m) => short(mean[m])).join(' | ')} | ${interval('recall')} | ${interval('ndcg')} | ${dials} |`,
      );
    }
    console.log('');
  }
}
