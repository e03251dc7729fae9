// The leaderboard of docs/appendix/ranking-fit.md: baselines, the evidence fit and the ranking fit on the same splits, everything
// tuned on the same held-back training users. The results of each method, user by user, are kept as a JSON line of the
// given file: a later run adds what is missing and prints the tables of all.
//
//   node scripts/run-ts.js bench/recommending.ts RESULTS.jsonl [set …] [seed …] [baselines|fits …] [threads=N]
//
// Default: every set, seeds 1 2 3, both kinds.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { baselineOf } from '../src/evaluate/baselines/all-baselines.js';
import { fitBaselines } from '../src/evaluate/baselines/run-baselines.js';
import { pairedBootstrap } from '../src/evaluate/bootstrap.js';
import { evaluateModel } from '../src/evaluate/evaluate.js';
import { splitRankingTask } from '../src/evaluate/split-task.js';
import { fit } from '../src/fit/fit.js';
import { type FactorScores, featureCount, type Model, modelHyper } from '../src/fit/model.js';
import { readGraph } from '../src/ingest/read.js';
import type { RankingResult } from '../src/metrics/ranking-metrics.js';
import { BASELINES, type BaselineName } from '../src/options/names.js';
import { split } from '../src/sample/split.js';
import { setsNamed } from './sets.js';

const SETS = setsNamed('online-retail', 'julia-general', 'movietweetings', 'goodbooks');
const KINDS = ['baselines', 'fits'] as const;
const METRICS = ['recall', 'ndcg', 'recallUnpopular', 'ndcgUnpopular'] as const;
type Metric = (typeof METRICS)[number];
const FITS = {
  evidence: 'evidence fit, K 30',
  plain: 'ranking fit, 4 added, no blend',
  one: 'ranking fit',
  four: 'ranking fit, 4 added',
};
const titleOf = (name: BaselineName) => baselineOf(name).title;
const ORDER = [...BASELINES.map((name) => titleOf(name)), ...Object.values(FITS)];

interface Line {
  readonly set: string;
  readonly seed: number;
  readonly name: string;
  readonly mean: Readonly<Record<Metric, number>>;
  readonly setting: Readonly<Record<string, unknown>>;
  readonly seconds: number;
  readonly machine: string;
  /** Values in the order of the task's users. */
  readonly perUser: Readonly<Record<'recall' | 'ndcg', readonly number[]>>;
}

const [file, ...words] = process.argv.slice(2);
if (!file) {
  throw new Error('usage: bench/recommending.ts RESULTS.jsonl [set …] [seed …] [baselines|fits …]');
}
const option = (name: string) =>
  Number(words.find((word) => word.startsWith(`${name}=`))?.split('=')[1]) || undefined;
const chosen = <T extends string>(all: readonly T[]) => {
  const some = all.filter((name) => words.includes(name));
  return some.length > 0 ? some : all;
};
const seeds = words.filter((word) => /^\d+$/.test(word)).map(Number);
const threads = option('threads');
const lines: Line[] = existsSync(file)
  ? readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  : [];

for (const set of chosen(Object.keys(SETS))) {
  if (!existsSync(SETS[set])) {
    console.error(`${set}: skipped, no ${SETS[set]}`);
    continue;
  }
  const { graph } = await readGraph(SETS[set]);
  for (const seed of seeds.length > 0 ? seeds : [1, 2, 3]) {
    const parts = split(graph, { testUsers: 0.2, testItems: 0.2, seed });
    for (const kind of chosen(KINDS)) await run(set, seed, kind, parts);
  }
}
for (const set of Object.keys(SETS)) {
  for (const seed of new Set(lines.filter((line) => line.set === set).map((line) => line.seed))) {
    printTable(lines.filter((line) => line.set === set && line.seed === seed));
  }
}

