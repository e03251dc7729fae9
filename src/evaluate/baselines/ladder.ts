// The baselines of a split: each tuned on held-back training users, fitted to all of them, and judged like every model.

import { InputError } from '../../errors.js';
import type { TaskOptions } from '../../progress.js';
import type { Split } from '../../sample/split-types.js';
import { evaluateRanking, type RankingOptions, type RankingResult } from '../ranking.js';
import { indexByIds, type SplitRankingTask } from '../ranking-task.js';
import type { BaselineData, FittedBaseline, Setting } from './baseline.js';
import { transposeLists } from './baseline.js';
import { easeSize, fitEase } from './ease.js';
import { fitIals } from './ials.js';
import { fitNeighbours } from './neighbours.js';
import { fitPopularity } from './popularity.js';
import { type Dial, geometric, ladder, type Trial, type Tuned, tune } from './tune.js';
import { holdBack, someUsers, type Validation } from './validation.js';

export const BASELINES = ['popularity', 'neighbours', 'ease', 'ials'] as const;
export type BaselineName = (typeof BASELINES)[number];

export const BASELINE_TITLES: Readonly<Record<BaselineName, string>> = {
  popularity: 'popularity',
  neighbours: 'item-kNN',
  ease: 'EASE',
  ials: 'iALS',
};

export interface BaselineOptions extends RankingOptions {
  /** Which to fit. Default: all. */
  readonly baselines?: readonly BaselineName[] | undefined;
  readonly seed?: number | undefined;
  /** Most settings tried for one baseline. Default 30. */
  readonly maxTrials?: number | undefined;
}

export interface BaselineResult {
  readonly name: BaselineName;
  readonly setting: Setting;
  /** What was tried on held-back training users; empty where there is nothing to tune. */
  readonly trials: readonly Trial[];
  /** False where the number of trials ended the search. */
  readonly tuned: boolean;
  readonly ranking: RankingResult;
  readonly seconds: number;
}

/** Why a baseline was not fitted: too much work for it, or what its fit had to say. */
export type SkipReason =
  | { readonly code: 'too-large'; readonly edges: number; readonly candidates: number }
  | { readonly code: 'error'; readonly message: string };

export interface BaselineReport {
  readonly results: readonly BaselineResult[];
  /** Baselines that were not fitted, and why. */
  readonly skipped: readonly { readonly name: BaselineName; readonly reason: SkipReason }[];
}

/** EASE beyond this takes minutes: entries of the inputs times candidates, and floats of its weights. */
const EASE_LIMITS = { work: 5e9, weights: 2.5e8 };

/** Sweeps of iALS: rankings move little after eight. */
const ITERATIONS = 16;
const TUNING_ITERATIONS = 8;
/**
 * Tuned on about as many edges, where that is fewer than there are: iALS's penalties grow with the degrees, so its setting
 * carries over; neighbours cost the squares of the degrees.
 */
const TUNING_EDGES: Partial<Record<BaselineName, number>> = { ials: 1e6, neighbours: 2e6 };

/** Fits and judges the baselines on a split. `task` is splitRankingTask(split). */
export async function fitBaselines(
  split: Split,
  task: SplitRankingTask,
  options: BaselineOptions = {},
): Promise<BaselineReport> {
  if (split.method !== 'pq') {
    throw new InputError(
      `baselines need a split by pq, this one is by ${split.method}: they are tuned on users held back as a whole`,
    );
  }
  const seed = options.seed ?? 1;
  const data = baselineData(split, task);
  const validation = holdBack(data, { seed });
  const results: BaselineResult[] = [];
  const skipped: BaselineReport['skipped'][number][] = [];
  for (const name of options.baselines ?? BASELINES) {
    const title = BASELINE_TITLES[name];
    const start = performance.now();
    if (name === 'ease') {
      const { work, weights } = easeSize(data);
      if (work > EASE_LIMITS.work || weights > EASE_LIMITS.weights) {
        const [edges, candidates] = [data.users.values.length, data.candidates.length];
        skipped.push({ name, reason: { code: 'too-large', edges, candidates } });
        continue;
      }
    }
    const stage = (what: string) => ({ ...options, onProgress: prefixed(options, `${title}: ${what}`) });
    const tuned = await tuneBaseline(name, validation, { ...options, seed });
    const fitted = await fitOne(name, data, tuned?.best.setting ?? {}, seed, ITERATIONS, stage('fitting'));
    const ranking = await evaluateRanking(task, await fitted.scorer(task.history), stage('ranking'));
    results.push({
      name,
      setting: fitted.setting,
      trials: tuned?.trials ?? [],
      tuned: tuned?.finished ?? true,
      ranking,
      seconds: (performance.now() - start) / 1000,
    });
  }
  return Object.freeze({ results, skipped });
}

