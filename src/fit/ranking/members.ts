// The fits for ranking whose scores are added, some of them at once: each on an engine of its own beside the others, on the same
// threads or GPU. What one does in the caller's thread, and the ends of its passes, the others' passes fill. A fit depends on its
// seed alone, so its bits are the same whatever goes on beside it.

import type { Engine, TableValues } from '../../engine/engine.js';
import { meanBytes, tableBytes, valueBytes } from '../../engine/memory.js';
import type { BipartiteGraph } from '../../graph/graph.js';
import { freeMemory } from '../../parallel/spawn.js';
import type { TaskOptions } from '../../progress.js';
import type { LoopState, RankingState } from '../ascent/loop.js';
import type { RankerMember } from '../model.js';
import { fitMember, type MemberState, sweepProgress } from './member.js';
import type { RankingSettings } from './settings.js';

/** On many threads four at once take less time than two or three, on a GPU more: docs/appendix/performance.md has the measurements. */
const MOST_AT_ONCE = { threads: 4, gpu: 2 };
/** Threads of which one fit more is worth the memory. */
const THREADS_EACH = 4;
/** The share of free memory that fits beside the first may take; of a GPU, and in a page, nobody knows how much is free. */
const SHARE = 0.5;
const UNKNOWN_ROOM = 2 ** 30;

/** How many fits at once are of use here, and have room. */
export function concurrentMembers(
  engine: Engine,
  graph: BipartiteGraph,
  settings: RankingSettings,
  free: number | undefined = freeMemory(),
): number {
  if (!engine.sibling) return 1;
  const room = engine.name === 'gpu' || free === undefined ? UNKNOWN_ROOM : SHARE * free;
  const more = Math.floor(room / memberBytes(graph, settings, engine.name === 'gpu'));
  return Math.max(1, Math.min(settings.average, useful(engine), 1 + more));
}

function useful({ name, threads }: Engine): number {
  if (name === 'gpu') return MOST_AT_ONCE.gpu;
  // The caller's thread would be a second one.
  if (threads === 1) return 1;
  return Math.min(MOST_AT_ONCE.threads, Math.max(2, Math.ceil(threads / THREADS_EACH)));
}

/**
 * Bytes that a fit takes beside the graph: the users' edges without each fold and the items', the tables, and what the items begin
 * with in double precision or, in the end, what is read and kept.
 */
function memberBytes(
  { users, items, edges, multigraph }: BipartiteGraph,
  { features: K, folds }: Pick<RankingSettings, 'features' | 'folds'>,
  onGpu: boolean,
): number {
  const indexes = 4 * folds * (edges * (multigraph ? 2 : 1) + users.count) + 4 * items.count;
  const tables =
    tableBytes(items.count, K) + (onGpu ? tableBytes(users.count, K) : meanBytes(users.count, K));
  const outside = Math.max(2 * valueBytes(items.count, K), meanBytes(users.count + items.count, K));
  return indexes + tables + outside;
}

/** What there is of all fits: those done and those under way, in the order of their seeds; and where the latter stand. */
export interface MembersStanding {
  readonly members: readonly RankerMember[];
  readonly done: readonly RankerMember[];
  readonly underWay: readonly RankingState[];
}

export interface MembersTask extends Pick<TaskOptions, 'signal' | 'onProgress'> {
  readonly graph: BipartiteGraph;
  readonly settings: RankingSettings;
  /** Those that are done, by their numbers. More are put here as they end: they outlive an engine that fails. */
  readonly done: Map<number, RankerMember>;
  /** Where those stand that are under way, by their numbers. */
  readonly saved: ReadonlyMap<number, RankingState>;
  /** What the items of the others begin with, where that is a former model. */
  previousItems(run: number): TableValues | undefined;
  /** Whether it is time to hand over what there is of all, and to whom; waited for. */
  isDue(): boolean;
  onStanding(standing: MembersStanding): Promise<void>;
}

