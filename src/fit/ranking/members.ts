// The members of a ranker, fitted concurrently. Each has a sibling engine on the same threads or GPU, so one member's passes
// fill the time in which another works in the caller's thread. A member depends on its seed alone: its bits are always the same.

import type { Engine, TableValues } from '../../engine/engine.js';
import { meanBytes, tableBytes, valueBytes } from '../../engine/table-memory.js';
import { freeMemory } from '../../parallel/spawn.js';
import type { TaskOptions } from '../../progress.js';
import { percent } from '../../text/numbers.js';
import type { LoopState, RankingState } from '../ascent/loop.js';
import type { RankerMember } from '../model.js';
import {
  expectedSweeps,
  type MemberState,
  memberOf,
  type RankingGraph,
  sweepMember,
  sweepProgress,
} from './member.js';
import type { RankingSettings } from './settings.js';

/** Four concurrent members are fastest on many threads, two on a GPU (docs/appendix/performance.md). */
const MOST_CONCURRENT = { threads: 4, gpu: 2 };
/** Each further concurrent member pays if there are this many threads for it. */
const THREADS_EACH = 4;
/** The share of free memory for members beyond the first. On a GPU and in a browser free memory is unknown: UNKNOWN_ROOM. */
const SHARE = 0.5;
const UNKNOWN_ROOM = 2 ** 30;

/** How many concurrent members fit in memory and still help. */
export function concurrentMembers(
  engine: Engine,
  graph: RankingGraph,
  settings: RankingSettings,
  free: number | undefined = freeMemory(),
): number {
  if (!engine.sibling) return 1;
  const room = engine.name === 'gpu' || free === undefined ? UNKNOWN_ROOM : SHARE * free;
  const more = Math.floor(room / memberBytes(graph, settings, engine.name === 'gpu'));
  return Math.max(1, Math.min(settings.average, useful(engine), 1 + more));
}

function useful({ name, threads }: Engine): number {
  if (name === 'gpu') return MOST_CONCURRENT.gpu;
  // The caller's thread would act as a second one.
  if (threads === 1) return 1;
  return Math.min(MOST_CONCURRENT.threads, Math.max(2, Math.ceil(threads / THREADS_EACH)));
}

/**
 * Bytes of a member in addition to the graph: the users' edges without each fold, the items' edges, and the tables.
 * The last term is the larger of the items' starting values (float64) and the means that are read at the end.
 */
function memberBytes(
  { users, items, edges, multigraph }: RankingGraph,
  { features: K, folds }: Pick<RankingSettings, 'features' | 'folds'>,
  onGpu: boolean,
): number {
  const indexes = 4 * folds * (edges * (multigraph ? 2 : 1) + users.count) + 4 * items.count;
  const tables =
    tableBytes(items.count, K) + (onGpu ? tableBytes(users.count, K) : meanBytes(users.count, K));
  const outside = Math.max(2 * valueBytes(items.count, K), meanBytes(users.count + items.count, K));
  return indexes + tables + outside;
}

export type MembersSnapshot = ReturnType<typeof snapshotOf>;

export interface MembersTask extends Pick<TaskOptions, 'signal' | 'onProgress'> {
  readonly graph: RankingGraph;
  readonly settings: RankingSettings;
  /** Finished members by number. `fitMembers` adds to them, so that they survive an engine that fails. */
  readonly done: Map<number, RankerMember>;
  /** Saved states of members under way, by number. */
  readonly saved: ReadonlyMap<number, RankingState>;
  /** Starting items of a member without a saved state; undefined if there is no previous model. */
  previousItems(run: number): TableValues | undefined;
  /** True if a snapshot of all members is due; `onSnapshot` receives it and is awaited. */
  isDue(): boolean;
  onSnapshot(snapshot: MembersSnapshot): Promise<void>;
}

