// A ranking fit over shards: the sweeps of fit/ranking on a sharded engine. Items are whole on every rank. Users are
// rebuilt from the items in every sweep, so only items are kept; at the end each shard folds in its own users.

import { anyRank, type Communicator } from '../comm/communicator.js';
import { type Engine, singlePrecision, type TableValues } from '../engine/engine.js';
import { ranOn } from '../engine/select.js';
import { createExchange } from '../engine/sharded/exchange.js';
import { createShardedEngine } from '../engine/sharded/sharded-engine.js';
import { edgesWithin, partOf } from '../engine/sharded/tables.js';
import type { FitOrigin, RankingState } from '../fit/ascent/loop.js';
import { RANKING_STEPS } from '../fit/fold-in/fold-in.js';
import { foldMeans } from '../fit/fold-in/member-fold.js';
import { NOBODY } from '../fit/fold-in/user-tables.js';
import { columnSums, type Ranker, type RankerMember } from '../fit/model.js';
import { type RankingFitOptions, recordedOptions } from '../fit/options.js';
import { rankerMember, sweepMember, sweepProgress } from '../fit/ranking/member.js';
import { countEdges } from '../fit/ranking/recency.js';
import { type RankingSettings, rankingSettings } from '../fit/ranking/settings.js';
import type { CrossFitData } from '../fit/ranking/sweep.js';
import { VERSION } from '../version.js';
import { type FinishedMember, loadRankingState, saveRankingState } from './fit-state.js';
import {
  checkedOptions,
  checkpointer,
  type FittedShards,
  hashOfAllRanks,
  itemVertices,
  onAgreedEngine,
  type PartitionFitTask,
  partitionFacts,
} from './fitted-shards.js';
import { shardsOfRank } from './gather-shards.js';
import type { PartitionedData } from './partition-folder.js';
import { type RankRows, readRankRows } from './rank-shards.js';

export interface ShardedRankingOptions
  extends PartitionFitTask,
    Omit<RankingFitOptions, 'method' | 'resume' | 'onCheckpoint' | 'checkpointMinutes' | 'from'> {}

/** Fits a ranker. Every rank calls it with the same options. */
export async function fitRankingShards(
  partition: PartitionedData,
  communicator: Communicator,
  given: ShardedRankingOptions = {},
): Promise<FittedShards> {
  const started = performance.now();
  const { checkpoint: _, resumeFolder, onCheckpointError: __, ...asked } = given;
  const saved = resumeFolder === undefined ? undefined : await loadRankingState(resumeFolder, partition);
  const options = checkedOptions(partition, 'ranking', asked, saved);
  // A blend needs all users' items in one place.
  const settings = rankingSettings(partitionFacts(partition), { ...options, blend: false });
  const { signal, threads } = options;
  const range = shardsOfRank(partition.shards.length, communicator);
  const read = await readRankRows(partition, range);
  const rows = partition.multigraph ? read : countEdges(read);
  const work = { edges: rows.users.neighbors.length * settings.folds, threads };
  return onAgreedEngine(partition, communicator, settings, saved, work, async (local, engineReason) => {
    const engine = createShardedEngine(local, communicator, () => ({
      ...{ shards: partition.shards.length, first: range.first, bounds: rows.bounds },
    }));
    const { features, blend } = settings;
    const origin: FitOrigin = {
      options: { ...recordedOptions('ranking', options), features, blend },
      fingerprint: partition.fingerprint,
    };
    const data: CrossFitData = {
      users: rows.users,
      items: { count: partition.items, ids: partition.itemIds, ...rows.items },
      edges: partition.edges,
      total: partition.total,
      everywhere: { users: partition.users, itemTotal: partition.itemTotal },
    };
    const done: FinishedMember[] = [...(saved?.done ?? [])];
    const saving = checkpointer(communicator, given, async (folder, now: () => Promise<RankingState>) => {
      if (communicator.rank === 0) await saveRankingState(folder, { origin, done, ...(await now()) });
    });
    while (done.length < settings.average) {
      const run = done.length;
      const from = run === saved?.done.length ? saved : undefined;
      const { stopped, now } = await sweepMember(
        engine,
        data,
        settings,
        run,
        { saved: from },
        {
          onSweep: (state, change) => options.onProgress?.(sweepProgress(settings, run, state, change)),
          isStopped: () => anyRank(communicator, signal?.aborted ?? false),
          afterSweep: async (snapshot) => saving.afterSweep?.(snapshot),
        },
      );
      if (stopped === 'aborted') return saving.stop(async () => now!, signal);
      done.push({ items: now!.items, iterations: now!.state.iteration, converged: stopped === 'converged' });
    }
    const members: RankerMember[] = [];
    const means: Float32Array[][] = [];
    for (const [run, member] of done.entries()) {
      const users = await foldUsers(local, partition, rows, settings, member.items);
      means.push(users);
      members.push(await memberOf(partition, communicator, settings, run, member, users));
    }
    const ran = ranOn(engine, engineReason, started);
    const converged = done.every((member) => member.converged);
    const itemsModel: Ranker = Object.freeze({
      ...{ type: 'ranker', method: 'ranking', multigraph: partition.multigraph },
      ...(partition.names && { names: partition.names }),
      users: NOBODY,
      items: itemVertices(partition),
      scores: Object.freeze({ kind: 'factors', members: Object.freeze(members) }),
      provenance: Object.freeze({
        ...{ version: VERSION, seed: settings.seed, ...origin },
        ...{ iterations: members[0].iterations, converged },
      }),
    });
    const tablesOf = async (s: number) => means.map((ofMember) => ofMember[s]);
    return {
      ...{ ...ran, itemsModel, tablesOf, streamedShards: 0 },
      stopped: converged ? 'converged' : 'iterations',
      stateHash: await hashOfAllRanks(partition, communicator, { itemsModel, tablesOf }, rows),
      close: async () => {},
    };
  });
}

/** The users of each shard from all of their items, as a fit of the data in one piece makes them. */
async function foldUsers(
  local: Engine,
  partition: PartitionedData,
  { users, bounds }: RankRows,
  { features, hyper }: RankingSettings,
  items: TableValues,
): Promise<Float32Array[]> {
  const unseenMass = new Float64Array(features);
  const fixed = { count: partition.items, ...singlePrecision(items), unseenMass };
  const base = { features, multigraph: true, prior: hyper.users, fixed };
  const result: Float32Array[] = [];
  for (let s = 0; s + 1 < bounds.length; s++) {
    const count = bounds[s + 1] - bounds[s];
    const rows = { count, ...edgesWithin(users, partOf(bounds, s)) };
    result.push(count === 0 ? new Float32Array(0) : await foldMeans(local, base, rows, RANKING_STEPS));
  }
  return result;
}

async function memberOf(
  partition: PartitionedData,
  communicator: Communicator,
  settings: RankingSettings,
  run: number,
  { items, iterations, converged }: FinishedMember,
  users: readonly Float32Array[],
): Promise<RankerMember> {
  const { features } = settings;
  const { length: shards } = partition.shards;
  const { first } = shardsOfRank(shards, communicator);
  const userMass = await createExchange(communicator).sumShards({ shards, first }, features, async () =>
    users.map((means) => columnSums(means, features)),
  );
  const table = { count: partition.items, ...singlePrecision(items) };
  const weighed = partition.multigraph ? undefined : true;
  return rankerMember(settings, run, table, { users: undefined, userMass, weighed }, iterations, converged);
}
