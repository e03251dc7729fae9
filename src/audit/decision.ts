// Does the kind of split decide which method wins? The same data are split by users and items, by pairs and, if times are known,
// by time. The same recommenders are fitted to each training part and evaluated in the same way, with paired intervals.

import { throwIfAborted } from '../errors.js';
import { fitBaseline } from '../evaluate/baselines/fit-baseline.js';
import { type PairedInterval, pairedBootstrap } from '../evaluate/bootstrap.js';
import { modelLists } from '../evaluate/make-lists.js';
import { tableTask } from '../evaluate/table-task.js';
import { fit } from '../fit/fit.js';
import type { Model } from '../fit/model.js';
import type { BipartiteGraph } from '../graph/graph.js';
import { scoreLists } from '../metrics/list-metrics.js';
import { withDefaults } from '../options/check-options.js';
import { type OptionsOf, whole } from '../options/declare.js';
import { BASELINES, type BaselineName } from '../options/names.js';
import { BASELINE_TRIALS, edgeTimes, SEED, TASK } from '../options/shared.js';
import type { TaskOptions } from '../progress.js';
import { latest, split } from '../sample/split.js';

const SPLIT_KINDS = ['pq', 'edges', 'time'] as const;
/** The kinds of split that are compared. */
export type SplitKind = (typeof SPLIT_KINDS)[number];
/** The baselines, and the ranker. */
export type ComparedMethod = BaselineName | 'ranking';
const COMPARED_METHODS: readonly ComparedMethod[] = [...BASELINES, 'ranking'];

const DECIDE = {
  /** The time of each edge, milliseconds since 1970. Without them there is no split by time. */
  times: edgeTimes('the time of each edge, milliseconds since 1970'),
  /** Settings tried for each baseline. Default 8. */
  trials: whole({ ...BASELINE_TRIALS, default: 8, meaning: 'settings tried for each baseline' }),
  ...SEED,
};

/** How much is tried. */
export interface DecisionOptions extends OptionsOf<typeof DECIDE>, TaskOptions {}

/** How one method scored on a split. */
export interface MethodScore {
  readonly name: ComparedMethod;
  /** nDCG at the length of the list. */
  readonly mean: number;
  readonly standardError: number;
  /** The winner less this one, user by user; undefined for the winner itself. */
  readonly behind: PairedInterval | undefined;
}

/** The methods on one kind of split, best first. */
export interface SplitLeaderboard {
  readonly split: SplitKind;
  readonly users: number;
  /** Best first. */
  readonly rows: readonly MethodScore[];
  readonly skipped: readonly { readonly name: ComparedMethod; readonly message: string }[];
}

/** Which method each kind of split would choose, and how far they agree. */
export interface Decision {
  readonly n: number;
  readonly leaderboards: readonly SplitLeaderboard[];
  /** Kendall's rank correlation of each pair of leaderboards. */
  readonly agreement: readonly { readonly a: SplitKind; readonly b: SplitKind; readonly tau: number }[];
  /**
   * Would another winner have been chosen? `no`: the same wins everywhere; `yes`: another wins, and the difference is more
   * than chance; `perhaps`: another wins by what may be chance.
   */
  readonly another: 'no' | 'perhaps' | 'yes';
}

const LIST = 20;
/** The fraction that each split holds out. */
export const HELD_OUT = 0.2;

/**
 * Fits and evaluates every method on every kind of split. Takes as long as fifteen fits.
 * @example
 * import { decideAcrossSplits, simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { another, leaderboards } = await decideAcrossSplits(graph, { trials: 1 });
 * console.log(another, leaderboards[0].rows[0].name);
 */
export async function decideAcrossSplits(
  graph: BipartiteGraph,
  options: DecisionOptions = {},
): Promise<Decision> {
  const { times, seed, trials, threads, signal, onProgress } = withDefaults({ ...DECIDE, ...TASK }, options);
  const cut = times && latest(times, HELD_OUT);
  // If no edge is older than the test part of a split by time, there is no such split.
  const kinds = SPLIT_KINDS.filter((kind) => kind !== 'time' || times?.some((time) => time < cut!));
  const leaderboards: SplitLeaderboard[] = [];
  for (const [k, kind] of kinds.entries()) {
    const both = kind === 'pq' && { testItems: HELD_OUT };
    const parts = split(graph, { method: kind, testUsers: HELD_OUT, ...both, seed, times });
    const task = tableTask(parts);
    const scored: { name: ComparedMethod; perUser: Float64Array; mean: number; standardError: number }[] = [];
    const skipped: SplitLeaderboard['skipped'][number][] = [];
    for (const [c, name] of COMPARED_METHODS.entries()) {
      throwIfAborted(signal);
      onProgress?.({
        stage: 'deciding',
        done: k * COMPARED_METHODS.length + c,
        total: kinds.length * COMPARED_METHODS.length,
        unit: 'fits',
      });
      try {
        const model: Model =
          name === 'ranking'
            ? (await fit(parts.train, { method: 'ranking', seed, threads, signal })).model
            : (await fitBaseline(parts.train, name, { seed, trials, threads, signal })).model;
        const { lists } = await modelLists(model, task, LIST, { threads, signal });
        const { perUser, mean, standardError } = scoreLists(lists, task, LIST, ['ndcg']);
        scored.push({ name, perUser: perUser.ndcg!, mean: mean.ndcg!, standardError: standardError.ndcg! });
      } catch (error) {
        // If the data are too large for one method, the others still run.
        if ((error as Error).name !== 'InputError') throw error;
        skipped.push({ name, message: (error as Error).message });
      }
    }
    scored.sort((a, b) => b.mean - a.mean);
    leaderboards.push({
      split: kind,
      users: task.users.length,
      rows: scored.map(({ name, perUser, mean, standardError }, place) => ({
        name,
        mean,
        standardError,
        behind: place === 0 ? undefined : pairedBootstrap(scored[0].perUser, perUser, { seed }),
      })),
      skipped,
    });
  }
  return Object.freeze({
    n: LIST,
    leaderboards,
    agreement: leaderboards.flatMap((a, at) =>
      leaderboards.slice(at + 1).map((b) => ({ a: a.split, b: b.split, tau: kendall(a, b) })),
    ),
    another: anotherWinner(leaderboards),
  });
}

/** Share of the pairs of methods that both leaderboards put in the same order, from −1 to 1. */
function kendall(a: SplitLeaderboard, b: SplitLeaderboard): number {
  const place = (leaderboard: SplitLeaderboard) =>
    new Map(leaderboard.rows.map(({ name }, at) => [name, at]));
  const [first, second] = [place(a), place(b)];
  const both = COMPARED_METHODS.filter((name) => first.has(name) && second.has(name));
  let agree = 0;
  let pairs = 0;
  for (const [at, x] of both.entries()) {
    for (const y of both.slice(at + 1)) {
      pairs++;
      agree += Math.sign((first.get(x)! - first.get(y)!) * (second.get(x)! - second.get(y)!));
    }
  }
  return pairs > 0 ? agree / pairs : 1;
}

function anotherWinner(leaderboards: readonly SplitLeaderboard[]): Decision['another'] {
  const [first, ...others] = leaderboards.map(({ rows }) => rows);
  const winner = first[0]?.name;
  const different = others.filter((rows) => rows[0]?.name !== winner);
  if (different.length === 0) return 'no';
  // The first leaderboard's winner loses elsewhere: by more than chance?
  const beyond = different.some((rows) => (rows.find(({ name }) => name === winner)?.behind?.low ?? 0) > 0);
  return beyond ? 'yes' : 'perhaps';
}