/** Fits what is not done, so many at once. What is under way in the end was stopped by the signal. */
export async function fitMembers(
  engine: Engine,
  atOnce: number,
  task: MembersTask,
): Promise<MembersStanding> {
  const { graph, settings, done, signal } = task;
  const runs = Array.from({ length: settings.average }, (_, run) => run).filter((run) => !done.has(run));
  const stopped = new Map<number, MemberState>();
  const report = progressOf(task, atOnce > 1 && runs.length > 1);
  const snapshots = createSnapshots(task);
  let failed = false;
  const isStopped = () => failed || (signal?.aborted ?? false);
  const one = async (own: Engine, run: number): Promise<void> => {
    snapshots.begin(run);
    const saved = task.saved.get(run);
    const beginning = saved ? { saved } : { items: task.previousItems(run) };
    const fitted = await fitMember(own, graph, settings, run, beginning, {
      isStopped,
      isAbandoned: () => failed,
      onSweep: (state, change) => report(run, state, change),
      afterSweep: (snapshot) => snapshots.comeBy(run, snapshot),
    });
    if (fitted?.stopped === 'aborted') stopped.set(run, fitted);
    else if (fitted) {
      done.set(run, fitted.member);
      await snapshots.end(run);
    }
  };
  const queue = runs.values();
  const lane = async (open: () => Promise<Engine | undefined>): Promise<void> => {
    try {
      const own = await open();
      if (!own) return;
      for (const run of queue) {
        if (isStopped()) return;
        await one(own, run);
      }
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  const beside: Engine[] = [];
  const openBeside = async () => {
    if (!engine.sibling) return engine;
    try {
      const another = await engine.sibling();
      beside.push(another);
      return another;
    } catch {
      // No room for another, as where addresses are few: the first goes on alone.
      return undefined;
    }
  };
  try {
    const lanes = Math.max(1, Math.min(atOnce, runs.length));
    // All are waited for, so that nothing goes on unseen.
    const ended = await Promise.allSettled(
      Array.from({ length: lanes }, (_, at) => lane(at === 0 ? async () => engine : openBeside)),
    );
    for (const { reason } of ended.filter((one) => one.status === 'rejected')) throw reason;
  } finally {
    for (const another of beside) await another.close();
  }
  // Nothing begins once it is stopped, but what was saved stays under way, and one is at least: it is to go on from there.
  for (const run of runs) {
    if (done.has(run) || stopped.has(run)) continue;
    if (task.saved.has(run) || stopped.size === 0) await one(engine, run);
  }
  return standingOf(done, stopped);
}

function standingOf(
  done: ReadonlyMap<number, RankerMember>,
  underWay: ReadonlyMap<number, MemberState>,
): MembersStanding {
  const inOrder = <T>(map: ReadonlyMap<number, T>) => [...map].sort(([a], [b]) => a - b);
  const going = inOrder(underWay).filter(([run]) => !done.has(run));
  const all = new Map([...going.map(([run, { member }]) => [run, member] as const), ...done]);
  return {
    members: inOrder(all).map(([, member]) => member),
    done: inOrder(done).map(([, member]) => member),
    underWay: going.map(([, { state, items, foldMass }]) => ({ state, items, foldMass })),
  };
}

/** Copies of all that is under way, now and then: each makes its own when it is between two sweeps, and goes on. */
function createSnapshots({ done, saved, isDue, onStanding }: MembersTask) {
  const underWay = new Set<number>();
  let taken = new Map<number, MemberState>();
  /** Whose copies are waited for; undefined: nobody's. */
  let wanted: Set<number> | undefined;
  let handing = false;

  async function handOver(): Promise<void> {
    if (wanted?.size !== 0 || taken.size === 0) return;
    const standing = standingOf(done, taken);
    wanted = undefined;
    taken = new Map();
    if (standing.underWay.length === 0) return;
    handing = true;
    try {
      await onStanding(standing);
    } finally {
      handing = false;
    }
  }

  return {
    begin(run: number): void {
      underWay.add(run);
    },
    async comeBy(run: number, snapshot: () => Promise<MemberState>): Promise<void> {
      // What was saved and has not gone on yet would be missing.
      const complete = [...saved.keys()].every((one) => underWay.has(one) || done.has(one));
      if (!wanted && !handing && complete && isDue()) wanted = new Set(underWay);
      if (!wanted?.has(run)) return;
      const state = await snapshot();
      taken.set(run, state);
      wanted?.delete(run);
      await handOver();
    },
    async end(run: number): Promise<void> {
      underWay.delete(run);
      wanted?.delete(run);
      await handOver();
    },
  };
}

/** One report for all: of the fit that is under way, or of so many at once. */
function progressOf({ settings, done, onProgress }: MembersTask, several: boolean) {
  const { average, iterations } = settings;
  const sweeps = new Map<number, { readonly iteration: number; readonly change: number }>();
  return (run: number, state: LoopState, change: number): void => {
    if (!onProgress) return;
    if (!several) {
      onProgress(sweepProgress(settings, run, state, change));
      return;
    }
    sweeps.set(run, { iteration: state.iteration, change });
    for (const ended of done.keys()) sweeps.delete(ended);
    const going = [...sweeps.values()];
    const swept = going.reduce((sum, { iteration }) => sum + iteration, iterations * done.size);
    const largest = Math.max(...going.map((one) => one.change));
    onProgress({
      stage: `fitting ${average} for ranking`,
      done: swept,
      total: average * iterations,
      unit: 'sweeps',
      note: `${done.size} of ${average} done, change ${largest.toExponential(1)}`,
    });
  };
}
