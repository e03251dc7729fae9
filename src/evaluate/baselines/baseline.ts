// The interface of a baseline, the data it is fitted to, and its result. all-baselines.ts has the table of all baselines.

import type { RankerScores } from '../../fit/model.js';
import type { RankingData } from '../../metrics/held-back.js';
import type { Setting, SettingAxis } from '../../metrics/setting-search.js';
import type { BaselineName, EngineName } from '../../options/names.js';
import type { RowLists, Scorer } from '../../predict/scoring/scorer.js';
import type { TaskOptions } from '../../progress.js';

/** A fitted baseline: it scores users by their history alone. */
export interface FittedBaseline {
  readonly setting: Setting;
  /** Where a longer fit of the same setting can start from. */
  readonly start?: Float32Array | undefined;
  scorer(history: RowLists): Promise<Scorer>;
}

/** Why a baseline was not fitted: the data are too large for it, or its fit failed. */
export type SkipReason =
  | {
      readonly code: 'too-large';
      /** `count` of these times `candidates` exceeds `limit`. */
      readonly what: 'edges' | 'inputs';
      readonly count: number;
      readonly candidates: number;
      /** The number of users to score, if it is smaller than the number of candidates and is used instead. */
      readonly asked?: number | undefined;
      readonly limit: number;
    }
  | { readonly code: 'error'; readonly message: string };

/** Options of a fit that are not settings. */
export interface BaselineFitOptions extends TaskOptions {
  readonly seed?: number | undefined;
  /** For baselines that are fitted on an engine. Default cpu. */
  readonly engine?: EngineName | undefined;
  /** Whether this is one of many trials, which may be less exact. */
  readonly tuning?: boolean | undefined;
  /** The `start` of a trial with the same setting. */
  readonly start?: Float32Array | undefined;
}

/** A recommender to compare with. */
export interface Baseline<Name extends string = string> {
  readonly name: Name;
  readonly title: string;
  /** What it does, in a clause. */
  readonly meaning: string;
  /** Where the search for a setting starts and how it steps, in rounds; empty if there is nothing to tune. */
  axes(data: RankingData): readonly Readonly<Record<string, SettingAxis>>[];
  /** Edges to tune on, if the data have more. */
  readonly tuningEdges?: number;
  /**
   * Number of candidates to tune on, by the numbers of held-back users and edges. Default: all. With fewer, item-kNN lost 1 % on
   * held-back users of goodbooks.
   */
  tuningCandidates?(size: { readonly users: number; readonly edges: number }): number;
  /** A baseline of the same kind that can be fitted to larger data. */
  readonly standIn?: BaselineName;
  /**
   * Why it cannot be fitted to these data; undefined if it can. Default: it always can. `asked` is the number of users to score in a comparison; without
   * it the baseline is to be served.
   */
  limit?(data: RankingData, asked?: number): SkipReason | undefined;
  fit(data: RankingData, setting: Setting, options?: BaselineFitOptions): Promise<FittedBaseline>;
  /** The scores of a ranker that is saved and served: every item can be in a history and be recommended. */
  scores(data: RankingData, setting: Setting, options?: BaselineFitOptions): Promise<RankerScores>;
}

/** Makes what settings with the same `key` share. Consecutive trials of a search reuse it; a fit makes it again. */
export function sharedByTrials<T>(
  make: (data: RankingData, key: number, options: BaselineFitOptions) => T,
): typeof make {
  const kept = new WeakMap<RankingData, { readonly key: number; readonly made: T }>();
  return (data, key, options) => {
    const known = options.tuning ? kept.get(data) : undefined;
    if (known && known.key === key) return known.made;
    const made = make(data, key, options);
    if (options.tuning) kept.set(data, { key, made });
    return made;
  };
}