/** Fits the unfinished members, `concurrent` of them in parallel. Members still under way at the end were stopped by the signal. */
export async function fitMembers(
  engine: Engine,
  concurrent: number,
  task: MembersTask,
): Promise<MembersSnapshot> {
  const { graph, settings, done, signal } = task;
  const runs = Array.from({ length: settings.average }, (_, run) => run).filter((run) => !done.has(run));
  const stopped = new Map<number, MemberState>();
  const report = progressOf(task, concurrent > 1 && runs.length > 1);
  const snapshots = createSnapshots(task);
  let failed = false;
  const isStopped = () => failed || (signal?.aborted ?? false);
  const one = async (own: Engine, run: number): Promise<void> => {
    snapshots.begin(run);
    const saved = task.saved.get(run);
    const beginning = saved ? { saved } : { items: task.previousItems(run) };
    const end = await sweepMember(own, graph, settings, run, beginning, {
      isStopped: async () => isStopped(),
      onSweep: (state, change) => report(run, state, change),
      afterSweep: (snapshot) =>
        snapshots.offer(run, async () => memberOf(own, graph, settings, run, await snapshot())),
      // If another member has failed, nobody needs this one.
      isWanted: () => !failed,
    });
    if (!end.now) return;
    // A stop waits for the fold-in of the users, so that it leaves a complete model.
    const last = await memberOf(own, graph, settings, run, end.now, end.stopped === 'converged');
    if (end.stopped === 'aborted') stopped.set(run, last);
    else {
      done.set(run, last.member);
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
  const siblings: Engine[] = [];
  const openSibling = async () => {
    if (!engine.sibling) return engine;
    try {
      const another = await engine.sibling();
      siblings.push(another);
      return another;
    } catch {
      // No memory or address space for another engine: the first continues alone.
      return undefined;
    }
  };
  try {
    const lanes = Math.max(1, Math.min(concurrent, runs.length));
    // Waits for all lanes, even if one fails, so that none continues in the background.
    const ended = await Promise.allSettled(
      Array.from({ length: lanes }, (_, at) => lane(at === 0 ? async () => engine : openSibling)),
    );
    for (const { reason } of ended.filter((one) => one.status === 'rejected')) throw reason;
  } finally {
    for (const another of siblings) await another.close();
  }
  // After a stop no member starts, except to give the checkpoint a state: each saved member, and at least one member.
  for (const run of runs) {
    if (done.has(run) || stopped.has(run)) continue;
    if (task.saved.has(run) || stopped.size === 0) await one(engine, run);
  }
  return snapshotOf(done, stopped);
}

/** All members, finished or under way, in the order of their seeds; and the states of those under way. */
function snapshotOf(done: ReadonlyMap<number, RankerMember>, underWay: ReadonlyMap<number, MemberState>) {
  const inOrder = <T>(map: ReadonlyMap<number, T>) => [...map].sort(([a], [b]) => a - b);
  const going = inOrder(underWay).filter(([run]) => !done.has(run));
  const all = new Map([...going.map(([run, { member }]) => [run, member] as const), ...done]);
  return {
    members: inOrder(all).map(([, member]) => member),
    done: inOrder(done).map(([, member]) => member),
    underWay: going.map(([, { state, items, foldMass }]): RankingState => ({ state, items, foldMass })),
  };
}

/** Collects snapshots: when one is due, each member under way copies its state after its current sweep, and continues. */
function createSnapshots({ done, saved, isDue, onSnapshot }: MembersTask) {
  const underWay = new Set<number>();
  let taken = new Map<number, MemberState>();
  /** Members whose copies are still missing; undefined if no snapshot is being taken. */
  let wanted: Set<number> | undefined;
  let delivering = false;

  async function deliver(): Promise<void> {
    if (wanted?.size !== 0 || taken.size === 0) return;
    const snapshot = snapshotOf(done, taken);
    wanted = undefined;
    taken = new Map();
    if (snapshot.underWay.length === 0) return;
    delivering = true;
    try {
      await onSnapshot(snapshot);
    } finally {
      delivering = false;
    }
  }

  return {
    begin(run: number): void {
      underWay.add(run);
    },
    async offer(run: number, snapshot: () => Promise<MemberState>): Promise<void> {
      // A snapshot before all saved members have resumed would lose some of them.
      const complete = [...saved.keys()].every((one) => underWay.has(one) || done.has(one));
      if (!wanted && !delivering && complete && isDue()) wanted = new Set(underWay);
      if (!wanted?.has(run)) return;
      const state = await snapshot();
      taken.set(run, state);
      wanted?.delete(run);
      await deliver();
    },
    async end(run: number): Promise<void> {
      underWay.delete(run);
      wanted?.delete(run);
      await deliver();
    },
  };
}

/** Reports progress: of the one member under way, or of all members together. */
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
      stage: `fitting ${average} members`,
      done: swept,
      total: average * iterations,
      expected:
        iterations * done.size +
        going.reduce((sum, { iteration }) => sum + expectedSweeps(iteration, iterations), 0) +
        Math.max(0, average - done.size - going.length) * expectedSweeps(0, iterations),
      unit: 'sweeps',
      note: `${done.size} of ${average} done, change ${percent(largest)}`,
    });
  };
}