async function run(
  set: string,
  seed: number,
  kind: (typeof KINDS)[number],
  parts: ReturnType<typeof split>,
): Promise<void> {
  const done = (name: string) =>
    lines.some((line) => line.set === set && line.seed === seed && line.name === name);
  const add = (name: string, ranking: RankingResult, setting: Line['setting'], seconds: number) => {
    const { all, unpopular } = ranking;
    const round = (values: Float64Array) => Array.from(values, (x) => Number(x.toPrecision(6)));
    const mean = {
      recall: all.mean.recallCapped,
      ndcg: all.mean.ndcg,
      recallUnpopular: unpopular?.mean.recallCapped ?? 0,
      ndcgUnpopular: unpopular?.mean.ndcg ?? 0,
    };
    const perUser = { recall: round(all.perUser.recallCapped), ndcg: round(all.perUser.ndcg) };
    const machine = `${cpus()[0]?.model} × ${cpus().length}, Node ${process.version}`;
    const line = { set, seed, name, mean, setting, seconds, machine, perUser };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    lines.push(line);
    console.error(set, seed, name, JSON.stringify({ mean, setting, seconds: Math.round(seconds) }));
  };
  const addModel = async (name: string, model: Model, seconds: number) => {
    const { ranking } = await evaluateModel(model, parts, { draws: 0, threads });
    const shape = modelHyper(model)!.users.shape;
    add(
      name,
      ranking,
      { features: featureCount(model)!, shape, sweeps: model.provenance.iterations },
      seconds,
    );
  };

  if (kind === 'baselines') {
    const task = splitRankingTask(parts);
    for (const baseline of BASELINES) {
      if (done(titleOf(baseline))) continue;
      const report = await fitBaselines(parts, task, { seed: 1, baselines: [baseline], threads });
      for (const { name, ranking, setting, seconds } of report.results) {
        add(titleOf(name), ranking, setting, seconds);
      }
      for (const { name, reason } of report.skipped) console.error(set, seed, name, 'skipped:', reason.code);
    }
  }
  if (kind === 'fits') {
    if (!done(FITS.evidence)) {
      const { model, seconds } = await fit(parts.train, { features: 30, seed: 1, threads });
      await addModel(FITS.evidence, model, seconds);
    }
    const ranking = { method: 'ranking', seed: 1, threads } as const;
    if (!done(FITS.one)) {
      const { model, seconds } = await fit(parts.train, ranking);
      await addModel(FITS.one, model, seconds);
    }
    if (!done(FITS.four)) {
      const { model, seconds } = await fit(parts.train, { ...ranking, average: 4 });
      const { members } = model.scores as FactorScores;
      const plain = { kind: 'factors', members: members.filter(({ share }) => share === undefined) } as const;
      await addModel(FITS.plain, { ...model, scores: plain }, seconds);
      await addModel(FITS.four, model, seconds);
    }
  }
}

function printTable(table: readonly Line[]): void {
  const rows = ORDER.flatMap((name) => table.filter((line) => line.name === name));
  const baselines = rows.filter(({ name }) => BASELINES.some((b) => titleOf(b) === name));
  const short = (x: number) => x.toFixed(4).replace(/^0/, '');
  const signed = (x: number) => `${x < 0 ? '−' : '+'}${short(Math.abs(x))}`;
  const { set, seed, perUser } = rows[0];
  console.log(`\n### ${set}, split ${seed} (${perUser.recall.length} users)\n`);
  console.log(
    '| | capped recall@20 | nDCG | unpopular recall | unpopular nDCG | recall − best | nDCG − best | setting |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const row of rows) {
    const against = (metric: 'recall' | 'ndcg') => {
      if (baselines.length === 0 || baselines.includes(row)) return '';
      const best = baselines.reduce((a, b) => (b.mean[metric] > a.mean[metric] ? b : a));
      const { difference, low, high } = pairedBootstrap(
        Float64Array.from(row.perUser[metric]),
        Float64Array.from(best.perUser[metric]),
      );
      return `${signed(difference)} [${signed(low)}, ${signed(high)}] (${best.name})`;
    };
    const dials = Object.entries(row.setting).map(
      ([key, value]) => `${key} ${typeof value === 'number' ? Number(value.toPrecision(3)) : value}`,
    );
    const means = METRICS.map((metric) => short(row.mean[metric])).join(' | ');
    console.log(
      `| ${row.name} | ${means} | ${against('recall')} | ${against('ndcg')} | ${dials.join(', ')} |`,
    );
  }
}
