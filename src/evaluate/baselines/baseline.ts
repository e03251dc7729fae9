// What a baseline is, the data it is fitted to, and what it gives back.

import type { EngineName } from '../../engine/select.js';
import type { RankerScores } from '../../fit/model.js';
import type { RankingData as BaselineData } from '../../metrics/held-back.js';
import type { Setting, SettingAxis } from '../../metrics/setting-search.js';
import type { BaselineName } from '../../options/names.js';
import type { RowLists, Scorer } from '../../predict/scoring/scorer.js';
import type { TaskOptions } from '../../progress.js';

export type { RankingData as BaselineData } from '../../metrics/held-back.js';
export type { Setting } from '../../metrics/setting-search.js';

/** A fitted baseline: scores for users of whom nothing but a history is known. */
export interface FittedBaseline {
  readonly setting: Setting;
  /** What a longer fit of the same setting can begin with. */
  readonly start?: Float32Array | undefined;
  scorer(history: RowLists): Promise<Scorer>;
}

/** Why a baseline was not fitted: too much work for it, or what its fit had to say. */
export type SkipReason =
  | {
      readonly code: 'too-large';
      /** What there is too much of: so many of these times so many candidates, where the limit is so many. */
      readonly what: 'edges' | 'inputs' | 'users';
      readonly count: number;
      readonly candidates: number;
      /** Users to be scored, where these are fewer than the candidates and count in their place. */
      readonly asked?: number | undefined;
      readonly limit: number;
    }
  | { readonly code: 'error'; readonly message: string };

/** How a baseline is fitted beside its setting. */
export interface BaselineFitOptions extends TaskOptions {
  readonly seed?: number | undefined;
  /** For what is fitted on an engine of ours. Default cpu. */
  readonly engine?: EngineName | undefined;
  /** A trial among many, which need not be as exact. */
  readonly tuning?: boolean | undefined;
  /** What a trial of the same setting left. */
  readonly start?: Float32Array | undefined;
}

/** A recommender to compare with, all of it: the list of them (list.ts) is what everything else goes by. */
export interface Baseline<Name extends string = string> {
  readonly name: Name;
  readonly title: string;
  /** What it does, in a clause. */
  readonly meaning: string;
  /** Where the search for a setting starts and how it steps: one round of dials after the other; none: nothing to tune. */
  dials(data: BaselineData): readonly Readonly<Record<string, SettingAxis>>[];
  /** Tuned on about as many edges, where that is fewer than there are. */
  readonly tuningEdges?: number;
  /**
   * So many candidates are enough to tune on, where held-back users and edges are so many; by default all. Item-kNN lost 1 % on held-back
   * users of goodbooks by fewer.
   */
  tuningCandidates?(size: { readonly users: number; readonly edges: number }): number;
  /** A baseline of the same kind that can be fitted where this one cannot. */
  readonly standIn?: BaselineName;
  /**
   * Why it cannot be fitted to so much data, to score so many users in a comparison or, without that number, to be served; undefined: it
   * can.
   */
  limit(data: BaselineData, asked?: number): SkipReason | undefined;
  fit(data: BaselineData, setting: Setting, options?: BaselineFitOptions): Promise<FittedBaseline>;
  /** What a ranker of it holds: fitted to all items, each of which can be both shown and asked for. */
  scores(data: BaselineData, setting: Setting, options?: BaselineFitOptions): Promise<RankerScores>;
}