/** The training part as the baselines see it; items in the order of the task. */
export function baselineData(split: Split, task: SplitRankingTask): BaselineData {
  const ids = split.train.items.ids;
  const coins = split.coins.items;
  const shown = Uint8Array.from({ length: ids.length }, (_, j) => {
    const coin = coins.ids.find(ids.at(j));
    return coin >= 0 && coins.drawn[coin] === 1 ? 0 : 1;
  });
  const { offsets, values } = indexByIds(split.train, ids);
  const users = { offsets, values };
  return { users, items: transposeLists(users, ids.length), shown, candidates: task.candidates };
}

/** Finds a setting on held-back users: the mean of recall and nDCG decides. Undefined: nothing to tune. */
async function tuneBaseline(
  name: BaselineName,
  { data, history, task }: Validation,
  options: BaselineOptions & { readonly seed: number },
): Promise<Tuned | undefined> {
  const { threads, signal, n, depth, seed, maxTrials = 30 } = options;
  const part = someUsers(data, TUNING_EDGES[name] ?? Infinity);
  const report = prefixed(options, `${BASELINE_TITLES[name]}: tuning`);
  const score = async (setting: Setting) => {
    const fitted = await fitOne(name, part, setting, seed, TUNING_ITERATIONS, { threads, signal });
    const { all } = await evaluateRanking(task, await fitted.scorer(history), { threads, signal, n, depth });
    return (all.mean.recall + all.mean.ndcg) / 2;
  };
  let found: Tuned | undefined;
  for (const dials of DIALS[name](data)) {
    found = await tune(dials, score, {
      maxTrials,
      from: found,
      onTrial: (done) => report?.({ stage: '', done, unit: 'settings' }),
    });
  }
  return found;
}

async function fitOne(
  name: BaselineName,
  data: BaselineData,
  setting: Setting,
  seed: number,
  iterations: number,
  options: TaskOptions,
): Promise<FittedBaseline> {
  switch (name) {
    case 'popularity':
      return fitPopularity(data);
    case 'neighbours':
      return fitNeighbours(data, setting as Parameters<typeof fitNeighbours>[1]);
    case 'ease':
      return fitEase(data, setting as Parameters<typeof fitEase>[1], options);
    case 'ials':
      return fitIals(data, { ...setting, iterations } as Parameters<typeof fitIals>[1], { ...options, seed });
  }
}

/** Where each search starts and how it steps: one round of dials after the other. */
const DIALS: Readonly<
  Record<BaselineName, (data: BaselineData) => readonly Readonly<Record<string, Dial>>[]>
> = {
  popularity: () => [],
  neighbours: ({ shown, candidates }) => [
    {
      // All neighbours of all candidates may be more than memory holds.
      neighbours: geometric(100, 2, 1, Math.min(shown.length, 2e7 / candidates.length)),
      shrinkage: ladder(10, [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]),
      asymmetry: ladder(0.5, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
    },
  ],
  ease: () => [{ lambda: geometric(100, 2, 1e-3) }],
  ials: ({ users, items }) => [
    { lambda: geometric(0.012, 2, 1e-9), alpha: geometric(0.025, 2, 1e-9), features: ladder(64, [64]) },
    // λ and α hardly depend on the number of features. Each doubling costs four times as much, so size sets the end.
    { features: geometric(64, 2, 16, featureLimit(users.offsets.length + items.offsets.length)) },
  ],
};

/** 512 features gain up to 2 % over 256 on sets whose fit they do not take beyond minutes (docs/recommending.md). */
function featureLimit(vertices: number): number {
  return vertices <= 45_000 ? 512 : Math.min(256, Math.max(64, Math.sqrt(4e9 / vertices)));
}

function prefixed({ onProgress }: TaskOptions, stage: string): TaskOptions['onProgress'] {
  return onProgress && ((progress) => onProgress({ ...progress, stage }));
}
